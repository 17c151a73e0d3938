//! Parsers for numbers on the command line that must be at least 1.

/// Parses a count from 1 to 1,000,000.
pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(number),
        _ => Err("give a number from 1 to 1000000".to_owned()),
    }
}

/// Parses a number of bytes from 1 to 4,294,967,295.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=4_294_967_295) => Ok(number),
        _ => Err("give a number of bytes from 1 to 4294967295".to_owned()),
    }
}
