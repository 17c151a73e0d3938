//! The operators' commands.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, builder::NonEmptyStringValueParser};
use sealpost_domain::{AccountId, ApiKeyId, GovernanceSubject, PartnerId};

use super::{AssessArgs, AttestArgs, BadgeCommand, DatabaseArgs};

/// What an operator wants, and on which database.
#[derive(Args)]
#[command(mut_args = |argument| argument.global(true).help_heading("Everywhere"))]
pub(crate) struct AdminArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) noun: Noun,
}

/// What it is about.
#[derive(Subcommand)]
pub(crate) enum Noun {
    /// Writes down what was measured of an API key; its next badge is judged by it
    Assess(AssessArgs),
    /// Writes down that an API key passed or failed a check
    Attest(AttestArgs),
    /// The trail of every privileged act
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Badges that were issued
    #[command(subcommand)]
    Badge(BadgeCommand),
    /// Council actions on a key or an account
    #[command(subcommand)]
    Governance(GovernanceCommand),
    /// The service's own keys, by which it signs notices and credentials
    #[command(subcommand)]
    Issuer(IssuerCommand),
    /// Key-encryption keys
    #[command(subcommand)]
    Kek(KekCommand),
    /// States of an API key
    #[command(subcommand)]
    Key(KeyCommand),
    /// Partners, to which accounts may belong
    #[command(subcommand)]
    Partner(PartnerCommand),
    /// Plans of API keys
    #[command(subcommand)]
    Plan(PlanCommand),
}

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Shows the newest entries, or those after a number; in the order in which they were written
    List {
        /// The first entries with a higher number, in place of the newest: from 0 on, page by page
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// How many at the most
        #[arg(long, default_value_t = 100, value_name = "N",
              value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Checks that nobody changed, dropped or inserted an entry; fails where somebody did
    ///
    /// That the newest entries are missing shows only against a copy of the newest hash, kept elsewhere.
    Verify,
}

#[derive(Subcommand)]
pub(crate) enum GovernanceCommand {
    /// Blocks the key, or each key of the account
    Enforce(Verdict),
    /// Ends a council action
    Lift(Verdict),
    /// Announces a council action, which does not block yet
    Propose(Verdict),
}

#[derive(Args)]
pub(crate) struct Verdict {
    /// An API key (ak_...) or an account (acct_...)
    #[arg(value_name = "AK|ACCT", value_parser = subject)]
    pub(crate) subject: GovernanceSubject,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

#[derive(Args)]
pub(crate) struct Reason {
    /// Why; callers see it in their status
    #[arg(id = "reason", long = "reason", value_name = "TEXT",
          value_parser = NonEmptyStringValueParser::new())]
    pub(crate) text: String,
}

#[derive(Subcommand)]
pub(crate) enum IssuerCommand {
    /// Shows every key, in the order in which they sign
    List,
    /// Adds a key, which servers publish at once and sign with 10 s later; older ones stay published
    Rotate {
        /// File of key-encryption keys; `DATA_DIR/kek` when embedded
        #[arg(long, env = "SEALPOST_KEK_FILE", value_name = "FILE")]
        kek_file: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
pub(crate) enum KekCommand {
    /// Adds a new, highest version to the key file and re-encrypts everything under it, while servers run
    ///
    /// Servers read the key file again when it changes. Where they do not share it, add the line of `sealpost kek
    /// new --version N` to each of their files first: this command then goes on with that version. One that was
    /// interrupted can be run again.
    Rotate {
        /// File of key-encryption keys; `DATA_DIR/kek` when embedded
        #[arg(long, env = "SEALPOST_KEK_FILE", value_name = "FILE")]
        kek_file: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// Disables a key until it is reactivated
    Deactivate(Named),
    /// Enables a key that was deactivated
    Reactivate(Named),
    /// Ends a key for good, with its webhooks and their pending deliveries
    Revoke(Named),
    /// Gives a key a new sealing key; its DID stays, and old envelopes stay readable
    Rotate(Named),
    /// Shows a key
    Show(Named),
}

#[derive(Args)]
pub(crate) struct Named {
    /// The API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
}

#[derive(Subcommand)]
pub(crate) enum PartnerCommand {
    /// Makes an account belong to a partner
    Assign {
        /// The account (acct_...)
        #[arg(value_name = "ACCT")]
        account_id: AccountId,
        /// The partner's name: letters, digits, `.`, `-` and `_`; its case matters
        #[arg(value_name = "PARTNER", value_parser = PartnerId::parse)]
        partner: PartnerId,
    },
    /// Ends the suspension of a partner
    Restore(Partner),
    /// Blocks each key of the partner's accounts
    Suspend(Partner),
}

#[derive(Args)]
pub(crate) struct Partner {
    /// The partner's name: letters, digits, `.`, `-` and `_`; its case matters
    #[arg(value_name = "PARTNER", value_parser = PartnerId::parse)]
    pub(crate) partner: PartnerId,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

#[derive(Subcommand)]
pub(crate) enum PlanCommand {
    /// Puts a key on a plan; what it has used stays
    Set(PlanArgs),
}

#[derive(Args)]
pub(crate) struct PlanArgs {
    /// The API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
    /// The plan
    #[arg(value_enum, value_name = "PLAN")]
    pub(crate) plan: PlanName,
    /// Requests a minute; for enterprise alone, like the other numbers. One that is not given stays what the key has
    /// now, under whatever plan
    #[arg(long, value_name = "N")]
    pub(crate) per_minute: Option<u32>,
    /// Requests a day
    #[arg(long, value_name = "N")]
    pub(crate) per_day: Option<u32>,
    /// Messages a month
    #[arg(long, value_name = "N")]
    pub(crate) per_month: Option<u32>,
    /// Messages a second
    #[arg(long, value_name = "N")]
    pub(crate) per_second: Option<u32>,
    /// Admit and record messages past the monthly allowance; off unless given, also where it was on
    #[arg(long)]
    pub(crate) allow_overage: bool,
}

/// The plans by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanName {
    Builder,
    Enterprise,
    Explorer,
    Sovereign,
}

fn subject(text: &str) -> Result<GovernanceSubject, String> {
    let key = || text.parse::<ApiKeyId>().map(GovernanceSubject::Key);
    let account = || text.parse::<AccountId>().map(GovernanceSubject::Account);
    key().or_else(|_no_key| account()).map_err(|_neither| {
        "give an API key (ak_...) or an account (acct_...); for a partner use admin partner".into()
    })
}
