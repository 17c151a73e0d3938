//! Evidence: a file that proves the fate of one envelope. The file has several entries of a log, and one checkpoint
//! whose tree includes all of them.

use std::fmt;

use thiserror::Error;

use crate::{
    entry::{EXTRA, ProvenEntry, Statement},
    note::{Note, NoteError},
    policy::{Accepted, Policy, Refused},
    proof::verify_inclusion,
};

/// The statement about an envelope, the other statements that this statement refers to, and a checkpoint of a tree that
/// includes all of them. `Display` writes the evidence file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// First the statement of the kind `evidence`, which has the numbers of the other entries. Then the entries with
    /// these numbers, in the same order.
    pub entries: Vec<ProvenEntry>,
    /// The checkpoint with its signatures.
    pub checkpoint: Note,
}

/// The reason why evidence is refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EvidenceError {
    /// The text is malformed.
    #[error("no evidence: {0}")]
    Form(&'static str),
    /// The checkpoint is no note.
    #[error("the checkpoint of the evidence is not readable")]
    Checkpoint(#[source] NoteError),
    /// An entry has another number than the first statement requires, or its statement contradicts the first statement.
    #[error("the entry that the evidence names '{0}' does not belong to it")]
    Foreign(String),
    /// The policy refuses the checkpoint, or the tree of the checkpoint does not include one of the entries.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Evidence {
    /// The kind of the first statement in an evidence file.
    pub const KIND: &'static str = "evidence";
    /// The first line of an evidence file.
    pub const FIRST_LINE: &'static str = "sealpost-evidence/v1";

    /// Parses an evidence file, without verification. Accepts only files that `Display` could have written.
    pub fn parse(text: &str) -> Result<Self, EvidenceError> {
        let form = EvidenceError::Form;
        if text.len() > BYTES_MAX {
            return Err(form("it is longer than 1 MiB"));
        }
        let mut rest = text
            .strip_prefix(Self::FIRST_LINE)
            .and_then(|rest| rest.strip_prefix('\n'))
            .ok_or(form("its first line is not sealpost-evidence/v1"))?;
        let mut entries = Vec::new();
        while rest.starts_with(EXTRA) {
            let (entry, after) =
                rest.split_once("\n\n").ok_or(form("it has no empty line after an entry"))?;
            entries.push(ProvenEntry::parse(entry).ok_or(form("an entry is not readable"))?);
            rest = after;
        }
        let checkpoint = Note::parse(rest).map_err(EvidenceError::Checkpoint)?;
        let evidence = Self { entries, checkpoint };
        if evidence.to_string() == text {
            Ok(evidence)
        } else {
            Err(form("it is not written as the service writes it"))
        }
    }

    /// Verifies the evidence, and returns its checkpoint. `now_s` is the time in seconds since the Unix epoch.
    ///
    /// The first entry is a statement about the envelope, with the numbers of the other entries. Fails if the policy
    /// refuses the checkpoint, if the tree of the checkpoint does not include all entries, or if the other entries are
    /// not exactly those that the first one names.
    pub fn accept(&self, policy: &Policy, now_s: u64) -> Result<Accepted, EvidenceError> {
        let accepted = policy.accept_checkpoint(&self.checkpoint, now_s)?;
        let (size, root) = (accepted.checkpoint.size, accepted.checkpoint.root);
        for ProvenEntry { statement, index, hashes } in &self.entries {
            if !verify_inclusion(statement.entry().hash(), *index, size, hashes, root) {
                return Err(Refused::NotIncluded.into());
            }
        }
        let (evidence, others) = self.entries.split_first().ok_or(NO_ENTRY)?;
        let evidence = &evidence.statement;
        if evidence.kind != Self::KIND {
            return Err(NO_ENTRY);
        }
        let mut others = others.iter();
        for (name, number) in evidence.values().filter(|(name, _)| name.ends_with("_entry")) {
            let other = others.next().ok_or(EvidenceError::Form("it lacks an entry"))?;
            if number != other.index.to_string() || !belongs(name, &other.statement, evidence) {
                return Err(EvidenceError::Foreign(name.to_owned()));
            }
        }
        match others.next() {
            None => Ok(accepted),
            Some(_) => Err(EvidenceError::Form("it has an entry that its first one does not name")),
        }
    }
}

/// Returns true if `statement` is about the object that the line `name` of the evidence refers to:
///
/// - `envelope_entry`: the envelope
/// - `sender_entry` and `recipient_entry`: the key of this party
/// - `sender_badge_entry` and `recipient_badge_entry`: a badge (signed credential) of this party
///
/// Other names return false.
fn belongs(name: &str, statement: &Statement, evidence: &Statement) -> bool {
    let party = name.trim_end_matches("_entry").trim_end_matches("_badge");
    let agree = |statement_name: &str, name: &str| {
        let value = statement.value(statement_name);
        value.is_some() && value == evidence.value(name)
    };
    match name {
        "envelope_entry" => statement
            .envelope
            .as_ref()
            .is_some_and(|envelope| evidence.text.starts_with(&envelope.text)),
        "sender_entry" | "recipient_entry" => {
            statement.kind == "key" && agree("key", party) && agree("did", &format!("{party}_did"))
        }
        "sender_badge_entry" | "recipient_badge_entry" => {
            let badge = format!("{party}_badge");
            statement.kind == "badge" && agree("key", party) && agree("badge", &badge)
        }
        _ => false,
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", Self::FIRST_LINE)?;
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))?;
        write!(f, "{}", self.checkpoint)
    }
}

const NO_ENTRY: EvidenceError =
    EvidenceError::Form("its first entry is not of the kind 'evidence'");
const BYTES_MAX: usize = 1024 * 1024;

#[cfg(test)]
mod tests;
