//! Checkpoints: the size and the root hash of a log, as the text of a signed note (tlog-checkpoint).

use std::fmt;

use thiserror::Error;

use crate::{hash::TreeHash, tile::parse_decimal};

/// The state of a transparency log: its name, its size and its root hash. `Display` writes the text of a signed note,
/// without signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log, a URL without its scheme.
    pub origin: String,
    /// The number of entries in the log.
    pub size: u64,
    /// The root hash of the log's tree.
    pub root: TreeHash,
}

/// The error for a text that is not a checkpoint.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("no checkpoint: its first three lines are the origin, the size and the root hash")]
pub struct CheckpointError;

impl Checkpoint {
    /// Parses the text of a signed note. Ignores further lines, which logs may add. Rejects an origin with a control
    /// character, because this character could control a terminal that shows the origin.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        let mut lines = text.split('\n');
        let mut next = || lines.next().filter(|line| !line.is_empty()).ok_or(CheckpointError);
        let origin = next()?.to_owned();
        if origin.contains(char::is_control) {
            return Err(CheckpointError);
        }
        let size = parse_decimal(next()?).ok_or(CheckpointError)?;
        let root = TreeHash::parse(next()?).ok_or(CheckpointError)?;
        Ok(Self { origin, size, root })
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, size, root } = self;
        write!(f, "{origin}\n{size}\n{root}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_and_its_text_are_the_same() {
        let checkpoint =
            Checkpoint { origin: "example.org/log".to_owned(), size: 7, root: TreeHash([1; 32]) };
        let text = "example.org/log\n7\nAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n";
        assert_eq!(checkpoint.to_string(), text);
        assert_eq!(Checkpoint::parse(text), Ok(checkpoint.clone()));
        assert_eq!(Checkpoint::parse(&format!("{text}extension\n")), Ok(checkpoint));
        let (log, control) = ("example.org/log", "example.org\u{9b}2K");
        for wrong in [("7", "07"), ("7", "-7"), ("7", ""), ("E=", "E"), (log, ""), (log, control)] {
            assert_eq!(Checkpoint::parse(&text.replace(wrong.0, wrong.1)), Err(CheckpointError));
        }
    }
}
