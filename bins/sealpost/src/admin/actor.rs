//! The operator in the audit trail, by the user id of this process.

use nix::unistd::{Uid, User};
use sealpost_service::OperatorProcess;

/// Returns `operator:` and the name of the effective user, or the user id if the user has no name.
pub(super) fn name() -> String {
    let uid = Uid::effective();
    let user = User::from_uid(uid).ok().flatten().map(|user| user.name);
    format!("operator:{}", user.filter(|name| is_name(name)).unwrap_or_else(|| uid.to_string()))
}

/// Returns the facts about this process. The environment is recorded beside the user id, because anyone can set it.
pub(super) fn process() -> OperatorProcess {
    OperatorProcess {
        uid: Uid::effective().as_raw(),
        sudo_uid: from_environment("SUDO_UID").and_then(|uid| uid.parse().ok()),
        claimed: ["USER", "LOGNAME"].into_iter().find_map(from_environment),
    }
}

/// Accepts only plain user names. Other text must not reach the audit trail.
fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@\\$".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

#[expect(clippy::disallowed_methods, reason = "the binary reads the environment for all crates")]
fn from_environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|text| is_name(text))
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
