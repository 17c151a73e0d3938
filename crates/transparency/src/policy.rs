//! The policy of a verifier: the logs and witnesses that the verifier trusts, in the text format tlog-policy.
//!
//! Differs from tlog-policy in three points:
//! - A line `max-age SECONDS` sets the maximum age of cosignatures. Older cosignatures are ignored.
//! - A quorum that half of the witnesses or fewer can satisfy is rejected.
//! - A policy with two keys of one witness is rejected.

use std::collections::HashSet;

use thiserror::Error;

use crate::{
    checkpoint::{Checkpoint, CheckpointError},
    cose::CoseReceipt,
    entry::Entry,
    key::{KeyError, VerifierKey},
    log_proof::LogProof,
    note::{Note, NoteError},
    proof::verify_inclusion,
    tile::parse_decimal,
};

/// The logs and witnesses that a verifier trusts.
#[derive(Debug, Clone)]
pub struct Policy {
    logs: Vec<VerifierKey>,
    members: Vec<Member>,
    quorum: Quorum,
    max_age_s: Option<u64>,
}

/// The witnesses that must have cosigned a checkpoint.
#[derive(Debug, Clone, Copy)]
enum Quorum {
    /// The witness or the group at this index of [`Policy::members`].
    Member(usize),
    /// No witness is required: the log alone is trusted.
    NoWitness,
}

/// A line `witness` or `group` of the policy. The members of a group are earlier lines.
#[derive(Debug, Clone)]
struct Member {
    name: String,
    kind: MemberKind,
    /// The smallest number of witnesses whose cosignatures satisfy this line; 1 for a single witness.
    least: usize,
}

#[derive(Debug, Clone)]
enum MemberKind {
    Group { threshold: usize, members: Vec<usize> },
    Witness(VerifierKey),
}

/// A checkpoint that a policy accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The names of the witnesses with a valid cosignature that is not older than the `max-age` of the policy.
    pub witnesses: Vec<String>,
}

/// The reason why a policy refuses a checkpoint or a proof.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Refused {
    /// The text of the note is no checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The tree of the checkpoint does not include the entry.
    #[error("the checkpoint does not include the entry")]
    NotIncluded,
    /// Too few witnesses have cosigned, or their cosignatures are too old.
    #[error("the quorum is missing: {counted} of {known} witnesses have a cosignature that counts{age}", age = age(*.max_age_s))]
    Quorum {
        /// The number of witnesses with a valid cosignature that is not older than the `max-age` of the policy.
        counted: usize,
        /// The number of witnesses in the policy.
        known: usize,
        /// The `max-age` of the policy in seconds. `None` if the policy has no `max-age`.
        max_age_s: Option<u64>,
    },
    /// A signature is wrong.
    #[error(transparent)]
    Signature(#[from] NoteError),
    /// No log of the policy has signed the checkpoint.
    #[error("no log of the policy has signed the checkpoint of '{0}'")]
    UnknownLog(String),
}

/// The reason why a text is no usable policy.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PolicyError {
    /// A line is malformed.
    #[error("line {line} of the policy: {reason}")]
    Line {
        /// The number of the line.
        line: usize,
        /// The fault of the line.
        reason: String,
    },
    /// Half of the witnesses, or fewer, can satisfy the quorum.
    #[error(
        "the policy's quorum needs {least} of {known} witnesses: require more than half of them"
    )]
    Minority {
        /// The smallest number of witnesses that satisfies the quorum.
        least: usize,
        /// The number of witnesses in the policy.
        known: usize,
    },
    /// A line is missing.
    #[error("the policy has no line '{0}'")]
    Missing(&'static str),
    /// The policy limits the age of checkpoints, but names no witness, and only witnesses confirm a time.
    #[error("the policy has a max-age, but no witness: only witnesses confirm a time")]
    NoTime,
}

impl Policy {
    /// Reads a policy.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let mut draft = Draft::default();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<_> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
            let read = match words.split_first() {
                None => Ok(()),
                Some((first, _)) if first.starts_with('#') => Ok(()),
                Some((first, rest)) => draft.read(first, rest),
            };
            read.map_err(|reason| PolicyError::Line { line: number + 1, reason })?;
        }
        draft.finish()
    }

    /// Verifies a proof of an entry, and returns its checkpoint. Fails if the policy refuses the checkpoint, or if the
    /// tree of the checkpoint does not include the entry. `now_s` is the time in seconds since the Unix epoch.
    pub fn accept(&self, proof: &LogProof, entry: &Entry, now_s: u64) -> Result<Accepted, Refused> {
        let accepted = self.accept_checkpoint(&proof.checkpoint, now_s)?;
        let Checkpoint { size, root, .. } = accepted.checkpoint;
        if verify_inclusion(entry.hash(), proof.index, size, &proof.hashes, root) {
            Ok(accepted)
        } else {
            Err(Refused::NotIncluded)
        }
    }

    /// Verifies a checkpoint. A log of the policy must have signed the checkpoint, and its cosignatures must satisfy
    /// the quorum. `now_s` is the time in seconds since the Unix epoch.
    pub fn accept_checkpoint(&self, note: &Note, now_s: u64) -> Result<Accepted, Refused> {
        let checkpoint = Checkpoint::parse(note.text())?;
        let log = self.logs.iter().find(|log| log.name() == checkpoint.origin);
        if !log.map_or(Ok(false), |log| note.is_signed_by(log))? {
            return Err(Refused::UnknownLog(checkpoint.origin));
        }
        let mut cosigned = Vec::new();
        for member in &self.members {
            if let MemberKind::Witness(key) = &member.kind
                && note.cosigned_at(key)?.is_some_and(|at| self.counts(at, now_s))
            {
                cosigned.push(member.name.clone());
            }
        }
        self.require_quorum(&cosigned)?;
        Ok(Accepted { checkpoint, witnesses: cosigned })
    }

    /// Verifies a COSE receipt. A receipt has no cosignatures, so a policy whose quorum requires a witness refuses
    /// every receipt.
    pub fn accept_receipt(&self, receipt: &CoseReceipt) -> Result<Accepted, Refused> {
        let checkpoint = receipt.checkpoint.clone();
        if receipt.signer(&self.logs).is_none() {
            return Err(Refused::UnknownLog(checkpoint.origin));
        }
        self.require_quorum(&[])?;
        Ok(Accepted { checkpoint, witnesses: Vec::new() })
    }

    fn require_quorum(&self, cosigned: &[String]) -> Result<(), Refused> {
        let is_witnessed = match self.quorum {
            Quorum::Member(member) => self.is_satisfied(member, cosigned),
            Quorum::NoWitness => true,
        };
        if is_witnessed {
            return Ok(());
        }
        let known = self.members.iter().filter(|member| member.key().is_some()).count();
        Err(Refused::Quorum { counted: cosigned.len(), known, max_age_s: self.max_age_s })
    }

    fn counts(&self, at_s: u64, now_s: u64) -> bool {
        at_s <= now_s.saturating_add(AHEAD_MAX_S)
            && self.max_age_s.is_none_or(|max| at_s.saturating_add(max) >= now_s)
    }

    fn is_satisfied(&self, member: usize, cosigned: &[String]) -> bool {
        let Some(member) = self.members.get(member) else { return false };
        match &member.kind {
            MemberKind::Witness(_) => cosigned.contains(&member.name),
            MemberKind::Group { threshold, members } => {
                members.iter().filter(|member| self.is_satisfied(**member, cosigned)).count()
                    >= *threshold
            }
        }
    }
}

impl Member {
    fn key(&self) -> Option<&VerifierKey> {
        match &self.kind {
            MemberKind::Witness(key) => Some(key),
            MemberKind::Group { .. } => None,
        }
    }
}

/// The lines of a policy that were read so far.
#[derive(Default)]
struct Draft {
    logs: Vec<VerifierKey>,
    members: Vec<Member>,
    grouped: HashSet<usize>,
    quorum: Option<Quorum>,
    max_age_s: Option<u64>,
}

impl Draft {
    fn read(&mut self, first: &str, rest: &[&str]) -> Result<(), String> {
        match (first, rest) {
            ("log", [key] | [key, _]) => self.read_log(key),
            ("witness", [name, key] | [name, key, _]) => self.read_witness(name, key),
            ("group", [name, threshold, members @ ..]) if !members.is_empty() => {
                self.read_group(name, threshold, members)
            }
            ("quorum", [name]) if self.quorum.is_none() => {
                let is_none = *name == NONE;
                let quorum =
                    if is_none { Quorum::NoWitness } else { Quorum::Member(self.find(name)?) };
                self.quorum = Some(quorum);
                Ok(())
            }
            ("max-age", [seconds]) if self.max_age_s.is_none() => {
                let seconds = parse_decimal(seconds).ok_or("a max-age is a number of seconds")?;
                self.max_age_s = Some(seconds);
                Ok(())
            }
            _ => Err(
                "expected one 'log KEY', 'witness NAME KEY', 'group NAME all|any|NUMBER MEMBER…', \
                'quorum NAME' or 'max-age SECONDS'"
                    .to_owned(),
            ),
        }
    }

    fn read_log(&mut self, key: &str) -> Result<(), String> {
        let key = parse_key(key, false)?;
        if self
            .logs
            .iter()
            .any(|log| log.public_key() == key.public_key() || log.name() == key.name())
        {
            return Err(format!("the log '{}' is there already", key.name()));
        }
        self.logs.push(key);
        Ok(())
    }

    fn read_witness(&mut self, name: &str, key: &str) -> Result<(), String> {
        let key = parse_key(key, true)?;
        let others = || self.members.iter().filter_map(Member::key);
        if others().any(|other| other.public_key() == key.public_key()) {
            return Err(format!("the key of the witness '{name}' is there already"));
        }
        // Refuses a second key of the same witness, because its cosignatures would count as those of two witnesses.
        if others().any(|other| other.name() == key.name()) {
            let witness = key.name();
            return Err(format!("another key of '{witness}' is there already: name one of them"));
        }
        self.add(name, MemberKind::Witness(key), 1)
    }

    fn read_group(&mut self, name: &str, threshold: &str, members: &[&str]) -> Result<(), String> {
        let members: Vec<_> =
            members.iter().map(|member| self.find(member)).collect::<Result<_, _>>()?;
        if !members.iter().all(|member| self.grouped.insert(*member)) {
            return Err("a member is in a group already".to_owned());
        }
        let threshold = match threshold {
            "all" => members.len(),
            "any" => 1,
            number => parse_decimal(number)
                .and_then(|number| usize::try_from(number).ok())
                .filter(|number| (1..=members.len()).contains(number))
                .ok_or_else(|| format!("the threshold is all, any, or 1 to {}", members.len()))?,
        };
        let mut least: Vec<_> =
            members.iter().filter_map(|member| Some(self.members.get(*member)?.least)).collect();
        least.sort_unstable();
        let least = least.iter().take(threshold).sum();
        self.add(name, MemberKind::Group { threshold, members }, least)
    }

    fn add(&mut self, name: &str, kind: MemberKind, least: usize) -> Result<(), String> {
        if name == NONE || self.members.iter().any(|member| member.name == name) {
            return Err(format!("the name '{name}' is taken"));
        }
        if self.members.len() >= MEMBERS_MAX {
            return Err(format!("a policy has at most {MEMBERS_MAX} witnesses and groups"));
        }
        self.members.push(Member { name: name.to_owned(), kind, least });
        Ok(())
    }

    fn find(&self, name: &str) -> Result<usize, String> {
        let place = self.members.iter().position(|member| member.name == name);
        place.ok_or_else(|| format!("no witness or group '{name}' stands before this line"))
    }

    fn finish(self) -> Result<Policy, PolicyError> {
        let Self { logs, members, quorum, max_age_s, .. } = self;
        if logs.is_empty() {
            return Err(PolicyError::Missing("log"));
        }
        let quorum = quorum.ok_or(PolicyError::Missing("quorum"))?;
        let known = members.iter().filter(|member| member.key().is_some()).count();
        let least = match quorum {
            Quorum::Member(member) => members.get(member).map_or(0, |member| member.least),
            Quorum::NoWitness => 0,
        };
        if known > 0 && least * 2 <= known {
            return Err(PolicyError::Minority { least, known });
        }
        if known == 0 && max_age_s.is_some() {
            return Err(PolicyError::NoTime);
        }
        Ok(Policy { logs, members, quorum, max_age_s })
    }
}

fn parse_key(text: &str, is_of_witness: bool) -> Result<VerifierKey, String> {
    let key = VerifierKey::parse(text).map_err(|fault: KeyError| fault.to_string())?;
    match (is_of_witness, key.signature_type().is_of_witness()) {
        (true, false) => Err(format!("'{}' is the key of a log, not of a witness", key.name())),
        (false, true) => Err(format!("'{}' is the key of a witness, not of a log", key.name())),
        (true, true) | (false, false) => Ok(key),
    }
}

fn age(max_age_s: Option<u64>) -> String {
    max_age_s.map(|max| format!(" and is at most {max} s old")).unwrap_or_default()
}

/// The name of the quorum that requires no witness, in a line `quorum none`.
const NONE: &str = "none";
/// Maximum time in seconds by which the clock of a witness may be ahead of the verifier's clock. A cosignature with a
/// later time is ignored.
const AHEAD_MAX_S: u64 = 60;
const MEMBERS_MAX: usize = 128;

#[cfg(test)]
mod tests;
