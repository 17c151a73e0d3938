//! The name of the operator in the audit trail.

use std::{fs, os::unix::fs::MetadataExt as _};

/// Returns `operator:` and the name of the user. Without a name in the environment, returns the user id.
pub(super) fn name() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(from_environment);
    format!("operator:{}", named.or_else(user_id).unwrap_or_else(|| "unknown".to_owned()))
}

/// Accepts only plain user names. Other text in the variable must not reach the audit trail.
fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@\\$".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

#[expect(clippy::disallowed_methods, reason = "the binary reads the environment for all crates")]
fn from_environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|text| is_name(text))
}

fn user_id() -> Option<String> {
    fs::metadata("/proc/self").ok().map(|process| process.uid().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_a_plain_name() {
        assert!(is_name("root") && is_name("svc-account_1.ops"));
        for odd in ["", "a b", "a\nb", "operator:root", &"x".repeat(65)] {
            assert!(!is_name(odd), "{odd}");
        }
        assert!(name().starts_with("operator:") && name().len() > "operator:".len());
    }
}
