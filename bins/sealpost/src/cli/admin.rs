//! The arguments of `sealpost admin`, the operator commands.

use std::path::PathBuf;

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use sealpost_domain::{AccountId, ApiKeyId, GovernanceSubject, PartnerId, Plan};
use sealpost_node::settings::{NameError, ProviderName};

use super::{
    badge::{AssessArgs, AttestArgs, BadgeCommand, given_reason},
    confirmation::Confirmation,
    lists::{AccountCommand, KeyListArgs, SessionCommand, TokenCommand, WebhookCommand},
    sign_up::{HandleCommand, InviteCommand},
};
use crate::settings::{DatabaseArgs, KekArgs};

/// The arguments of `sealpost admin`: the database, the output format and the operator command.
#[derive(Args)]
#[command(mut_args = |argument| argument.global(true).help_heading("Global options"))]
pub(crate) struct AdminArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print one JSON object; lists, except `audit list`, print one object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) noun: Noun,
}

/// The objects that operator commands work on. The first word after `admin` names the object.
#[derive(Subcommand)]
pub(crate) enum Noun {
    /// List, show, close and erase accounts, and reset their secrets
    #[command(subcommand)]
    Account(AccountCommand),
    /// Record an assessment of an API key, on which its next badge is based
    Assess(AssessArgs),
    /// Record that an API key passed or failed a check
    Attest(AttestArgs),
    /// Show and verify the audit trail of operator commands
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Revoke badges
    #[command(subcommand)]
    Badge(BadgeCommand),
    /// Manage council actions, which block a key or an account
    #[command(subcommand)]
    Governance(GovernanceCommand),
    /// Assign and release handles, the readable names of API keys
    #[command(subcommand)]
    Handle(HandleCommand),
    /// Manage invites; each new account uses one if sign-up needs an invite
    #[command(subcommand)]
    Invite(InviteCommand),
    /// Manage the service's own keys, which sign events and credentials
    #[command(subcommand)]
    Issuer(IssuerCommand),
    /// Repair the revocation journal, which repeats revocations after a restore
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Rotate and move the key-encryption key, and retire old versions
    #[command(subcommand)]
    Kek(KekCommand),
    /// Show API keys and change their state
    #[command(subcommand)]
    Key(KeyCommand),
    /// Begin a new transparency log after a restore
    #[command(subcommand)]
    Log(LogCommand),
    /// Manage partners and their accounts
    #[command(subcommand)]
    Partner(PartnerCommand),
    /// Change the plans of API keys
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Revoke again after a restore: apply revocation journals, and end all sessions and API tokens
    ///
    /// Stop all servers first. Applies the journal of this database in the data folder, if the file exists. Give the
    /// journals of all other servers with `--journal`. The command can be repeated.
    Recover(RecoverArgs),
    /// End sessions
    #[command(subcommand)]
    Session(SessionCommand),
    /// Count accounts, keys, webhooks, envelopes and deliveries
    Stats,
    /// List and revoke API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// List and disable webhooks
    #[command(subcommand)]
    Webhook(WebhookCommand),
}

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the newest entries of the audit trail, oldest of them first
    List {
        /// Show the first entries with a number above N instead of the newest; 0 starts at the first entry
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// Largest number of entries, at most 10,000
        #[arg(long, default_value_t = 100, value_name = "N",
              value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Verify the hash chain; fails if an entry was changed, removed or inserted
    ///
    /// Compares the trail with the transparency log, which gets each entry of the trail within two seconds. Compares
    /// the log with the checkpoint in the data folder.
    Verify,
}

#[derive(Subcommand)]
pub(crate) enum GovernanceCommand {
    /// Block the key, or all keys of the account
    Enforce(Verdict),
    /// End a council action, so that it no longer blocks
    Lift(Verdict),
    /// Announce a council action, which does not block yet
    Propose(Verdict),
}

#[derive(Args)]
pub(crate) struct Verdict {
    /// API key (ak_...) or account (acct_...)
    #[arg(value_name = "AK|ACCT", value_parser = subject)]
    pub(crate) subject: GovernanceSubject,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

#[derive(Args)]
pub(crate) struct Reason {
    /// Reason that callers see in the status of their key
    #[arg(id = "reason", long = "reason", value_name = "TEXT", value_parser = given_reason)]
    pub(crate) text: String,
}

#[derive(Subcommand)]
pub(crate) enum IssuerCommand {
    /// Show all keys of the service, in the order in which they sign
    List,
    /// Add a key; servers publish it at once and sign with it after 10 s; older keys stay published
    Rotate(KekArgs),
}

#[derive(Subcommand)]
pub(crate) enum LogCommand {
    /// End the transparency log and begin one with another name
    ///
    /// Needed if the database was restored from a backup, so that it lacks entries of the signed log. Servers may run.
    /// They append everything about keys, badges and the audit trail to the new log, but nothing about envelopes.
    Restart(Confirmation),
}

#[derive(Subcommand)]
pub(crate) enum JournalCommand {
    /// Write all revocations that are in force into the journal, after its file was lost or replaced
    ///
    /// Servers may run. Keeps the entries of the file. Revoked API tokens are not written again, because the database
    /// has deleted them; `sealpost admin recover` ends all tokens after a restore.
    Complete(KekArgs),
}

#[derive(Subcommand)]
pub(crate) enum KekCommand {
    /// Authenticate accounts, sessions, API tokens and badges that an earlier version stored, after the upgrade
    ///
    /// Needed once, for a database of a version that did not authenticate its rows. Until then nobody can log in.
    /// Trusts all rows that are not authenticated: run it only if no other program could change the database before.
    AdoptRows(KekArgs),
    /// Copy the keys to another provider or into a key file, while servers run
    ///
    /// The keys stay the same, so no other row changes. Restart the servers with the new setting, one after the other,
    /// and then end the move with `--finish`. Until then both places have the keys.
    Move {
        /// New place of the keys: a provider, or `file`, which is the new file of --kek-file
        #[arg(long, value_name = "PROVIDER", value_parser = place)]
        to: KekPlace,
        /// End the move: delete the wrapped keys of all other providers
        #[arg(long)]
        finish: bool,
        #[command(flatten)]
        keks: KekArgs,
    },
    /// Retire an old version that encrypts no row, so that its line can be removed from the key files
    ///
    /// Refused with the number of rows that the version still encrypts. Servers keep the key in memory until they
    /// restart.
    Retire {
        /// Version of the key-encryption key to retire
        #[arg(value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
        version: u32,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Add a new version of the key and re-encrypt all rows under it, while servers run
    ///
    /// Servers reload the key file when it changes. If servers have separate files, first add the line of `sealpost kek
    /// new --version N` to each file: this command then continues with that version. An interrupted rotation can be
    /// repeated.
    Rotate(KekArgs),
}

/// The new place of the key-encryption keys.
#[derive(Debug, Clone)]
pub(crate) enum KekPlace {
    File,
    Provider(ProviderName),
}

fn place(text: &str) -> Result<KekPlace, NameError> {
    if text.eq_ignore_ascii_case("file") {
        return Ok(KekPlace::File);
    }
    text.parse().map(KekPlace::Provider)
}

#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// Disable a key until it is reactivated
    Deactivate(Named),
    /// List keys, newest first
    List(KeyListArgs),
    /// Enable a deactivated key
    Reactivate(Named),
    /// Revoke a key permanently, with its webhooks and their pending deliveries
    Revoke {
        #[command(flatten)]
        key: Named,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Replace the sealing key of an API key; the DID stays, and old envelopes can be opened
    Rotate(Named),
    /// Show a key with its usage, governance and webhooks
    Show(Named),
}

#[derive(Args)]
pub(crate) struct Named {
    /// API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
}

#[derive(Subcommand)]
pub(crate) enum PartnerCommand {
    /// Assign an account to a partner
    Assign {
        /// Account (acct_...)
        #[arg(value_name = "ACCT")]
        account_id: AccountId,
        /// Name of the partner: letters, digits, `.`, `-` and `_`, case-sensitive
        #[arg(value_name = "PARTNER", value_parser = PartnerId::parse)]
        partner: PartnerId,
    },
    /// End the suspension of a partner
    Restore(Partner),
    /// Block all keys of the partner's accounts
    Suspend(Partner),
}

#[derive(Args)]
pub(crate) struct Partner {
    /// Name of the partner: letters, digits, `.`, `-` and `_`, case-sensitive
    #[arg(value_name = "PARTNER", value_parser = PartnerId::parse)]
    pub(crate) partner: PartnerId,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

#[derive(Args)]
pub(crate) struct RecoverArgs {
    /// Further revocation journals to apply, such as those of other servers; repeatable
    #[arg(long = "journal", value_name = "FILE")]
    pub(crate) journal: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) keks: KekArgs,
}

#[derive(Subcommand)]
pub(crate) enum PlanCommand {
    /// Change the plan of a key; its usage stays
    Set(PlanArgs),
}

#[derive(Args)]
pub(crate) struct PlanArgs {
    /// API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
    /// New plan of the key
    #[arg(value_name = "PLAN", value_parser = PossibleValuesParser::new(Plan::NAMES))]
    pub(crate) plan: String,
    /// Limit of requests per minute. Only the plan enterprise accepts limits, and it needs all four
    #[arg(long, value_name = "N")]
    pub(crate) per_minute: Option<u32>,
    /// Limit of requests per day
    #[arg(long, value_name = "N")]
    pub(crate) per_day: Option<u32>,
    /// Limit of messages per month
    #[arg(long, value_name = "N")]
    pub(crate) per_month: Option<u32>,
    /// Limit of messages per second
    #[arg(long, value_name = "N")]
    pub(crate) per_second: Option<u32>,
    /// Keep the current value of each limit that is not given
    #[arg(long)]
    pub(crate) keep_limits: bool,
    /// Admit and record messages over the monthly allowance; if omitted, turns overage off
    #[arg(long)]
    pub(crate) allow_overage: bool,
}

fn subject(text: &str) -> Result<GovernanceSubject, String> {
    let key = || text.parse::<ApiKeyId>().map(GovernanceSubject::Key);
    let account = || text.parse::<AccountId>().map(GovernanceSubject::Account);
    key().or_else(|_no_key| account()).map_err(|_neither| {
        "give an API key (ak_...) or an account (acct_...); for a partner use admin partner".into()
    })
}
