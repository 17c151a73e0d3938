//! Who acts, as the audit trail names them.

use std::{fs, os::unix::fs::MetadataExt as _};

/// `operator:` and the user's name, or the user's number where the environment has no name.
pub(super) fn name() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(from_environment);
    format!("operator:{}", named.or_else(number).unwrap_or_else(|| "unknown".to_owned()))
}

/// Only what looks like a user's name: the trail must not be written by whoever sets a variable.
fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@\\$".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

#[expect(clippy::disallowed_methods, reason = "this is the command line's side of the house")]
fn from_environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|text| is_name(text))
}

fn number() -> Option<String> {
    fs::metadata("/proc/self").ok().map(|process| process.uid().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_a_plain_word() {
        assert!(is_name("root") && is_name("svc-account_1.ops"));
        for odd in ["", "a b", "a\nb", "operator:root", &"x".repeat(65)] {
            assert!(!is_name(odd), "{odd}");
        }
        assert!(name().starts_with("operator:") && name().len() > "operator:".len());
    }
}
