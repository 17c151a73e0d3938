//! Shell completion scripts and manual pages, both generated from the clap command.

use std::path::Path;

use clap_complete::Shell;
use clap_mangen::Man;

use crate::{cli, command_error::CommandError, terminal::print};

/// Prints the completion script of a shell (`sealpost completions`).
pub(crate) fn print_completions(shell: Shell) -> Result<(), CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "sealpost", &mut text);
    print(text)
}

/// Prints the main manual page, or writes the pages of all commands into a folder (`sealpost man`).
pub(crate) fn write_man_pages(dir: Option<&Path>) -> Result<(), CommandError> {
    let Some(dir) = dir else {
        let mut text = Vec::new();
        let rendered = Man::new(cli::command()).render(&mut text);
        rendered
            .map_err(|error| CommandError::caused("the manual page cannot be rendered", error))?;
        return print(text);
    };
    clap_mangen::generate_to(cli::command(), dir).map_err(|error| {
        let message = format!("the manual pages cannot be written into {}", dir.display());
        CommandError::caused(message, error)
    })
}
