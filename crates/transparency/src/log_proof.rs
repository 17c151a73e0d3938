//! Proof files, which show the inclusion of an entry without the network (tlog-proof).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use thiserror::Error;

use crate::{
    hash::TreeHash,
    note::{Note, NoteError},
    tile::{PATH_MAX, parse_decimal},
};

/// The proof that an entry is in the tree of a checkpoint. `Display` is the proof file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogProof {
    /// The text of the [`Statement`](crate::Statement) from which a verifier computes the entry. The signatures do not
    /// cover this text. The text is proven only if the tree includes the computed entry.
    pub extra: Vec<u8>,
    /// The number of the entry in the log.
    pub index: u64,
    /// The hashes of the inclusion proof.
    pub hashes: Vec<TreeHash>,
    /// The checkpoint with its signatures.
    pub checkpoint: Note,
}

/// The reason why a text is no proof file.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LogProofError {
    /// The text before the checkpoint is malformed.
    #[error("no proof file: {0}")]
    Form(&'static str),
    /// The checkpoint is no note.
    #[error("the checkpoint of the proof file is not readable")]
    Checkpoint(#[source] NoteError),
}

impl LogProof {
    /// Reads a proof file, without verification.
    pub fn parse(text: &str) -> Result<Self, LogProofError> {
        let (head, checkpoint) = text
            .split_once("\n\n")
            .ok_or(LogProofError::Form("it has no empty line before the checkpoint"))?;
        let mut lines = head.split('\n').peekable();
        if lines.next() != Some(FIRST_LINE) {
            return Err(LogProofError::Form("its first line is not c2sp.org/tlog-proof@v1"));
        }
        let extra = lines.next_if(|line| line.starts_with("extra "));
        let extra = extra.and_then(|line| line.strip_prefix("extra ")).unwrap_or_default();
        let extra = STANDARD
            .decode(extra)
            .ok()
            .ok_or(LogProofError::Form("its extra data is not base64"))?;
        let index = lines.next().and_then(|line| parse_decimal(line.strip_prefix("index ")?));
        let index = index.ok_or(LogProofError::Form("it has no line with the index"))?;
        let hashes: Vec<_> = lines
            .map(TreeHash::parse)
            .collect::<Option<_>>()
            .ok_or(LogProofError::Form("a line after the index is no hash"))?;
        if hashes.len() > PATH_MAX {
            return Err(LogProofError::Form("it has more than 64 hashes"));
        }
        let checkpoint = Note::parse(checkpoint).map_err(LogProofError::Checkpoint)?;
        Ok(Self { extra, index, hashes, checkpoint })
    }
}

impl fmt::Display for LogProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}")?;
        if !self.extra.is_empty() {
            writeln!(f, "extra {}", STANDARD.encode(&self.extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        self.hashes.iter().try_for_each(|hash| writeln!(f, "{hash}"))?;
        write!(f, "\n{}", self.checkpoint)
    }
}

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";
