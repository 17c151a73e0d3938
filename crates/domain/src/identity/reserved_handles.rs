//! Reserved handles, such as `admin`. Only an operator can assign a reserved handle to a key, because people would
//! trust such a name.

use std::collections::BTreeSet;

use super::{handle::Handle, id::ID_PREFIXES};

/// The handles that only an operator can give to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservedHandles(BTreeSet<Handle>);

/// The error for a line that is not a valid handle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not a handle: write one handle per line, of 3 to 32 of a-z, 0-9, - and _")]
pub struct ReservedHandlesError {
    /// Number of the invalid line, counted from 1.
    pub line: usize,
}

impl ReservedHandles {
    /// Parses a list with one handle per line. Skips empty lines, and ignores comments after `#`.
    pub fn parse(text: &str) -> Result<Self, ReservedHandlesError> {
        let mut handles = BTreeSet::new();
        for (line, content) in (1..).zip(text.lines()) {
            let name = content.split('#').next().unwrap_or_default().trim();
            if name.is_empty() {
                continue;
            }
            let handle = Handle::parse(name).map_err(|_fault| ReservedHandlesError { line })?;
            handles.insert(handle);
        }
        Ok(Self(handles))
    }

    /// Returns true if the handle is on the list, or looks like an id or a secret.
    pub fn contains(&self, handle: &Handle) -> bool {
        self.0.contains(handle) || Self::looks_like_an_id(handle)
    }

    /// Returns true if the handle starts with the prefix of an id or a secret. Such a handle cannot be given to a key,
    /// not even by an operator.
    pub fn looks_like_an_id(handle: &Handle) -> bool {
        let mut prefixes = ID_PREFIXES.iter().chain(SECRET_PREFIXES);
        prefixes.any(|prefix| handle.as_str().starts_with(prefix))
    }
}

impl Default for ReservedHandles {
    /// Returns the built-in list of handles.
    fn default() -> Self {
        Self(BUILT_IN.split(' ').filter_map(|name| Handle::parse(name).ok()).collect())
    }
}

/// The built-in handles, separated by spaces.
const BUILT_IN: &str = "\
    abuse account accounts admin administrator all anyone api audit badge badges billing bot \
    compliance contact council dashboard everyone governance help helpdesk hostmaster info \
    issuer legal login mail mailer-daemon moderator news no-reply nobody noreply null \
    official operator owner postmaster privacy root sales sealpost security self service \
    staff status support sysadmin system team test trust undefined verify webhook webmaster";

/// Prefixes of newer kinds of secrets. A new handle must not start with such a prefix. `Handle::parse` accepts these
/// prefixes, because it also parses stored handles, which can be older than this rule.
const SECRET_PREFIXES: &[&str] = &["inv_", "kt_", "rc_"];

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(text: &str) -> Handle {
        Handle::parse(text).unwrap()
    }

    #[test]
    fn every_built_in_name_is_a_handle() {
        assert_eq!(ReservedHandles::default().0.len(), BUILT_IN.split(' ').count());
    }

    #[test]
    fn names_of_authority_are_reserved() {
        let reserved = ReservedHandles::default();
        for name in ["admin", "Support", "security", "postmaster", "sealpost", "inv_1"] {
            assert!(reserved.contains(&handle(name)), "{name}");
        }
        for name in ["alice", "admin-bob", "invoice", "events"] {
            assert!(!reserved.contains(&handle(name)), "{name}");
        }
    }

    #[test]
    fn every_handle_with_the_prefix_of_an_id_is_reserved() {
        let reserved = ReservedHandles::parse("").unwrap();
        for prefix in ID_PREFIXES {
            let parsed = Handle::parse(&format!("{prefix}1"));
            assert!(parsed.is_err() || reserved.contains(&parsed.unwrap()), "{prefix}");
        }
        assert!(reserved.contains(&handle("evt_1")));
    }

    #[test]
    fn a_list_replaces_the_built_in_one() {
        let reserved = ReservedHandles::parse("# ours\n\n Acme \nacme-help # people\n").unwrap();
        assert!(reserved.contains(&handle("acme")) && reserved.contains(&handle("acme-help")));
        assert!(!reserved.contains(&handle("admin")));
        assert_eq!(
            ReservedHandles::parse("acme\nno handle\n"),
            Err(ReservedHandlesError { line: 2 })
        );
    }
}
