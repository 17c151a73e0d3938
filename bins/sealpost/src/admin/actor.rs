//! The name and the process of the operator who runs this command, for the audit trail.

use nix::unistd::{Uid, User};
use sealpost_service::OperatorProcess;

/// Returns `operator:` and the name of the effective user. Uses the user id if there is no name, or if [`is_name`]
/// rejects the name.
pub(crate) fn name() -> String {
    let uid = Uid::effective();
    let user = User::from_uid(uid).ok().flatten().map(|user| user.name);
    format!("operator:{}", user.filter(|name| is_name(name)).unwrap_or_else(|| uid.to_string()))
}

/// Returns the ids and names that the audit trail records about this process. Names from the environment are recorded
/// separately from the user id, because anyone can set a variable.
pub(crate) fn process() -> OperatorProcess {
    OperatorProcess {
        uid: Uid::effective().as_raw(),
        sudo_uid: from_environment("SUDO_UID").and_then(|uid| uid.parse().ok()),
        claimed: ["USER", "LOGNAME"].into_iter().find_map(from_environment),
    }
}

/// Returns true if the text is a plain user name. Names with other characters are not recorded, because they could
/// imitate entries of the audit trail.
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
