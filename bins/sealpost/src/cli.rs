//! The command line. Every setting is a flag and an environment variable of the same name.

mod admin;
mod badge;
mod channel;
mod examples;
mod receiver;
mod serve;
mod webhook;

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use sealpost_storage::DatabaseUrl;

pub(crate) use admin::{
    AdminArgs, AuditCommand, GovernanceCommand, IssuerCommand, KekCommand as AdminKekCommand,
    KeyCommand, Noun, PartnerCommand, PlanArgs, PlanCommand, PlanName,
};
pub(crate) use badge::{AssessArgs, AttestArgs, BadgeCommand};
pub(crate) use channel::ChannelArgs;
pub(crate) use receiver::{KeyArgs, ListenArgs, VerifyArgs};
pub(crate) use serve::{HttpArgs, LogFormat, OpsListen, ServeArgs, ServiceArgs, SuiteName};
pub(crate) use webhook::WebhookArgs;

/// The command line as it is shown and read.
pub(crate) fn command() -> clap::Command {
    examples::with_examples(Cli::command())
}

/// What this process was started with.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches))
}

/// Decentralised identity and sealed messaging.
#[derive(Parser)]
#[command(name = "sealpost", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// What operators do, while the server runs or not; every act is in the audit trail
    Admin(Box<AdminArgs>),
    /// Copies the embedded database into a file, while it is served
    ///
    /// The copy is whole, checked, and for its owner alone. What is in it can be opened with the key file alone, which
    /// belongs somewhere else. For `PostgreSQL` use `pg_dump`.
    Backup(BackupArgs),
    /// Prints what a shell needs to complete this command line
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Shows the whole main job on a temporary database, step by step
    Demo,
    /// Checks settings, data folder, database, keys, clock, certificate and addresses, and says what to mend
    ///
    /// It takes the settings of `serve` and fails where a server would not run or not right. It changes nothing but the
    /// mode of an embedded database's file, which it makes its owner's alone.
    Doctor(Box<DoctorArgs>),
    /// Makes key-encryption keys
    #[command(subcommand)]
    Kek(KekCommand),
    /// Receives notices on this machine, verifies and prints them, and forwards them to an application
    Listen(Box<ListenArgs>),
    /// Prints the manual page, or writes the pages of all commands into a folder
    Man {
        /// Where the pages go
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Brings the database to this version
    Migrate(DatabaseArgs),
    /// Serves the API (what `sealpost` alone does too)
    Serve(Box<ServeArgs>),
    /// Checks one notice from files, and says what is wrong with it
    ///
    /// Exit status 0: to be believed; 1: not to be believed; 2: cannot be checked.
    Verify(Box<VerifyArgs>),
}

/// What is to be copied, and whereto.
#[derive(Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// The copy; it must not be there yet
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// What is to be looked at, and how to tell.
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
    /// Prints a fresh line for a key file
    New {
        /// The version of the new key; the highest version of a key file encrypts
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        version: u32,
    },
}

/// Where the data is.
#[derive(Args, Clone)]
pub(crate) struct DatabaseArgs {
    /// Folder of the embedded database and its key file
    #[arg(long, env = "SEALPOST_DATA_DIR", default_value = "./sealpost-data", value_name = "DIR")]
    pub(crate) data_dir: PathBuf,
    /// postgres://… or sqlite:PATH; without it the embedded database in the data folder
    #[arg(long, env = "SEALPOST_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) database_url: Option<DatabaseUrl>,
    /// Connections to the database at the most
    #[arg(
        long,
        env = "SEALPOST_DATABASE_POOL",
        default_value_t = 16,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=1000)
    )]
    pub(crate) database_pool: u32,
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(number),
        _ => Err("give a number from 1 to 1000000".to_owned()),
    }
}

fn bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=4_294_967_295) => Ok(number),
        _ => Err("give a number of bytes from 1 to 4294967295".to_owned()),
    }
}
