//! The `sealpost` binary: command line, composition, HTTP. What the service does is in the library crates.

mod admin;
mod cli;
mod compose;
mod config;
mod dashboard;
mod demo;
mod fault;
mod http;
mod kek;
mod logs;
mod migrate;
mod ops;
mod serve;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, KekCommand};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return fault::report_usage(&error),
    };
    let done = match cli.command {
        None => serve::run(&cli.serve),
        Some(Command::Admin(admin)) => admin::run(&admin),
        Some(Command::Demo) => demo::run(),
        Some(Command::Kek(KekCommand::New { version })) => kek::print_fresh_line(version),
        Some(Command::Migrate(database)) => migrate::run(&database),
        Some(Command::Serve(serve)) => serve::run(&serve),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(),
    }
}
