//! Key-encryption keys: several versions at once, of which the highest encrypts and the others only decrypt.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use sealpost_domain::Wrapped;
use zeroize::Zeroizing;

use crate::{WalletError, entropy, wrapping::Place};

/// The key-encryption keys of an installation. Everything secret in the database is encrypted under one of them. It
/// is shared by everybody who decrypts, and can learn a new version while they do.
pub struct Keyring {
    keys: RwLock<BTreeMap<u32, Key>>,
}

/// What is wrong with the text of a keyring. Entries are counted from 1; in a key file that is the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyringFault {
    /// An entry is not `VERSION:BASE64`.
    #[error("line {line} is not VERSION:BASE64")]
    BadLine {
        /// Which entry.
        line: usize,
    },
    /// Two keys of one version.
    #[error("line {line} repeats version {version}")]
    DuplicateVersion {
        /// The later entry.
        line: usize,
        /// The version of both.
        version: u32,
    },
    /// Not one key.
    #[error("there is no key-encryption key; make one with `sealpost kek new`")]
    Empty,
    /// Versions begin at 1.
    #[error("line {line} has version 0; versions begin at 1")]
    VersionZero {
        /// Which entry.
        line: usize,
    },
    /// A key of another length than 32 bytes.
    #[error("line {line} has a key of {length} bytes; it must have 32")]
    WrongLength {
        /// Which entry.
        line: usize,
        /// How many bytes it has.
        length: usize,
    },
}

impl Keyring {
    /// Reads `VERSION:BASE64` entries, one a line or separated by commas. Blank lines and lines that start with `#`
    /// are skipped.
    pub fn parse(text: &str) -> Result<Self, KeyringFault> {
        let mut keys = BTreeMap::new();
        for (line, entry) in (1..).zip(text.lines().flat_map(entries)) {
            if entry.is_empty() || entry.starts_with('#') {
                continue;
            }
            let (version, key) = parse_entry(entry, line)?;
            if keys.insert(version, key).is_some() {
                return Err(KeyringFault::DuplicateVersion { line, version });
            }
        }
        if keys.is_empty() {
            return Err(KeyringFault::Empty);
        }
        Ok(Self { keys: RwLock::new(keys) })
    }

    /// Takes over the versions of `other` that are not known yet, and tells which. A known version stays the key that
    /// it is: what was encrypted under it must go on to decrypt.
    pub fn add_versions(&self, other: Self) -> Vec<u32> {
        let theirs = other.keys.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        let mut learned = Vec::new();
        for (version, key) in theirs {
            keys.entry(version).or_insert_with(|| {
                learned.push(version);
                key
            });
        }
        learned
    }

    /// A new key as the line of a key file.
    pub fn fresh_line(version: u32) -> Result<Zeroizing<String>, WalletError> {
        if version == 0 {
            return Err(WalletError::UnknownKekVersion { version });
        }
        let mut key = Zeroizing::new([0; KEY_LEN]);
        entropy::fill(key.as_mut_slice())?;
        // Room for all of it, so that no half-written copy is left behind by growing.
        let mut line = Zeroizing::new(String::with_capacity(LINE_LEN_MAX));
        line.push_str(&version.to_string());
        line.push(':');
        STANDARD.encode_string(key.as_slice(), &mut line);
        Ok(line)
    }

    /// The version that encrypts.
    pub fn newest(&self) -> u32 {
        self.versions().last().copied().unwrap_or_default()
    }

    /// Every version there is, lowest first.
    pub fn versions(&self) -> Vec<u32> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// A known text encrypted under exactly this version: left in the database, it shows at start-up whether the
    /// key is still the one that it was.
    pub fn mark(&self, version: u32) -> Result<Wrapped, WalletError> {
        self.wrap_under(version, &mark_place(&version.to_be_bytes()), MARK)
    }

    /// Whether the mark was left by the key that now has this version: [`WalletError::NotDecryptable`] where the key
    /// is another one, [`WalletError::UnknownKekVersion`] where it is missing.
    pub fn check_mark(&self, version: u32, mark: &Wrapped) -> Result<(), WalletError> {
        self.require(version)?;
        let text = self.unwrap(&mark_place(&version.to_be_bytes()), mark)?;
        if text.as_slice() == MARK { Ok(()) } else { Err(WalletError::NotDecryptable) }
    }

    pub(crate) fn require(&self, version: u32) -> Result<Key, WalletError> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.get(&version).map(Arc::clone).ok_or(WalletError::UnknownKekVersion { version })
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("versions", &self.versions()).finish_non_exhaustive()
    }
}

/// A comment may hold commas, so it is told apart before the line is split.
fn entries(line: &str) -> impl Iterator<Item = &str> {
    let separator = if line.trim_start().starts_with('#') { '\n' } else { ',' };
    line.split(separator).map(str::trim)
}

fn parse_entry(entry: &str, line: usize) -> Result<(u32, Key), KeyringFault> {
    let bad_line = KeyringFault::BadLine { line };
    let (version, encoded) = entry.split_once(':').ok_or(bad_line)?;
    if !version.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(bad_line);
    }
    let version = version.parse().ok().ok_or(bad_line)?;
    if version == 0 {
        return Err(KeyringFault::VersionZero { line });
    }
    let decoded = Zeroizing::new(STANDARD.decode(encoded).ok().ok_or(bad_line)?);
    if decoded.len() != KEY_LEN {
        return Err(KeyringFault::WrongLength { line, length: decoded.len() });
    }
    let mut key = Zeroizing::new([0; KEY_LEN]);
    key.copy_from_slice(&decoded);
    Ok((version, Arc::new(key)))
}

/// Shared so that it stays in one place, and is wiped there when nobody uses it any more.
pub(crate) type Key = Arc<Zeroizing<[u8; KEY_LEN]>>;

fn mark_place(version: &[u8; 4]) -> Place<'_> {
    Place { table: "kek_marks", row: version, column: "mark" }
}

const KEY_LEN: usize = 32;
/// Ten digits, a colon and 44 characters.
const LINE_LEN_MAX: usize = 55;
const MARK: &[u8] = b"sealpost/v1/kek-mark";

#[cfg(test)]
mod tests {
    use super::*;

    fn line(version: u32, byte: u8) -> String {
        format!("{version}:{}", STANDARD.encode([byte; 32]))
    }

    #[test]
    fn a_key_file_and_a_comma_separated_list_read_alike() {
        let (old, new) = (line(1, 1), line(7, 7));
        for text in [
            format!("# old, do not use: 1\n\n{old}\r\n  {new} \n"),
            format!("{new},{old}"),
            format!(" {old} ,, {new},"),
        ] {
            let keyring = Keyring::parse(&text).unwrap();
            assert_eq!(keyring.newest(), 7);
            assert_eq!(keyring.versions(), [1, 7]);
            assert_eq!(**keyring.require(1).unwrap(), [1; 32]);
        }
    }

    #[test]
    fn a_keyring_learns_new_versions_and_keeps_the_ones_it_has() {
        let keyring = Keyring::parse(&line(1, 1)).unwrap();
        let other = Keyring::parse(&format!("{},{}", line(1, 9), line(2, 2))).unwrap();
        assert_eq!(keyring.add_versions(other), [2]);
        assert_eq!((keyring.newest(), keyring.versions()), (2, vec![1, 2]));
        assert_eq!(**keyring.require(1).unwrap(), [1; 32]);
    }

    #[test]
    fn faults_say_where_and_what() {
        let good = line(1, 1);
        for (text, fault) in [
            (String::new(), KeyringFault::Empty),
            ("# nothing\n\n".to_owned(), KeyringFault::Empty),
            (format!("{good}\nrubbish"), KeyringFault::BadLine { line: 2 }),
            (format!("{good},2:%%%"), KeyringFault::BadLine { line: 2 }),
            (good.replacen("1:", "+1:", 1), KeyringFault::BadLine { line: 1 }),
            (good.replacen("1:", ":", 1), KeyringFault::BadLine { line: 1 }),
            (good.replacen("1:", "4294967296:", 1), KeyringFault::BadLine { line: 1 }),
            (format!("#\n{good}\n{good}"), KeyringFault::DuplicateVersion { line: 3, version: 1 }),
            (line(0, 1), KeyringFault::VersionZero { line: 1 }),
            ("1:AAAA".to_owned(), KeyringFault::WrongLength { line: 1, length: 3 }),
        ] {
            assert_eq!(Keyring::parse(&text).map(|_| ()), Err(fault), "{text}");
            assert!(!fault.to_string().contains(&STANDARD.encode([1; 32])));
        }
    }

    #[test]
    fn a_fresh_line_reads_back() {
        let line = Keyring::fresh_line(u32::MAX).unwrap();
        assert_eq!((line.len(), line.capacity()), (LINE_LEN_MAX, LINE_LEN_MAX));
        assert_eq!(Keyring::parse(&line).unwrap().newest(), u32::MAX);
        assert_ne!(line, Keyring::fresh_line(u32::MAX).unwrap());
        assert!(Keyring::fresh_line(0).is_err());
    }

    #[test]
    fn a_mark_tells_a_wrong_key_and_a_missing_one() {
        let keyring = Keyring::parse(&format!("{},{}", line(1, 1), line(2, 2))).unwrap();
        let mark = keyring.mark(1).unwrap();
        assert_eq!(keyring.check_mark(1, &mark), Ok(()));
        assert_eq!(keyring.check_mark(2, &mark), Err(WalletError::NotDecryptable));
        let replaced = Keyring::parse(&line(1, 9)).unwrap();
        assert_eq!(replaced.check_mark(1, &mark), Err(WalletError::NotDecryptable));
        let missing = WalletError::UnknownKekVersion { version: 1 };
        let only_the_newest = Keyring::parse(&line(2, 2)).unwrap();
        assert_eq!(only_the_newest.check_mark(1, &mark), Err(missing));
        assert_eq!(only_the_newest.mark(1).map(|_| ()), Err(missing));
    }
}
