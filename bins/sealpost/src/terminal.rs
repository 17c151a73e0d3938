//! What a terminal may be told that a file may not: colours and progress.

/// Whether colours are wanted where there is a terminal (<https://no-color.org>).
#[expect(clippy::disallowed_methods, reason = "this is the command line's side of the house")]
pub(crate) fn wants_colour() -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|terminal| terminal == "dumb");
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb
}
