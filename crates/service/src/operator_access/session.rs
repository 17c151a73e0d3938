//! Sessions of operators as signed tokens.
//!
//! A token is `os1_VERSION_EXPIRES_ID_CODE_NAME`. The authentication code covers all other parts, and the line of the
//! operator in the password file. Each node with the same key file and password file accepts the token. A new
//! password, another role or a removed line ends the sessions of the operator.

use sealpost_domain::{Timestamp, TokenHash};
use sealpost_wallet::{Keyring, WalletError, keyed_hash, random, same_hash};

use super::password_file::PasswordEntry;

/// The parts of a session token, not verified.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionClaims {
    kek_version: u32,
    pub(super) expires_at: Timestamp,
    pub(super) id: SessionId,
    code: [u8; 32],
    pub(super) name: String,
}

pub(super) type SessionId = [u8; 16];

/// Creates the session token of a new operator session.
pub(super) fn issue(
    keyring: &Keyring,
    entry: &PasswordEntry,
    expires_at: Timestamp,
) -> Result<String, WalletError> {
    let (version, id) = (keyring.newest(), random::<16>()?);
    let code = code(keyring, version, entry, expires_at, &id)?;
    let (expires, name) = (expires_at.as_millis(), &entry.name);
    Ok(format!("{PREFIX}{version}_{expires}_{}_{}_{name}", hex::encode(id), hex::encode(code)))
}

/// Returns the CSRF token of a session, which the forms of the session contain. Returns `None` if `token` is not a
/// session token.
pub(super) fn form_token(token: &str) -> Option<String> {
    let claims = SessionClaims::parse(token)?;
    keyed_hash(&claims.code, &[FORM_LABEL]).ok().map(hex::encode)
}

impl SessionClaims {
    /// Splits a session token into its parts. Returns `None` if `token` is not a session token.
    pub(super) fn parse(token: &str) -> Option<Self> {
        let mut parts = token.strip_prefix(PREFIX)?.splitn(5, '_');
        Some(Self {
            kek_version: parts.next()?.parse().ok()?,
            expires_at: Timestamp::from_millis(parts.next()?.parse().ok()?),
            id: from_hex(parts.next()?)?,
            code: from_hex(parts.next()?)?,
            name: parts.next()?.to_owned(),
        })
    }

    /// Returns true if this service issued the token to the operator of `entry`, and the entry has not changed since.
    pub(super) fn is_authentic(&self, keyring: &Keyring, entry: &PasswordEntry) -> bool {
        let expected = code(keyring, self.kek_version, entry, self.expires_at, &self.id);
        expected.is_ok_and(|expected| same_hash(&TokenHash(expected), &TokenHash(self.code)))
    }
}

fn code(
    keyring: &Keyring,
    version: u32,
    entry: &PasswordEntry,
    expires_at: Timestamp,
    id: &SessionId,
) -> Result<[u8; 32], WalletError> {
    let expires = expires_at.as_millis().to_be_bytes();
    let (name, role) = (entry.name.as_bytes(), entry.role.as_str().as_bytes());
    let parts: [&[u8]; 5] = [&expires, id, name, role, entry.hash.expose().as_bytes()];
    keyring.authenticate_operator_session(version, &parts)
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

const PREFIX: &str = "os1_";
const FORM_LABEL: &[u8] = b"sealpost/v1/operator-form";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator_access::password_file::{OperatorRole, PasswordFile};

    fn entry(name: &str, role: OperatorRole) -> PasswordEntry {
        let line = PasswordFile::line(name, role, "a long password").unwrap();
        PasswordFile::parse(&line).unwrap().entries.remove(0)
    }

    fn keyring(byte: char) -> Keyring {
        let key: String = std::iter::repeat_n(byte, 42).collect();
        Keyring::parse(&format!("1:{key}A=")).unwrap()
    }

    #[test]
    fn a_token_holds_only_for_its_operator_and_its_key() {
        let (keys, alice) = (keyring('A'), entry("alice", OperatorRole::Viewer));
        let token = issue(&keys, &alice, Timestamp::from_millis(1_000)).unwrap();
        let claims = SessionClaims::parse(&token).unwrap();
        assert_eq!((claims.name.as_str(), claims.expires_at.as_millis()), ("alice", 1_000));
        assert!(claims.is_authentic(&keys, &alice));
        assert!(!claims.is_authentic(&keyring('B'), &alice), "another key file");
        for other in [
            entry("alice", OperatorRole::Operator),
            entry("alice", OperatorRole::Viewer),
            entry("bob", OperatorRole::Viewer),
        ] {
            assert!(!claims.is_authentic(&keys, &other), "another role, password or name");
        }
    }

    #[test]
    fn a_changed_token_is_not_authentic() {
        let (keys, alice) = (keyring('A'), entry("al_ice", OperatorRole::Viewer));
        let token = issue(&keys, &alice, Timestamp::from_millis(1_000)).unwrap();
        for place in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[place] = if changed[place] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(changed).unwrap();
            let is_authentic = SessionClaims::parse(&changed).is_some_and(|claims| {
                claims.name == "al_ice" && claims.is_authentic(&keys, &alice)
            });
            assert!(!is_authentic, "{place}: {changed}");
        }
        for odd in ["", "os1_", "os1_1_2_3_4_x", "st_1"] {
            assert_eq!(SessionClaims::parse(odd), None, "{odd}");
        }
    }
}
