//! The lines of a revocation journal. After the header, each line is one entry. An entry has a checksum, its time, its
//! mark (the number of its transaction), and its act (the recorded change):
//!
//! ```text
//! sealpost-revocations 1 <name of the journal> <id of the database> [partial]
//! <8 hex digits of SHA-256> <unix time in ms> <mark or -> <act> <id> [hashes]
//! ```

use sealpost_domain::{AccountSecrets, Timestamp, TokenHash, ports::JournaledAct};
use sha2::{Digest as _, Sha256};

/// The first line of a journal file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// Random name of the journal. The database stores the mark of the journal under this name.
    pub(crate) journal: String,
    /// Id of the database to which the journal belongs.
    pub(crate) database: String,
    /// True if the database can have revocations from before the creation of this journal, which the journal lacks.
    pub(crate) is_partial: bool,
}

impl Header {
    pub(crate) fn to_line(&self) -> String {
        let partial = if self.is_partial { PARTIAL } else { "" };
        let line = format!("{MAGIC} {VERSION} {} {} {partial}", self.journal, self.database);
        format!("{}\n", line.trim_end())
    }

    /// Returns true if a file that begins with `first` has no complete header, because its creation was interrupted,
    /// for example by a full disk. Such a file has no entries.
    pub(crate) fn is_unfinished(first: &[u8]) -> bool {
        let magic = MAGIC.as_bytes();
        !first.contains(&b'\n') && (magic.starts_with(first) || first.starts_with(magic))
    }

    /// Parses the first line of a journal file without its line end. `None` if it is not the header of a journal of
    /// this version.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let is_known = words.next() == Some(MAGIC) && words.next() == Some(VERSION);
        let is_name = |word: &&str| {
            !word.is_empty()
                && word.len() <= NAME_MAX
                && word.bytes().all(|b| b.is_ascii_hexdigit())
        };
        let journal = words.next().filter(is_name)?.to_owned();
        let database = words.next().filter(is_name)?.to_owned();
        let is_partial = match words.next() {
            None => false,
            Some(PARTIAL) => true,
            Some(_) => return None,
        };
        (is_known && words.next().is_none()).then_some(Self { journal, database, is_partial })
    }
}

/// One line of the journal: an act (a revocation or a similar change), with its time and its mark (transaction number).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Time of the act, from the clock of the database server, or of the node if the database is embedded.
    pub(crate) at: Timestamp,
    /// The number of the act's transaction. Each transaction with acts raises the number in the database by one. So a
    /// database with a lower number than its journal has lost commits. `None` if the transaction raised no number, or
    /// if its commit is in doubt.
    pub(crate) mark: Option<u64>,
    pub(crate) act: JournaledAct,
}

impl Entry {
    /// Returns the line of the entry, with its line end.
    pub(crate) fn to_line(self) -> String {
        let mark = self.mark.map_or_else(|| NO_MARK.to_owned(), |mark| mark.to_string());
        let body = format!("{} {mark} {}", self.at.as_millis(), act_text(&self.act));
        format!("{} {body}\n", checksum(&body))
    }

    /// Parses a line without its line end. `None` if the line is damaged.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (sum, body) = line.split_once(' ')?;
        if sum != checksum(body) {
            return None;
        }
        let mut words = body.split(' ');
        let at = Timestamp::from_millis(words.next()?.parse().ok()?);
        let mark = match words.next()? {
            NO_MARK => None,
            mark => Some(mark.parse().ok()?),
        };
        let act = parse_act(&words.collect::<Vec<_>>())?;
        Some(Self { at, mark, act })
    }
}

fn act_text(act: &JournaledAct) -> String {
    match act {
        JournaledAct::AccountClosed(id) => format!("account-closed {id}"),
        JournaledAct::AccountErased(id) => format!("account-erased {id}"),
        JournaledAct::ApiTokenRevoked(id) => format!("token-revoked {id}"),
        JournaledAct::BadgeRevoked(id) => format!("badge-revoked {id}"),
        JournaledAct::KeyActivated(id) => format!("key-activated {id}"),
        JournaledAct::KeyDeactivated(id) => format!("key-deactivated {id}"),
        JournaledAct::KeyRevoked(id) => format!("key-revoked {id}"),
        JournaledAct::SecretsReplaced(id, AccountSecrets { login_secret, recovery_code }) => {
            let (login, recovery) = (hex::encode(login_secret.0), hex::encode(recovery_code.0));
            format!("secrets-replaced {id} {login} {recovery}")
        }
        JournaledAct::SessionsEnded => "sessions-ended".to_owned(),
    }
}

fn parse_act(words: &[&str]) -> Option<JournaledAct> {
    Some(match words {
        ["account-closed", id] => JournaledAct::AccountClosed(id.parse().ok()?),
        ["account-erased", id] => JournaledAct::AccountErased(id.parse().ok()?),
        ["token-revoked", id] => JournaledAct::ApiTokenRevoked(id.parse().ok()?),
        ["badge-revoked", id] => JournaledAct::BadgeRevoked(id.parse().ok()?),
        ["key-activated", id] => JournaledAct::KeyActivated(id.parse().ok()?),
        ["key-deactivated", id] => JournaledAct::KeyDeactivated(id.parse().ok()?),
        ["key-revoked", id] => JournaledAct::KeyRevoked(id.parse().ok()?),
        ["secrets-replaced", id, login, recovery] => {
            let (login_secret, recovery_code) = (parse_hash(login)?, parse_hash(recovery)?);
            let secrets = AccountSecrets { login_secret, recovery_code };
            JournaledAct::SecretsReplaced(id.parse().ok()?, secrets)
        }
        ["sessions-ended"] => JournaledAct::SessionsEnded,
        _ => return None,
    })
}

fn parse_hash(text: &str) -> Option<TokenHash> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash).ok()?;
    Some(TokenHash(hash))
}

fn checksum(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    hex::encode(digest.iter().take(CHECKSUM_BYTES).copied().collect::<Vec<_>>())
}

const MAGIC: &str = "sealpost-revocations";
const VERSION: &str = "1";
const PARTIAL: &str = "partial";
const NO_MARK: &str = "-";
const NAME_MAX: usize = 64;
const CHECKSUM_BYTES: usize = 4;

#[cfg(test)]
pub(in crate::journal) mod tests {
    use proptest::{prelude::*, sample::Index};
    use sealpost_domain::{AccountId, ApiKeyId, ApiTokenId, BadgeId};

    use super::*;

    fn any_act() -> impl Strategy<Value = JournaledAct> {
        let id = any::<[u8; 16]>();
        let hashes = (any::<[u8; 32]>(), any::<[u8; 32]>());
        prop_oneof![
            id.prop_map(|id| JournaledAct::AccountClosed(AccountId::from_bytes(id))),
            id.prop_map(|id| JournaledAct::AccountErased(AccountId::from_bytes(id))),
            id.prop_map(|id| JournaledAct::ApiTokenRevoked(ApiTokenId::from_bytes(id))),
            id.prop_map(|id| JournaledAct::BadgeRevoked(BadgeId::from_bytes(id))),
            id.prop_map(|id| JournaledAct::KeyActivated(ApiKeyId::from_bytes(id))),
            id.prop_map(|id| JournaledAct::KeyDeactivated(ApiKeyId::from_bytes(id))),
            id.prop_map(|id| JournaledAct::KeyRevoked(ApiKeyId::from_bytes(id))),
            (id, hashes).prop_map(|(id, (login, recovery))| {
                let (login_secret, recovery_code) = (TokenHash(login), TokenHash(recovery));
                let secrets = AccountSecrets { login_secret, recovery_code };
                JournaledAct::SecretsReplaced(AccountId::from_bytes(id), secrets)
            }),
            Just(JournaledAct::SessionsEnded),
        ]
    }

    pub(in crate::journal) fn any_entry() -> impl Strategy<Value = Entry> {
        (any::<i64>(), any::<Option<u64>>(), any_act()).prop_map(|(at, mark, act)| Entry {
            at: Timestamp::from_millis(at),
            mark,
            act,
        })
    }

    proptest! {
        #[test]
        fn an_entry_is_read_as_it_was_written(entry in any_entry()) {
            let line = entry.to_line();
            prop_assert_eq!(Entry::parse(line.strip_suffix('\n').unwrap()), Some(entry));
        }

        #[test]
        fn a_line_with_one_changed_byte_is_damaged(entry in any_entry(), at in any::<Index>(), with in b' '..=b'~') {
            let line = entry.to_line().trim_end().to_owned();
            let mut bytes = line.clone().into_bytes();
            let at = at.index(bytes.len());
            prop_assume!(bytes[at] != with);
            bytes[at] = with;
            prop_assert_eq!(Entry::parse(&String::from_utf8(bytes).unwrap()), None);
        }

        #[test]
        fn the_start_of_a_line_is_damaged(entry in any_entry(), length in any::<Index>()) {
            let line = entry.to_line().trim_end().to_owned();
            prop_assert_eq!(Entry::parse(line.get(..length.index(line.len())).unwrap()), None);
        }
    }

    #[test]
    fn a_header_of_another_version_is_not_read() {
        let (journal, database) = ("ab12".to_owned(), "cd34".to_owned());
        let header = Header { journal, database, is_partial: false };
        let partial = Header { is_partial: true, ..header.clone() };
        let line = header.to_line().trim_end().to_owned();
        assert_eq!(Header::parse(partial.to_line().trim_end()), Some(partial));
        assert_eq!(Header::parse(&line), Some(header));
        for other in [
            line.replace(" 1 ", " 2 "),
            format!("{line} more"),
            format!("{line} partial more"),
            String::new(),
        ] {
            assert_eq!(Header::parse(&other), None, "{other}");
        }
    }
}
