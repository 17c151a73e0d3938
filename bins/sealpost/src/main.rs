//! The `sealpost` binary: command line, composition, HTTP. What the service does is in the library crates.

mod admin;
mod backup;
mod badge_page;
mod base_url;
mod circuits;
mod cli;
mod compose;
mod config;
mod dashboard;
mod demo;
mod docs;
mod doctor;
mod errors;
mod fault;
mod http;
mod kek;
mod listen;
mod logs;
mod metrics;
mod migrate;
mod openapi;
mod ops;
mod pages;
mod receiver;
mod secret_file;
mod serve;
mod shell;
mod terminal;
mod tls;

use std::process::ExitCode;

use mimalloc::MiMalloc;

use crate::cli::{Command, KekCommand};

/// Many threads take small pieces and hand them to others: what the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => return fault::report_usage(&error),
    };
    let done = match cli.command {
        None => serve::run(&cli.serve),
        Some(Command::Admin(admin)) => admin::run(&admin),
        Some(Command::Backup(backup)) => backup::run(&backup),
        Some(Command::Completions { shell }) => shell::print_completions(shell),
        Some(Command::Demo) => demo::run(),
        Some(Command::Doctor(doctor)) => doctor::run(&doctor),
        Some(Command::Kek(KekCommand::New { version })) => kek::print_fresh_line(version),
        Some(Command::Listen(listen)) => receiver::listen(*listen),
        Some(Command::Man { dir }) => shell::make_man_pages(dir.as_deref()),
        Some(Command::Migrate(database)) => migrate::run(&database),
        Some(Command::Serve(serve)) => serve::run(&serve),
        Some(Command::Verify(verify)) => receiver::verify(&verify),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(),
    }
}
