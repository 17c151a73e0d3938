//! The `sealpost` binary: command line, operator output and signals. The library crates implement the service itself.

mod admin;
mod cli;
mod command_error;
mod console;
mod database;
mod demo;
mod doctor;
mod environment;
mod http;
mod kek;
mod logs;
mod proof;
mod receiver;
mod serve;
mod settings;
mod shell;
mod spans;
mod terminal;
mod witness;

use std::{env, io, io::Write as _, process::ExitCode};

use mimalloc::MiMalloc;
use sealpost_node::protect_process_memory;

use crate::{
    cli::{Command, ConsoleCommand, KekCommand, usage},
    command_error::CommandError,
    database::{backup, migrate, moving, restore},
    serve::signals::outlive_file_size_limit,
};

/// Replaces the system allocator, which is slow if a thread frees many small allocations of other threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    warn("SEALPOST_KEK stays in the environment", kek::variable::leave_environment());
    warn("the memory of this process is not protected", protect_process_memory());
    warn("a file size limit can end this process", outlive_file_size_limit());
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let done = match cli.command {
        Command::Admin(admin) => admin::run(&admin),
        Command::Backup(backup) => backup::run(&backup),
        Command::Completions { shell } => shell::print_completions(shell),
        Command::Console(ConsoleCommand::Hash(args)) => console::print_line(&args),
        Command::Demo => demo::run(),
        Command::Doctor(doctor) => doctor::run(&doctor),
        Command::Kek(KekCommand::New { version }) => kek::print_new_line(version),
        Command::Kek(KekCommand::Shares(shares)) => kek::shares::print_new(&shares),
        Command::Listen(listen) => receiver::listen(*listen),
        Command::Man { dir } => shell::write_man_pages(dir.as_deref()),
        Command::Migrate(database) => migrate::run(&database),
        Command::Move(args) => moving::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Serve(serve) => serve::run(&serve),
        Command::Service(command) => {
            sealpost_shell::run(command, env::var_os).map_err(CommandError::from)
        }
        Command::Verify(verify) => receiver::verify(&verify),
        Command::VerifyProof(args) => proof::run(&args),
        Command::Witness(args) => witness::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(&usage::invoked_command()),
    }
}

/// Prints `what` and the error if a protective measure at the start failed, such as the protection of the memory of
/// this process. The command then continues without the measure.
fn warn(what: &str, done: io::Result<()>) {
    if let Err(error) = done {
        // A failed write cannot be reported, because standard error is closed.
        drop(writeln!(io::stderr(), "sealpost: {what}: {error}"));
    }
}
