//! Numbers on the command line that must not be 0.

/// Parses a count of at least 1.
pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(number),
        _ => Err("give a number from 1 to 1000000".to_owned()),
    }
}

/// Parses a size of at least 1 byte.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=4_294_967_295) => Ok(number),
        _ => Err("give a number of bytes from 1 to 4294967295".to_owned()),
    }
}
