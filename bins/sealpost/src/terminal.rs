//! What a terminal may be told that a file may not: colours and progress.

use std::io::{self, IsTerminal as _, Write as _};

/// Whether colours are wanted where there is a terminal (<https://no-color.org>).
#[expect(clippy::disallowed_methods, reason = "this is the command line's side of the house")]
pub(crate) fn wants_colour() -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|terminal| terminal == "dumb");
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb
}

/// One line on standard error that says how far it is, where somebody watches; gone when the work is done.
pub(crate) struct Progress {
    is_watched: bool,
}

impl Progress {
    pub(crate) fn start() -> Self {
        Self { is_watched: io::stderr().is_terminal() }
    }

    /// Puts this in the place of what was told before.
    pub(crate) fn tell(&self, how_far: &str) {
        if self.is_watched {
            // Nobody is served worse by a progress that cannot be told.
            drop(write!(io::stderr(), "{WIPE}sealpost: {how_far}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_watched {
            drop(write!(io::stderr(), "{WIPE}"));
        }
    }
}

/// To the start of the line, and nothing right of it.
const WIPE: &str = "\r\u{1b}[K";
