//! Reads secrets and messages from standard input.

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::task::spawn_blocking;
use zeroize::Zeroizing;

use crate::error::ShellError;

/// Reads a secret of one line. On a terminal, first prints a prompt with `what`. Hides typed characters until the
/// future ends or is dropped.
pub(crate) async fn secret(what: &str) -> Result<Zeroizing<String>, ShellError> {
    if !io::stdin().is_terminal() {
        let text = on_another_thread(read_to_end).await?;
        return one_line(what, &text);
    }
    prompt(&format!("{what}: "))?;
    let hidden = HiddenInput::start().map_err(ShellError::Input)?;
    let line = on_another_thread(read_line).await;
    drop(hidden);
    one_line(what, &line?)
}

/// Makes the terminal hide typed characters until the value is dropped.
struct HiddenInput {
    /// The original settings of the terminal, which are restored on drop.
    shown: Termios,
}

impl HiddenInput {
    fn start() -> io::Result<Self> {
        let shown = tcgetattr(io::stdin())?;
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self { shown })
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // Ignores an error: the terminal may be closed, and then needs no settings.
        tcsetattr(io::stdin(), OptionalActions::Flush, &self.shown).ok();
        // Prints a line break, because the terminal has hidden the one that the user typed.
        prompt("\n").ok();
    }
}

/// Reads a message up to the end of standard input. One line break at the end is not part of the message.
pub(crate) fn message() -> Result<Zeroizing<String>, ShellError> {
    if io::stdin().is_terminal() {
        prompt("message, ended by Ctrl-D on a new line:\n")?;
    }
    let text = read_to_end()?;
    let message = text.strip_suffix('\n').unwrap_or(&text);
    if message.is_empty() {
        let advice = "the message is empty: pass it on standard input, such as echo Hello | sealpost send bob";
        return Err(ShellError::Invalid(advice.to_owned()));
    }
    Ok(Zeroizing::new(message.to_owned()))
}

fn one_line(what: &str, text: &str) -> Result<Zeroizing<String>, ShellError> {
    let line = text.trim();
    if line.is_empty() || line.contains(char::is_whitespace) {
        let advice = format!("standard input has no {what}: pass it as one line");
        return Err(ShellError::Invalid(advice));
    }
    Ok(Zeroizing::new(line.to_owned()))
}

/// Reads on a separate thread. The returned future can be dropped during the read, for example after a signal.
async fn on_another_thread(
    read: fn() -> Result<Zeroizing<String>, ShellError>,
) -> Result<Zeroizing<String>, ShellError> {
    spawn_blocking(read).await.map_err(|error| ShellError::Input(error.into()))?
}

fn read_line() -> Result<Zeroizing<String>, ShellError> {
    let mut line = Zeroizing::new(String::new());
    io::stdin().read_line(&mut line).map_err(ShellError::Input)?;
    Ok(line)
}

fn read_to_end() -> Result<Zeroizing<String>, ShellError> {
    let mut text = Zeroizing::new(String::new());
    let read = io::stdin().take(INPUT_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(ShellError::Input)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > INPUT_BYTES_MAX) {
        let advice = format!("standard input has more than {INPUT_BYTES_MAX} bytes: shorten it");
        return Err(ShellError::Invalid(advice));
    }
    Ok(text)
}

fn prompt(text: &str) -> Result<(), ShellError> {
    io::stderr().write_all(text.as_bytes()).map_err(ShellError::Output)
}

/// Maximum length of an input in bytes. Services accept only shorter messages, by default at most 256 KiB.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_word() {
        assert_eq!(one_line("login secret", " ls_a\n").unwrap().as_str(), "ls_a");
        for text in ["", "\n", "ls_a\nls_b\n"] {
            assert!(one_line("login secret", text).is_err(), "{text:?}");
        }
    }
}
