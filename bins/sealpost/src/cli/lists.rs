//! The operator commands on accounts, sessions, API tokens and webhooks, and the lists of keys.

use std::str::FromStr;

use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use sealpost_domain::{
    AccountId, ApiKeyId, ApiTokenId, Handle, KeyStatus, Label, Plan, WebhookId, ports::WebhookOwner,
};

use super::confirmation::Confirmation;
use crate::{command_error::CommandError, settings::KekArgs};

#[derive(Subcommand)]
pub(crate) enum AccountCommand {
    /// Close an account permanently: revoke its keys, and delete its webhooks and sessions
    ///
    /// Envelopes to its keys can never be opened again. Labels, handles and activity stay until the account is erased.
    /// Prints the deleted and the remaining data. Repeat the command after an interruption.
    Close {
        /// Account (acct_...)
        #[arg(value_name = "ACCT")]
        account_id: AccountId,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Close an account permanently and erase labels, handles, activity and addresses of its owner
    ///
    /// Also erases a closed account. Prints the deleted data, and the remaining data with the reasons. Repeat the
    /// command after an interruption.
    Erase {
        /// Account (acct_...)
        #[arg(value_name = "ACCT")]
        account_id: AccountId,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// List accounts, newest first
    List(PageArgs<AccountId>),
    /// Show an account with its newest 100 keys
    Show {
        /// Account (acct_...)
        #[arg(value_name = "ACCT")]
        account_id: AccountId,
    },
    /// End the login secret, the recovery code and all sessions of an account, and print a new recovery code
    ///
    /// The owner uses the new code once for `POST /v1/auth/recover`, which also ends the API tokens. The code is shown
    /// only here.
    ResetSecret {
        /// Account (acct_...)
        #[arg(value_name = "ACCT")]
        account_id: AccountId,
        #[command(flatten)]
        keks: KekArgs,
    },
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// List the API tokens of an account that have not expired, oldest first
    List {
        /// Account (acct_...)
        #[arg(value_name = "ACCT")]
        account_id: AccountId,
    },
    /// Revoke an API token on all servers
    Revoke {
        /// API token (tok_...)
        #[arg(value_name = "TOK")]
        token_id: ApiTokenId,
    },
}

#[derive(Subcommand)]
pub(crate) enum SessionCommand {
    /// End the sessions of an account, or of all accounts; login secrets stay valid
    End {
        /// Account (acct_...)
        #[arg(value_name = "ACCT", required_unless_present = "all", conflicts_with = "all")]
        account_id: Option<AccountId>,
        /// End the sessions of all accounts
        #[arg(long)]
        all: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum WebhookCommand {
    /// Disable a webhook; its deliveries wait until the owner enables it again
    Disable {
        /// Webhook to disable (wh_...)
        #[arg(value_name = "WEBHOOK")]
        webhook_id: WebhookId,
    },
    /// List the webhooks of an account or of a key, newest first
    List {
        #[command(flatten)]
        owner: OwnerArgs,
        #[command(flatten)]
        page: PageArgs<WebhookId>,
    },
}

/// The account or the key whose webhooks are listed. clap requires exactly one of the two options.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct OwnerArgs {
    /// Webhooks of all keys of this account
    #[arg(long, value_name = "ACCT")]
    account: Option<AccountId>,
    /// Webhooks of this key
    #[arg(long, value_name = "AK")]
    key: Option<ApiKeyId>,
}

impl OwnerArgs {
    /// Returns the selected account or key. Fails if neither was given. In practice clap rejects such arguments first.
    pub(crate) fn owner(&self) -> Result<WebhookOwner, CommandError> {
        match (self.account, self.key) {
            (Some(account), _) => Ok(WebhookOwner::Account(account)),
            (None, Some(key)) => Ok(WebhookOwner::Key(key)),
            (None, None) => {
                Err(CommandError::usage("give the owner with --account ACCT or --key AK"))
            }
        }
    }
}

/// Selects one page of a list by cursor and length.
#[derive(Args)]
pub(crate) struct PageArgs<Id>
where
    Id: FromStr<Err: std::error::Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    /// Id of the last entry of the previous page; shows the entries after it
    #[arg(long, value_name = "ID")]
    pub(crate) cursor: Option<Id>,
    /// Largest number of entries, at most 10,000
    #[arg(long, default_value_t = 100, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
}

/// The filters of the list of API keys, and the selected page.
#[derive(Args)]
pub(crate) struct KeyListArgs {
    /// Keys of this account
    #[arg(long, value_name = "ACCT")]
    pub(crate) account: Option<AccountId>,
    /// Keys that display this handle, including revoked keys; the `@` is optional
    #[arg(long, value_name = "HANDLE", value_parser = handle)]
    pub(crate) handle: Option<Handle>,
    /// Keys with exactly this label
    #[arg(long, value_name = "LABEL", value_parser = Label::parse)]
    pub(crate) label: Option<Label>,
    /// Keys in this state
    #[arg(long, value_name = "STATUS", value_parser = PossibleValuesParser::new(STATES.map(KeyStatus::as_str))
          .try_map(|name| KeyStatus::from_name(&name).ok_or("unknown state")))]
    pub(crate) status: Option<KeyStatus>,
    /// Keys on this plan
    #[arg(long, value_name = "PLAN", value_parser = PossibleValuesParser::new(Plan::NAMES))]
    pub(crate) plan: Option<String>,
    #[command(flatten)]
    pub(crate) page: PageArgs<ApiKeyId>,
}

/// Parses a handle with or without `@`.
pub(super) fn handle(text: &str) -> Result<Handle, String> {
    let name = text.strip_prefix('@').unwrap_or(text);
    Handle::parse(name).map_err(|fault| format!("a handle {fault}"))
}

const STATES: [KeyStatus; 4] =
    [KeyStatus::Active, KeyStatus::Deactivated, KeyStatus::Revoked, KeyStatus::Rotating];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_accepted_with_and_without_at() {
        assert_eq!(handle("@bob"), handle("bob"));
        assert!(handle("bob").is_ok() && handle("@@bob").is_err());
    }
}
