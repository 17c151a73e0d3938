//! The `sealpost` binary: command line, operator output, signals. What the service does is in the library crates.

mod admin;
mod backup;
mod cli;
mod demo;
mod doctor;
mod fault;
mod kek;
mod logs;
mod migrate;
mod receiver;
mod serve;
mod settings;
mod shell;
mod terminal;

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
