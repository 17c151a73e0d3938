//! The provider `exec`: a command that the operator supplies wraps and unwraps keys.
//!
//! The command gets `wrap` or `unwrap` as its last argument. It reads the key or the wrapped key in base64 from
//! standard input, and writes the result in base64 to standard output. Exit status 77 (`EX_NOPERM`) means that the use
//! of the key is refused. Any other failure is treated as temporary.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustix::process::{Pid, Signal, kill_process_group};
use sealpost_wallet::{KekProvider, ProviderError};
use zeroize::Zeroizing;

use crate::key_of;

/// A command that wraps and unwraps keys.
#[derive(Debug)]
pub(crate) struct Exec {
    words: Vec<String>,
    timeout: Duration,
}

impl Exec {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self { words, timeout: TIMEOUT }
    }

    fn run(&self, verb: &str, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let input = Zeroizing::new(STANDARD.encode(input));
        let (status, output) =
            self.call(verb, &input).map_err(|error| self.unreachable(&error.to_string()))?;
        match status.code() {
            Some(0) => {}
            Some(REFUSED) => {
                let reason = format!("the command {} ended with status {REFUSED}", self.program());
                return Err(ProviderError::Refused { reason });
            }
            Some(_) | None => return Err(self.unreachable(&format!("it ended with {status}"))),
        }
        STANDARD
            .decode(output.trim_ascii())
            .map(Zeroizing::new)
            .map_err(|_contains_output| self.unreachable("its output is not base64"))
    }

    /// Runs the command, and returns its exit status and its output. After an error or the timeout, kills all processes
    /// of the command.
    fn call(&self, verb: &str, input: &str) -> io::Result<(ExitStatus, Zeroizing<Vec<u8>>)> {
        let deadline = Instant::now() + self.timeout;
        let (program, arguments) =
            self.words.split_first().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut child = Command::new(program)
            .args(arguments)
            .arg(verb)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let result = match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => exchange(&mut child, stdin, stdout, input, deadline),
            (_, _) => Err(io::ErrorKind::BrokenPipe.into()),
        };
        if result.is_err() {
            end(&mut child);
        }
        result
    }

    fn unreachable(&self, problem: &str) -> ProviderError {
        let reason = format!("the command {} failed: {problem}", self.program());
        ProviderError::Unreachable { reason }
    }

    fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

impl KekProvider for Exec {
    fn describe(&self) -> String {
        format!("exec:{}", self.words.join(" "))
    }

    fn wrap(&self, key: &[u8; 32]) -> Result<Vec<u8>, ProviderError> {
        let wrapped = self.run("wrap", key)?.to_vec();
        if wrapped.is_empty() {
            return Err(self.unreachable("its output is empty"));
        }
        Ok(wrapped)
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
        let output = self.run("unwrap", wrapped)?;
        key_of(&output).ok_or_else(|| self.unreachable("its output is not the base64 of 32 bytes"))
    }
}

/// Writes the input, reads the output, and waits for the end of the command.
fn exchange(
    child: &mut Child,
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    input: &str,
    deadline: Instant,
) -> io::Result<(ExitStatus, Zeroizing<Vec<u8>>)> {
    // The input is shorter than the buffer of a pipe, so the write does not block. A broken pipe is no failure: the
    // command may have succeeded without reading its input.
    match stdin.write_all(input.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
        Ok(()) | Err(_) => drop(stdin),
    }
    let (sender, receiver) = channel();
    thread::Builder::new().name("kek-exec".to_owned()).spawn(move || {
        // Sending fails only if the call has timed out and dropped the receiver.
        drop(sender.send(read(stdout)));
    })?;
    let late = || io::Error::new(io::ErrorKind::TimedOut, "it did not end in time");
    let output = match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(output) => output?,
        Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return Err(late()),
    };
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, output));
        }
        if Instant::now() >= deadline {
            return Err(late());
        }
        thread::sleep(POLL_PERIOD);
    }
}

fn read(stdout: ChildStdout) -> io::Result<Zeroizing<Vec<u8>>> {
    // Allocates the final size at once, because a growing buffer would leave partial copies of a key in memory.
    let mut output = Zeroizing::new(Vec::with_capacity(OUTPUT_BYTES_MAX + 1));
    let limit = u64::try_from(OUTPUT_BYTES_MAX + 1).unwrap_or(u64::MAX);
    stdout.take(limit).read_to_end(&mut output)?;
    if output.len() > OUTPUT_BYTES_MAX {
        return Err(io::Error::other(format!("its output has more than {OUTPUT_BYTES_MAX} bytes")));
    }
    Ok(output)
}

/// Kills all processes of the command's group, and waits until the command has ended.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Killing fails only if the processes have already ended.
        kill_process_group(group, Signal::KILL).unwrap_or_default();
    }
    drop(child.wait());
}

/// Maximum time for one call of the command.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of the output of the command in bytes.
const OUTPUT_BYTES_MAX: usize = 16_384;
/// Time between two checks whether a command that has closed its output has also ended.
const POLL_PERIOD: Duration = Duration::from_millis(2);
/// Exit status of a command that refuses the use of the key: `EX_NOPERM` of sysexits.h.
const REFUSED: i32 = 77;

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    /// Returns a provider whose command is this shell script.
    fn script(body: &str) -> (tempfile::TempDir, Exec) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kek");
        fs::write(&path, body).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        // A shell runs the script. Executing the file directly would fail if a child process of another thread still
        // had the file open for writing.
        let words = vec!["/bin/sh".to_owned(), path.display().to_string()];
        (folder, Exec::new(words))
    }

    fn reason(error: &ProviderError) -> String {
        match error {
            ProviderError::Refused { reason } => format!("refused: {reason}"),
            ProviderError::Unreachable { reason } => format!("unreachable: {reason}"),
            ProviderError::Wallet(error) => error.to_string(),
        }
    }

    #[test]
    fn a_command_wraps_and_unwraps() {
        let (_folder, exec) = script("test \"$1\" = wrap || test \"$1\" = unwrap || exit 1\ncat\n");
        assert_eq!(exec.wrap(&[7; 32]).unwrap(), [7; 32]);
        assert_eq!(*exec.unwrap(&[7; 32]).unwrap(), [7; 32]);
        assert!(exec.check().is_ok());
    }

    #[test]
    fn a_command_that_swaps_keys_fails_the_check() {
        let (_folder, exec) = script("head -c 32 /dev/zero | base64\n");
        assert!(reason(&exec.check().unwrap_err()).contains("another key"));
    }

    #[test]
    fn a_status_of_77_is_a_refusal_and_others_are_not() {
        for (body, expected) in [
            ("exit 77", "refused: "),
            ("exit 1", "unreachable: "),
            ("kill -9 $$", "unreachable: "),
            ("echo '***'", "unreachable: "),
            ("echo c2hvcnQ=", "unreachable: "),
            ("head -c 20000 /dev/zero", "more than 16384 bytes"),
        ] {
            let (_folder, exec) = script(body);
            let error = reason(&exec.unwrap(&[1; 60]).unwrap_err());
            assert!(error.contains(expected), "{body}: {error}");
            assert!(!error.contains("short"), "{error}");
        }
        let missing = Exec::new(vec!["/no/such/command".to_owned()]);
        assert!(reason(&missing.wrap(&[1; 32]).unwrap_err()).starts_with("unreachable: "));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let (folder, exec) = script("sleep 600 &\necho $! >\"$0.child\"\nwait\n");
        let exec = Exec { timeout: Duration::from_millis(500), ..exec };
        assert!(reason(&exec.wrap(&[1; 32]).unwrap_err()).contains("did not end in time"));
        let child = fs::read_to_string(folder.path().join("kek.child")).unwrap();
        // The child may exist for a short time after the signal, until the kernel ends it.
        let deadline = Instant::now() + Duration::from_secs(20);
        let is_running = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", child.trim()));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while is_running() {
            assert!(Instant::now() < deadline, "it still runs");
            thread::yield_now();
        }
    }
}
