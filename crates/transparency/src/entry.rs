//! The entries of the log, and the statements behind them.
//!
//! A statement is a text about an object, such as a key, a badge or the envelopes of a batch. The public log contains
//! only entries: a kind, a time and a commitment, which is the hash of a random salt and the statement. The entries
//! therefore contain no names of accounts or keys. A reader of the log who guesses a statement cannot check the guess
//! without the salt.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::{
    envelopes::EnvelopePlace,
    hash::TreeHash,
    tile::{PATH_MAX, parse_decimal},
};

/// An entry of the transparency log: the hash of a [`Statement`], with its kind and time. `Display` writes the text of
/// the entry. The hash of this text is a leaf of the log's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The kind of object that the statement describes, such as `key`.
    pub kind: String,
    /// The time at which the entry was appended, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// SHA-256 of a fixed prefix, the salt and the text of the statement.
    pub commitment: [u8; 32],
}

/// A text about an object, such as a key, with all data from which its [`Entry`] in the log is computed. `Display`
/// writes the [`extra`](crate::LogProof::extra) data of a proof file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The kind of object that the statement describes, such as `key`.
    pub kind: String,
    /// The time at which the entry was appended, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Random bytes. Without them, the entry cannot be linked to the statement.
    pub salt: [u8; 32],
    /// The text of the statement. Each line has a name and a value, such as `status active`.
    pub text: String,
    /// The envelope that a proof is about. Only statements of the kind `envelopes` have one. The commitment covers the
    /// envelope only through `text`, which contains the root hash of a tree that includes the envelope.
    pub envelope: Option<EnvelopePlace>,
}

/// A statement, with the proof that the tree of a checkpoint includes its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenEntry {
    /// The statement.
    pub statement: Statement,
    /// The number of the statement's entry in the log.
    pub index: u64,
    /// The hashes of the inclusion proof.
    pub hashes: Vec<TreeHash>,
}

impl Statement {
    /// Computes the entry of this statement in the log.
    pub fn entry(&self) -> Entry {
        let commitment = Sha256::new()
            .chain_update(b"sealpost/log/v1/commitment\n")
            .chain_update(self.salt)
            .chain_update(&self.text)
            .finalize();
        Entry { kind: self.kind.clone(), at_ms: self.at_ms, commitment: commitment.into() }
    }

    /// Reads the extra data of a proof file. `None` if the data is not a statement, or if the statement does not
    /// include the envelope in the data.
    pub fn parse(extra: &[u8]) -> Option<Self> {
        let mut lines = str::from_utf8(extra).ok()?.splitn(4, '\n');
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let kind = value("kind").filter(|kind| is_kind(kind))?.to_owned();
        let at_ms = parse_decimal(value("time")?)?;
        let salt = STANDARD.decode(value("salt")?).ok()?.try_into().ok()?;
        let rest = lines.next()?;
        let Some((text, envelope)) = rest.split_once("\n\n") else {
            return Some(Self { kind, at_ms, salt, text: rest.to_owned(), envelope: None });
        };
        let (text, envelope) = (format!("{text}\n"), EnvelopePlace::parse(envelope)?);
        let is_proven = kind == "envelopes" && envelope.is_in(&text);
        is_proven.then_some(Self { kind, at_ms, salt, text, envelope: Some(envelope) })
    }

    /// Returns the names and values of all lines of the statement, then those of its envelope.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let envelope = self.envelope.as_ref().map_or("", |envelope| &envelope.text);
        self.text.lines().chain(envelope.lines()).filter_map(|line| line.split_once(' '))
    }

    /// Returns the value of the first line with this name, in the statement or its envelope. `None` if there is no such
    /// line.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values().find_map(|(found, value)| (found == name).then_some(value))
    }
}

impl Entry {
    /// Returns the hash of the entry, which is a leaf of the log's tree.
    pub fn hash(&self) -> TreeHash {
        TreeHash::leaf(self.to_string().as_bytes())
    }
}

impl ProvenEntry {
    /// Reads the lines of one entry in a file of [`Evidence`](crate::Evidence). `None` if the lines are malformed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        let extra = STANDARD.decode(lines.next()?.strip_prefix(EXTRA)?).ok()?;
        let statement = Statement::parse(&extra)?;
        let index = parse_decimal(lines.next()?.strip_prefix("index ")?)?;
        let hashes = lines.map(TreeHash::parse).collect::<Option<Vec<_>>>()?;
        (hashes.len() <= PATH_MAX).then_some(Self { statement, index, hashes })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, at_ms, commitment } = self;
        write!(f, "sealpost/log/v1\n{kind}\n{at_ms}\n{}\n", STANDARD.encode(commitment))
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, at_ms, salt, text, envelope } = self;
        write!(f, "kind {kind}\ntime {at_ms}\nsalt {}\n{text}", STANDARD.encode(salt))?;
        envelope.iter().try_for_each(|envelope| write!(f, "\n{envelope}"))
    }
}

impl fmt::Display for ProvenEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statement, index, hashes } = self;
        writeln!(f, "{EXTRA}{}\nindex {index}", STANDARD.encode(statement.to_string()))?;
        hashes.iter().try_for_each(|hash| writeln!(f, "{hash}"))
    }
}

fn is_kind(kind: &str) -> bool {
    (1..=20).contains(&kind.len()) && kind.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The beginning of a line with a statement in base64.
pub(crate) const EXTRA: &str = "extra ";

#[cfg(test)]
mod tests {
    use super::*;

    fn statement() -> Statement {
        Statement {
            kind: "key".to_owned(),
            at_ms: 1_700_000_000_000,
            salt: [7; 32],
            text: "key ak_1\nstatus active\n".to_owned(),
            envelope: None,
        }
    }

    #[test]
    fn a_statement_is_read_from_its_extra_data() {
        let extra = statement().to_string();
        assert_eq!(Statement::parse(extra.as_bytes()), Some(statement()));
        assert_eq!(statement().value("status"), Some("active"));
        assert_eq!(statement().value("did"), None);
        for (from, to) in
            [("kind key", "kind KEY"), ("time 1", "time 01"), ("salt B", "salt "), ("kind", "k")]
        {
            assert_eq!(Statement::parse(extra.replacen(from, to, 1).as_bytes()), None, "{from}");
        }
    }

    /// Tests the entry of a fixed statement, with a commitment that an independent program computed. The commitment
    /// must never change.
    #[test]
    fn the_entry_of_a_statement_never_changes() {
        assert_eq!(
            statement().entry().to_string(),
            format!("sealpost/log/v1\nkey\n1700000000000\n{PINNED}\n")
        );
    }

    #[test]
    fn each_part_of_a_statement_changes_its_entry() {
        let entry = statement().entry();
        for other in [
            Statement { kind: "badge".to_owned(), ..statement() },
            Statement { at_ms: 1, ..statement() },
            Statement { salt: [8; 32], ..statement() },
            Statement { text: "key ak_2\nstatus active\n".to_owned(), ..statement() },
        ] {
            assert_ne!(other.entry().hash(), entry.hash(), "{other}");
        }
    }

    const PINNED: &str = "L8qhRps/ycXFLun+ChDwYOQWWLnD402/NtPHRArmM9o=";
}
