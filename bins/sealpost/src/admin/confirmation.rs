//! Asks before operator commands that destroy data. On a terminal, the operator types the verb of the command. Scripts
//! give `--yes`.

use std::io::{self, IsTerminal as _, Write as _};

use crate::{
    cli::{AccountCommand, AdminKekCommand, KeyCommand, LogCommand, Noun},
    command_error::CommandError,
};

/// A command that destroys data.
struct Destruction {
    /// The word that the operator types to confirm the command, such as `close`.
    verb: &'static str,
    subject: String,
    /// The effects of the command, and the data that stays.
    loss: &'static str,
    is_confirmed: bool,
}

/// Asks the operator to confirm a command that destroys data. Fails if the operator types another word, or if there is
/// neither a terminal nor `--yes`.
pub(super) fn confirm(noun: &Noun) -> Result<(), CommandError> {
    let Some(Destruction { verb, subject, loss, is_confirmed }) = destruction(noun) else {
        return Ok(());
    };
    if is_confirmed {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(CommandError::usage(format!(
            "nothing was changed: {verb} cannot be undone, and there is no terminal for a question; add --yes to confirm"
        )));
    }
    let question =
        format!("{verb} {subject}: {loss}\nThis cannot be undone. Type {verb} to go on: ");
    io::stderr().write_all(question.as_bytes()).map_err(CommandError::output)?;
    let mut typed = String::new();
    let read = io::stdin().read_line(&mut typed);
    read.map_err(|error| CommandError::caused("cannot read the answer from the terminal", error))?;
    if typed.trim() == verb {
        return Ok(());
    }
    Err(CommandError::new(format!("nothing was changed: the answer was not {verb}")))
}

fn destruction(noun: &Noun) -> Option<Destruction> {
    let (verb, subject, loss, confirmation) = match noun {
        Noun::Account(AccountCommand::Close { account_id, confirmation }) => {
            ("close", account_id.to_string(), CLOSING, confirmation)
        }
        Noun::Account(AccountCommand::Erase { account_id, confirmation }) => {
            ("erase", account_id.to_string(), ERASURE, confirmation)
        }
        Noun::Kek(AdminKekCommand::Retire { version, confirmation }) => {
            ("retire", format!("version {version}"), RETIREMENT, confirmation)
        }
        Noun::Key(KeyCommand::Revoke { key, confirmation }) => {
            ("revoke", key.api_key_id.to_string(), REVOCATION, confirmation)
        }
        Noun::Log(LogCommand::Restart(confirmation)) => {
            ("restart", "the transparency log".to_owned(), RESTART, confirmation)
        }
        _ => return None,
    };
    Some(Destruction { verb, subject, loss, is_confirmed: confirmation.yes })
}

const REVOCATION: &str = "\
the key never works again, its webhooks and their pending deliveries are deleted, and envelopes to it can never be \
opened again";
const RESTART: &str = "\
verifiers of the old log need the key of the new one, and earlier envelopes get no more proofs";
const CLOSING: &str = "\
all keys of the account are revoked, its webhooks, sessions and API tokens are deleted, and envelopes to its keys can \
never be opened again; labels, handles and activity stay";
const ERASURE: &str = "\
all keys of the account are revoked, its webhooks, sessions and API tokens are deleted, envelopes to its keys can never \
be opened again, and labels, handles and activity are erased";
const RETIREMENT: &str = "\
no server loads this version of the key-encryption key again; backups from before the rotation still need its line";
