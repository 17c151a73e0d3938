//! The command line, parsed by clap. Each setting of a server can be given as a flag, such as `--data-dir`, or as an
//! environment variable, such as `SEALPOST_DATA_DIR`.

mod admin;
mod badge;
mod confirmation;
mod console;
mod examples;
mod lists;
mod receiver;
#[cfg(test)]
mod settings_page;
mod short_help;
mod sign_up;
pub(crate) mod usage;

use std::path::PathBuf;

use clap::{
    Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, builder::BoolishValueParser,
};
use clap_complete::Shell;
use sealpost_node::DatabaseUrl;
use sealpost_shell::ServiceCommand;

use crate::settings::{DatabaseArgs, KekArgs, ServeArgs};

pub(crate) use admin::{
    AdminArgs, AuditCommand, GovernanceCommand, IssuerCommand, JournalCommand,
    KekCommand as AdminKekCommand, KekPlace, KeyCommand, LogCommand, Noun, PartnerCommand,
    PlanArgs, PlanCommand,
};
pub(crate) use badge::{AssessArgs, AttestArgs, BadgeCommand};
pub(crate) use console::{ConsoleCommand, HashArgs};
pub(crate) use lists::{AccountCommand, KeyListArgs, SessionCommand, TokenCommand, WebhookCommand};
pub(crate) use receiver::{KeyArgs, ListenArgs, VerifyArgs, VerifyProofArgs, WitnessArgs};
pub(crate) use short_help::help_flag;
pub(crate) use sign_up::{HandleCommand, InviteCommand};

/// Returns the clap command, with examples in the help of each subcommand.
pub(crate) fn command() -> clap::Command {
    examples::with_examples(Cli::command())
}

/// Parses the arguments and environment variables of this process. The help lists only the most important settings,
/// unless `--help-all` is an argument.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let asks_for_all = std::env::args_os().any(|argument| argument == "--help-all");
    let command = if asks_for_all { command() } else { short_help::shorten(command()) };
    command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches))
}

/// Decentralised identity and sealed messaging
#[derive(Parser)]
#[command(name = "sealpost", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Manage keys, plans, governance and badges; every change is in the audit trail
    ///
    /// The commands work on the database, while servers run or not.
    Admin(Box<AdminArgs>),
    /// Copy the embedded database into a file, while a server runs or not
    ///
    /// The copy is complete and checked, and only its owner can read it. Opening its envelopes needs the key file: keep
    /// the key file in another place. For PostgreSQL use `pg_dump`.
    Backup(BackupArgs),
    /// Print the completion script of a shell
    Completions {
        /// Shell that the script is for
        shell: Shell,
    },
    /// Prepare the operators of the console
    #[command(subcommand)]
    Console(ConsoleCommand),
    /// Run all steps from activation to an opened message on a temporary database
    Demo,
    /// Check settings, data folder, database, keys, clock, certificate and addresses, with advice for each problem
    ///
    /// Accepts the settings of `serve`. Fails if a server could not run correctly. Changes nothing except the mode of
    /// the embedded database's file, which becomes 0600, and the disk reserve, which is deleted on a full disk.
    Doctor(Box<DoctorArgs>),
    /// Create key-encryption keys, which encrypt the secrets in the database
    #[command(subcommand)]
    Kek(KekCommand),
    /// Receive events on this machine, verify and print them, and forward them to an application
    Listen(Box<ListenArgs>),
    /// Print the manual page, or write the pages of all commands into a folder
    Man {
        /// Folder for the pages
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Migrate the database to this version
    Migrate(MigrateArgs),
    /// Move the embedded database into an empty PostgreSQL database
    ///
    /// No server may run on the embedded database. Copies everything in one transaction: identities, secrets, sessions,
    /// envelopes, pending deliveries and logs keep working. Compares number and checksum of the rows of each table
    /// before the commit. A move that fails or is killed leaves the target empty. The embedded database is only read.
    Move(MoveArgs),
    /// Replace the embedded database by a backup, and repeat later revocations
    ///
    /// No server may run. Checks the backup and its key-encryption keys before it replaces the database. Applies the
    /// revocation journal of the data folder, and ends all sessions and API tokens. The replaced database stays under
    /// another name. For PostgreSQL use `pg_restore` and `sealpost admin recover`.
    Restore(RestoreArgs),
    /// Serve the API and the pages
    Serve(Box<ServeArgs>),
    #[command(flatten)]
    Service(ServiceCommand),
    /// Verify one event from files
    ///
    /// Exit status 0: the event is valid; 1: the event is invalid, or the report cannot be printed; 2: the check is not
    /// possible.
    Verify(Box<VerifyArgs>),
    /// Verify a proof of the transparency log from files, without the network
    ///
    /// Exit status 0: the proof is valid; 1: the proof is invalid, or the report cannot be printed; 2: the check is not
    /// possible.
    VerifyProof(VerifyProofArgs),
    /// Cosign the checkpoints of transparency logs of other services
    ///
    /// Cosigns a checkpoint only if it continues the one that it has cosigned before. Needs no database. Put a TLS
    /// proxy in front of it.
    Witness(WitnessArgs),
}

/// The database to migrate.
#[derive(Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

/// The embedded database to move, and the PostgreSQL database that receives its data.
#[derive(Args)]
pub(crate) struct MoveArgs {
    /// Embedded database: sqlite:PATH of its file, such as sqlite:./sealpost-data/sealpost.db
    #[arg(long, value_name = "URL")]
    pub(crate) from: DatabaseUrl,
    /// Empty PostgreSQL database: postgres://…
    #[arg(long, env = "SEALPOST_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) to: DatabaseUrl,
    #[command(flatten)]
    pub(crate) keks: KekArgs,
    /// Connect to PostgreSQL without TLS, also through a network; by default a remote server needs TLS and a verified
    /// certificate
    #[arg(long, env = "SEALPOST_DATABASE_IN_CLEAR", value_parser = BoolishValueParser::new())]
    pub(crate) database_in_clear: bool,
}

/// The database to copy, and the new file for the copy.
#[derive(Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// New file for the copy; it must not exist
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// The database to replace, the backup, and further revocation journals.
#[derive(Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Further revocation journals to apply, for example from another folder; repeatable
    #[arg(long = "journal", value_name = "FILE")]
    pub(crate) journal: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) keks: KekArgs,
    /// Do not check the key-encryption keys; the server starts only after the key file of the backup is in place
    #[arg(long)]
    pub(crate) without_keys: bool,
    /// File from `sealpost backup`, or the database file of a stopped server; a write-ahead log beside it is applied
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// The settings to check and the format of the report.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum KekCommand {
    /// Print a new key as a line for a key file
    New {
        /// Version of the new key; the highest version of a key file encrypts
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        version: u32,
    },
    /// Print the shares of a new quorum (a wrapping key that is computed from a minimum number of shares)
    ///
    /// The first line is the value for --kek-provider. Every further line is a share. Give each share to a different
    /// person, and store none of them on a server.
    Shares(SharesArgs),
}

/// The number of shares of a new quorum, and the number that is needed together.
#[derive(Args)]
pub(crate) struct SharesArgs {
    /// Number of shares that are needed together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16))]
    pub(crate) threshold: u8,
    /// Number of shares to print
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16))]
    pub(crate) of: u8,
}
