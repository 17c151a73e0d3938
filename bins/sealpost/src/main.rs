//! The `sealpost` binary: command line, operator output and signals. The library crates implement the service.

mod admin;
mod backup;
mod cli;
mod demo;
mod doctor;
mod fault;
mod http;
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

use crate::cli::{Command, KekCommand, usage};

/// Many threads allocate small pieces that other threads free. The system allocator is slow at that.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let done = match cli.command {
        Command::Admin(admin) => admin::run(&admin),
        Command::Backup(backup) => backup::run(&backup),
        Command::Completions { shell } => shell::print_completions(shell),
        Command::Demo => demo::run(),
        Command::Doctor(doctor) => doctor::run(&doctor),
        Command::Kek(KekCommand::New { version }) => kek::print_new_line(version),
        Command::Listen(listen) => receiver::listen(*listen),
        Command::Man { dir } => shell::write_man_pages(dir.as_deref()),
        Command::Migrate(database) => migrate::run(&database),
        Command::Serve(serve) => serve::run(&serve),
        Command::Verify(verify) => receiver::verify(&verify),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(&usage::invoked_command()),
    }
}
