//! Describes a gap: a revocation journal lacks acts (changes) of its database, for example because its disk was
//! replaced. After a restore of the database, the node repeats the acts of the journal. Revocations that the journal
//! lacks would stay undone.

use std::path::Path;

/// The reason why a journal lacks acts of its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalGap {
    /// The file lost acts: its mark `newest` is lower than `expected`, a mark that the database had some time before.
    /// Each transaction with acts raises the mark.
    Lost { newest: u64, expected: u64 },
    /// The database can have acts from before the journal began.
    Partial,
}

impl JournalGap {
    /// Returns the text for operators.
    pub(super) fn warning(self, path: &Path) -> String {
        let path = path.display();
        let fault = match self {
            Self::Lost { newest, expected } => {
                format!("lost acts: its newest mark is {newest}, and the database has {expected}")
            }
            Self::Partial => "lacks the first revocations of this database".to_owned(),
        };
        format!(
            "the revocation journal {path} {fault}; a restore could undo revocations: put the former file back, or run \
             `sealpost admin journal complete`"
        )
    }
}
