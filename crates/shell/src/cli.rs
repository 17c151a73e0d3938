//! The arguments of the commands.

mod mcp;
mod webhooks;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sealpost_client::{
    AccountId, ApiKeyId, ApiTokenId, EnvelopeId, IdempotencyKey, Timestamp, TokenScope,
};

pub(crate) use self::{
    mcp::McpArgs,
    webhooks::{
        ChangeArgs, RecoverArgs, RedeliverArgs, RegisterArgs, RotateSecretArgs, UpdateArgs,
        WebhookArgs, WebhooksCommand,
    },
};
use crate::profile::profile_name;

/// The commands that call a service.
#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Prove what happened to an envelope that the API key sent or received
    ///
    /// Prints a file for `verify-proof`, with the proofs of the transparency log. Takes up to six seconds.
    Evidence(EnvelopeArgs),
    /// Show the API key of the profile, look up other keys, or activate a further key
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Store a service and an identity as a profile, for send, open, keys and webhooks
    ///
    /// Reads the login secret of the account (`ls_…`), or an API token (`kt_…`), from standard input. On a terminal it
    /// asks for the secret. With --new, activates a new identity instead. With --recover, replaces a lost login secret.
    /// The profile is a file in the folder `sealpost` of the user's configuration folder. Only the user can read it.
    Login(LoginArgs),
    /// Serve the tools of an agent, by the Model Context Protocol
    ///
    /// Serves the program that started this command, on standard input and output. With --listen, serves Streamable
    /// HTTP at /mcp. The agent acts as the identity of the profile. No result contains a secret, and no tool revokes or
    /// deletes anything.
    Mcp(McpArgs),
    /// Open an envelope and print its message
    Open(EnvelopeArgs),
    /// List the envelopes that the API key sent, with their states
    Sent(SentArgs),
    /// Send a message, which is read from standard input
    ///
    /// One line break at the end is not part of the message. Prints the id of the envelope.
    Send(SendArgs),
    /// Manage the API tokens of the account; needs a profile with a login secret
    #[command(subcommand)]
    Tokens(TokensCommand),
    /// Check the API key in the transparency log, and that the log only grows
    ///
    /// Compares with the last check, whose proof is in the state file. Fails if the service shows another DID or status
    /// than the log, if the key has changed, or if the history of the log was rewritten. Run it regularly.
    Watch(WatchArgs),
    /// Manage the webhooks of the API key
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
}

/// The profile to use.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Name of the profile, for users of several identities
    #[arg(long, value_name = "NAME", env = "SEALPOST_PROFILE", default_value = "default", value_parser = profile_name)]
    pub profile: String,
}

/// The profile to use, and the format of the output.
#[derive(Debug, Args)]
pub struct CallArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The service and the identity of a profile.
#[derive(Debug, Args)]
pub struct LoginArgs {
    /// URL of the service
    #[arg(long)]
    pub(crate) url: String,
    /// Account of the login secret; not needed for an API token
    #[arg(long, value_name = "ACCT")]
    pub(crate) account: Option<AccountId>,
    /// API key to act as; needed with a login secret
    #[arg(long, value_name = "KEY")]
    pub(crate) api_key: Option<ApiKeyId>,
    /// Activate a new identity with this label, in a new account
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["account", "api_key"])]
    pub(crate) new: Option<String>,
    /// Read the recovery code of the account (`rc_…`) instead, and replace the login secret; prints the next code
    #[arg(long, requires_all = ["account", "api_key"], conflicts_with = "new")]
    pub(crate) recover: bool,
    /// Handle of the new identity
    #[arg(long, requires = "new")]
    pub(crate) handle: Option<String>,
    /// Read the secret of an invite (`inv_…`) from standard input, for a new identity
    #[arg(long, requires = "new")]
    pub(crate) invite: bool,
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// The recipient of a message.
#[derive(Debug, Args)]
pub struct SendArgs {
    /// API key or handle of the recipient
    #[arg(value_name = "TO")]
    pub(crate) to: String,
    /// Detects a message among the arguments, to refuse it with advice: other users of the machine can see the
    /// arguments
    #[arg(hide = true, value_name = "MESSAGE", value_parser = no_message)]
    pub(crate) message: Vec<String>,
    /// Name of the message: a send with the same name and message is stored once; if omitted, random
    #[arg(long, value_name = "TEXT", value_parser = IdempotencyKey::parse)]
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    /// Thread of the message; the service sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,
    /// Envelope that the message replies to
    #[arg(long, value_name = "ENVELOPE")]
    pub(crate) reply_to: Option<EnvelopeId>,
    /// Type of the message, such as text/plain; the service sees it
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) message_type: Option<String>,
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// The sent envelopes to list.
#[derive(Debug, Args)]
pub struct SentArgs {
    /// Only envelopes to this API key or handle
    #[arg(long, value_name = "TO")]
    pub(crate) recipient: Option<String>,
    /// Only envelopes of this thread
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,
    /// Only envelopes from this time on
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Timestamp>,
    /// Only envelopes before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Timestamp>,
    /// Largest number of envelopes
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// The envelope that a command works on.
#[derive(Debug, Args)]
pub struct EnvelopeArgs {
    /// Id of the envelope
    #[arg(value_name = "ENVELOPE")]
    pub(crate) envelope_id: EnvelopeId,
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// The trusted log, and the file of the last check.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// File with the trusted log and its witnesses, as for `verify-proof`
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: PathBuf,
    /// File with the proof of the last check; created by the first check
    #[arg(long, value_name = "FILE")]
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// Commands for identities.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Activate a further API key in the account of the profile
    Activate {
        /// Display name of the new identity
        label: String,
        /// Handle of the new identity
        #[arg(long)]
        handle: Option<String>,
        #[command(flatten)]
        call: CallArgs,
    },
    /// Show the identity behind an API key or a handle
    Find {
        /// API key or handle
        id: String,
        #[command(flatten)]
        call: CallArgs,
    },
    /// Show the status, the plan and the usage of the profile's API key
    Show {
        #[command(flatten)]
        call: CallArgs,
    },
}

/// Commands for API tokens.
#[derive(Debug, Subcommand)]
pub enum TokensCommand {
    /// Create an API token for the profile's API key, and print it
    Create {
        /// Name of the token
        name: String,
        /// Scope of the token; repeatable
        #[arg(long = "scope", value_name = "SCOPE", required = true, value_parser = token_scope)]
        scopes: Vec<TokenScope>,
        /// Lifetime of the token in days, 90 if omitted
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=366))]
        expires_in_days: Option<u32>,
        #[command(flatten)]
        call: CallArgs,
    },
    /// List the API tokens of the account
    List {
        #[command(flatten)]
        call: CallArgs,
    },
    /// Revoke an API token
    Revoke {
        /// Id of the token
        #[arg(value_name = "TOKEN_ID")]
        token_id: ApiTokenId,
        #[command(flatten)]
        call: CallArgs,
    },
}

fn no_message(_text: &str) -> Result<String, &'static str> {
    Err("the message is read from standard input, such as: echo Hello | sealpost send bob")
}

fn token_scope(name: &str) -> Result<TokenScope, String> {
    TokenScope::from_name(name).ok_or_else(|| {
        let known: Vec<_> = TokenScope::ALL.into_iter().map(TokenScope::as_str).collect();
        format!("give one of {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn an_invalid_profile_or_idempotency_key_is_wrong_usage() {
        let parse = |arguments: &[&str]| {
            let command = ServiceCommand::augment_subcommands(Command::new("sealpost"));
            let line = [&["sealpost", "send", "bob"][..], arguments].concat();
            command.try_get_matches_from(line)
        };
        parse(&["--profile", "work-1", "--idempotency-key", "order 7"]).unwrap();
        for arguments in [
            ["--idempotency-key", ""],
            ["--idempotency-key", "gr\u{fc}n"],
            ["--profile", ""],
            ["--profile", "../a"],
        ] {
            let refused = parse(&arguments).unwrap_err();
            assert_eq!(refused.exit_code(), 2, "{arguments:?}: {refused}");
        }
    }
}
