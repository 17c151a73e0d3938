//! Key-encryption keys (KEKs) in several versions. The highest version encrypts new secrets. The other versions only
//! decrypt old secrets.

use std::{collections::BTreeMap, fmt, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use parking_lot::RwLock;
use zeroize::Zeroizing;

use super::locked_pool::{LockedPool, LockedSecret};
use crate::{WalletError, entropy};

/// The key-encryption keys of an installation. Every stored secret is encrypted under one of these keys. Threads share
/// the keyring, and new versions can be added at run time.
pub struct Keyring {
    keys: RwLock<BTreeMap<u32, LockedSecret>>,
    pool: Arc<LockedPool>,
}

/// The reason why the text of a keyring is invalid. An entry of the text is a version and its key. Entries are counted
/// from 1. In a key file with one entry per line, the number of an entry is its line number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// The entry is not `VERSION:BASE64`.
    #[error(
        "line {line} is not VERSION:BASE64: write a version number, a colon and the key in base64"
    )]
    BadLine {
        /// Number of the invalid entry, from 1.
        line: usize,
    },
    /// Two entries have the same version.
    #[error("line {line} repeats version {version}: each version must have one key")]
    DuplicateVersion {
        /// Number of the second entry with this version, from 1.
        line: usize,
        /// The repeated version.
        version: u32,
    },
    /// The text has no key.
    #[error("no key-encryption key found: create one with `sealpost kek new`")]
    Empty,
    /// The entry has version 0. Versions begin at 1.
    #[error("line {line} has version 0: versions begin at 1")]
    VersionZero {
        /// Number of the invalid entry, from 1.
        line: usize,
    },
    /// The key in the entry does not have 32 bytes.
    #[error("line {line} has a key of {length} bytes: it must have 32 bytes")]
    WrongLength {
        /// Number of the invalid entry, from 1.
        line: usize,
        /// Length of the key in bytes.
        length: usize,
    },
}

impl Keyring {
    /// Parses `VERSION:BASE64` entries, one per line or separated by commas. Ignores blank lines
    /// and lines that start with `#`.
    pub fn parse(text: &str) -> Result<Self, KeyringError> {
        let mut keys = BTreeMap::new();
        let pool = Arc::new(LockedPool::default());
        for (line, entry) in (1..).zip(text.lines().flat_map(entries)) {
            if entry.is_empty() || entry.starts_with('#') {
                continue;
            }
            let (version, key) = parse_entry(entry, line)?;
            if keys.insert(version, pool.store(&key)).is_some() {
                return Err(KeyringError::DuplicateVersion { line, version });
            }
        }
        if keys.is_empty() {
            return Err(KeyringError::Empty);
        }
        Ok(Self { keys: RwLock::new(keys), pool })
    }

    /// Returns a keyring of these keys, each with its version.
    pub(super) fn from_keys(keys: impl IntoIterator<Item = (u32, Key)>) -> Self {
        let pool = Arc::new(LockedPool::default());
        let keys = keys.into_iter().map(|(version, key)| (version, pool.store(&key))).collect();
        Self { keys: RwLock::new(keys), pool }
    }

    /// Returns the keys as the lines of a key file.
    pub fn to_lines(&self) -> Result<Zeroizing<String>, WalletError> {
        let versions = self.versions();
        // Allocates the final size at once. A string that grows is copied and leaves a part of the keys in freed
        // memory.
        let mut lines = Zeroizing::new(String::with_capacity(versions.len() * (LINE_LEN_MAX + 1)));
        for version in versions {
            write_line(&mut lines, version, &*self.require(version)?);
            lines.push('\n');
        }
        Ok(lines)
    }

    /// Adds the keys of `other` whose versions this keyring lacks, and returns these versions. If both keyrings have a
    /// version, the key of this keyring stays, because stored secrets are encrypted under that key.
    pub fn add_versions(&self, other: Self) -> Vec<u32> {
        let theirs = other.keys.into_inner();
        let mut keys = self.keys.write();
        let mut learned = Vec::new();
        for (version, key) in theirs {
            keys.entry(version).or_insert_with(|| {
                learned.push(version);
                // Copies the key into the pool of this keyring, because `is_memory_locked` checks only this pool. The
                // memory of the other pool may not be locked.
                self.pool.store(&key.copy())
            });
        }
        learned
    }

    /// Generates a key-encryption key, and returns it as a line of a key file. Fails if `version` is 0.
    pub fn fresh_line(version: u32) -> Result<Zeroizing<String>, WalletError> {
        if version == 0 {
            return Err(WalletError::UnknownKekVersion { version });
        }
        let mut key = Zeroizing::new([0; KEY_LEN]);
        entropy::fill(key.as_mut_slice())?;
        // Allocates the final size at once. A string that grows is copied and leaves a part of the key in freed memory.
        let mut line = Zeroizing::new(String::with_capacity(LINE_LEN_MAX));
        write_line(&mut line, version, &key);
        Ok(line)
    }

    /// Returns the highest version of the key-encryption key, which encrypts new secrets. Returns 0 if the keyring has
    /// no key.
    pub fn newest(&self) -> u32 {
        self.keys.read().keys().next_back().copied().unwrap_or_default()
    }

    /// Returns all versions of the key-encryption key, in ascending order.
    pub fn versions(&self) -> Vec<u32> {
        self.keys.read().keys().copied().collect()
    }

    /// Returns whether all secrets are in locked memory, which the operating system does not swap to disk. `false` if
    /// the operating system's limit for locked memory was too low.
    pub fn is_memory_locked(&self) -> bool {
        self.pool.is_locked()
    }

    /// Copies a decrypted root into the locked memory that also contains the key-encryption keys.
    pub(super) fn hold(&self, secret: &[u8; 32]) -> LockedSecret {
        self.pool.store(secret)
    }

    pub(crate) fn require(&self, version: u32) -> Result<Key, WalletError> {
        let keys = self.keys.read();
        keys.get(&version).map(LockedSecret::copy).ok_or(WalletError::UnknownKekVersion { version })
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("versions", &self.versions()).finish_non_exhaustive()
    }
}

/// Splits a line of a key file into its entries. A comment stays whole, because it may contain commas.
fn entries(line: &str) -> impl Iterator<Item = &str> {
    let separator = if line.trim_start().starts_with('#') { '\n' } else { ',' };
    line.split(separator).map(str::trim)
}

fn write_line(line: &mut String, version: u32, key: &[u8; KEY_LEN]) {
    line.push_str(&version.to_string());
    line.push(':');
    STANDARD.encode_string(key, line);
}

fn parse_entry(entry: &str, line: usize) -> Result<(u32, Key), KeyringError> {
    let bad_line = KeyringError::BadLine { line };
    let (version, encoded) = entry.split_once(':').ok_or(bad_line)?;
    if !version.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(bad_line);
    }
    let version = version.parse().ok().ok_or(bad_line)?;
    if version == 0 {
        return Err(KeyringError::VersionZero { line });
    }
    let decoded = Zeroizing::new(STANDARD.decode(encoded).ok().ok_or(bad_line)?);
    if decoded.len() != KEY_LEN {
        return Err(KeyringError::WrongLength { line, length: decoded.len() });
    }
    let mut key = Zeroizing::new([0; KEY_LEN]);
    key.copy_from_slice(&decoded);
    Ok((version, key))
}

/// A copy of a key-encryption key for one operation, zeroized on drop.
pub(crate) type Key = Zeroizing<[u8; KEY_LEN]>;

const KEY_LEN: usize = 32;
/// Maximum length of a line of a key file: ten digits, a colon and 44 characters of base64.
const LINE_LEN_MAX: usize = 55;

#[cfg(test)]
impl Keyring {
    /// Returns a keyring of these versions. Each key repeats one byte 32 times.
    pub(super) fn from_bytes(keys: &[(u32, u8)]) -> Self {
        Self::from_keys(keys.iter().map(|(version, byte)| (*version, Zeroizing::new([*byte; 32]))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(version: u32, byte: u8) -> String {
        format!("{version}:{}", STANDARD.encode([byte; 32]))
    }

    #[test]
    fn a_key_file_and_a_comma_separated_list_parse_alike() {
        let (old, new) = (line(1, 1), line(7, 7));
        for text in [
            format!("# old, do not use: 1\n\n{old}\r\n  {new} \n"),
            format!("{new},{old}"),
            format!(" {old} ,, {new},"),
        ] {
            let keyring = Keyring::parse(&text).unwrap();
            assert_eq!(keyring.newest(), 7);
            assert_eq!(keyring.versions(), [1, 7]);
            assert_eq!(*keyring.require(1).unwrap(), [1; 32]);
        }
    }

    #[test]
    fn a_keyring_adds_new_versions_and_keeps_existing_keys() {
        let keyring = Keyring::parse(&line(1, 1)).unwrap();
        let other = Keyring::parse(&format!("{},{}", line(1, 9), line(2, 2))).unwrap();
        let pool = Arc::downgrade(&other.pool);
        assert_eq!(keyring.add_versions(other), [2]);
        assert_eq!((keyring.newest(), keyring.versions()), (2, vec![1, 2]));
        assert_eq!(*keyring.require(1).unwrap(), [1; 32]);
        assert!(pool.upgrade().is_none(), "no key is left in the pool of the other keyring");
    }

    #[test]
    fn faults_name_line_and_problem() {
        let good = line(1, 1);
        for (text, fault) in [
            (String::new(), KeyringError::Empty),
            ("# nothing\n\n".to_owned(), KeyringError::Empty),
            (format!("{good}\nrubbish"), KeyringError::BadLine { line: 2 }),
            (format!("{good},2:%%%"), KeyringError::BadLine { line: 2 }),
            (good.replacen("1:", "+1:", 1), KeyringError::BadLine { line: 1 }),
            (good.replacen("1:", ":", 1), KeyringError::BadLine { line: 1 }),
            (good.replacen("1:", "4294967296:", 1), KeyringError::BadLine { line: 1 }),
            (format!("#\n{good}\n{good}"), KeyringError::DuplicateVersion { line: 3, version: 1 }),
            (line(0, 1), KeyringError::VersionZero { line: 1 }),
            ("1:AAAA".to_owned(), KeyringError::WrongLength { line: 1, length: 3 }),
        ] {
            assert_eq!(Keyring::parse(&text).map(|_| ()), Err(fault), "{text}");
            assert!(!fault.to_string().contains(&STANDARD.encode([1; 32])));
        }
    }

    #[test]
    fn a_fresh_line_can_be_parsed() {
        let line = Keyring::fresh_line(u32::MAX).unwrap();
        assert_eq!((line.len(), line.capacity()), (LINE_LEN_MAX, LINE_LEN_MAX));
        assert_eq!(Keyring::parse(&line).unwrap().newest(), u32::MAX);
        assert_ne!(line, Keyring::fresh_line(u32::MAX).unwrap());
        assert!(Keyring::fresh_line(0).is_err());
    }
}
