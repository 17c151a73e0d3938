//! What a shell and a reader of manuals are given: completions and man pages, made from the command line itself.

use std::{
    io::{self, Write as _},
    path::Path,
};

use clap_complete::Shell;
use clap_mangen::Man;

use crate::{cli, fault::Fault};

/// `sealpost completions`.
pub(crate) fn print_completions(shell: Shell) -> Result<(), Fault> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "sealpost", &mut text);
    print(&text)
}

/// `sealpost man`: the page, or all pages into a folder.
pub(crate) fn make_man_pages(dir: Option<&Path>) -> Result<(), Fault> {
    let Some(dir) = dir else {
        let mut text = Vec::new();
        let rendered = Man::new(cli::command()).render(&mut text);
        rendered.map_err(|error| Fault::caused("the page cannot be written", error))?;
        return print(&text);
    };
    // Each page is named and titled after its whole command.
    clap_mangen::generate_to(cli::command(), dir).map_err(|error| {
        Fault::caused(format!("the pages cannot be written into {}", dir.display()), error)
    })
}

fn print(text: &[u8]) -> Result<(), Fault> {
    let mut out = io::stdout();
    out.write_all(text)
        .and_then(|()| out.flush())
        .map_err(|error| Fault::caused("standard output is closed", error))
}
