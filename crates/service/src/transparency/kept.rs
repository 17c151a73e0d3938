//! Keeps the newest signed checkpoint in a file outside the database, to detect a database that was restored from an
//! older backup. The log of this database lacks entries of the checkpoint. If a node then signed other entries with the
//! same numbers, the log would have two different histories (a fork). Therefore the node does not extend the log.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
    process,
};

use parking_lot::Mutex;
use sealpost_domain::{
    ports::{LogHead, StoreError},
    with_causes,
};
use sealpost_storage::{Database, Reader, owned_file};
use sealpost_transparency::{Checkpoint, Note, TileTree};
use thiserror::Error;

use super::stored::{read_tile, refused};

/// The reason why a node appends nothing to the transparency log.
#[derive(Debug, Error)]
pub(crate) enum KeptError {
    /// The log in the database lacks entries of the checkpoint in the file, or has other entries instead.
    #[error(
        "the transparency log in the database lacks entries of the {signed} that this node has seen signed ({file}): \
        the database is older. Restore a newer database, or start a new log with 'sealpost admin log restart'"
    )]
    Older { signed: u64, file: String },
    /// The content of the file is no checkpoint.
    #[error(
        "{0} is no checkpoint: restore the file, or delete it if the database was not restored"
    )]
    Unreadable(String),
    #[error("the checkpoint file {0} cannot be read")]
    File(String, #[source] io::Error),
    #[error("the checkpoint file {0} cannot be written")]
    Unwritable(String, #[source] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<KeptError> for StoreError {
    fn from(fault: KeptError) -> Self {
        match fault {
            KeptError::Store(error) => error,
            other => refused(other),
        }
    }
}

/// The checkpoint (signed size and root hash of the log) from a file outside the database.
pub(super) struct KeptCheckpoint {
    checkpoint: Checkpoint,
    file: String,
}

impl KeptCheckpoint {
    /// Reads the checkpoint file; `None` if the file does not exist.
    pub(super) fn read(file: &Path) -> Result<Option<Self>, KeptError> {
        let name = file.display().to_string();
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(KeptError::File(name, error)),
        };
        match parse(&text) {
            Some(checkpoint) => Ok(Some(Self { checkpoint, file: name })),
            None => Err(KeptError::Unreadable(name)),
        }
    }

    /// Returns true if the signed checkpoint `other` belongs to the same log and has fewer entries, or belongs to an
    /// earlier log, which a restart has ended.
    fn is_newer_than(&self, other: &str) -> bool {
        let Some(other) = parse(other) else { return false };
        let (kept_name, kept_number) = numbered(&self.checkpoint.origin);
        let (name, number) = numbered(&other.origin);
        kept_name == name && (kept_number, self.checkpoint.size) > (number, other.size)
    }

    /// Accepts a log that begins with all entries of the checkpoint, a log that a later restart has begun, and a log
    /// with an unrelated name. Refuses any other log: it lacks entries, or a restart has ended it. Read `head` after
    /// the file, because nodes replace the file.
    pub(super) fn require(&self, reader: &mut Reader, head: &LogHead) -> Result<(), KeptError> {
        let Checkpoint { origin, size, root } = &self.checkpoint;
        let (kept_name, kept_number) = numbered(origin);
        let (name, number) = numbered(&head.origin);
        if kept_name != name || kept_number < number {
            return Ok(());
        }
        if kept_number == number && *size <= head.size {
            let found = TileTree::new(*size, |tile| read_tile(reader, tile)).root();
            if found.map_err(StoreError::from)? == *root {
                return Ok(());
            }
        }
        Err(KeptError::Older { signed: *size, file: self.file.clone() })
    }
}

/// Compares the transparency log with the checkpoint in `file`. Returns the reason, for operators, why a node with this
/// file does not extend the log. Returns `None` if the node extends the log. Blocks the thread.
pub fn find_log_fault(store: &Database, file: &Path) -> Result<Option<String>, StoreError> {
    let kept = KeptCheckpoint::read(file);
    let checked = kept.and_then(|kept| match (kept, store.read(Reader::log_head)?) {
        (Some(kept), Some(head)) => store.read(|reader| kept.require(reader, &head)),
        (None, _) | (_, None) => Ok(()),
    });
    match checked {
        Ok(()) => Ok(None),
        // A damaged log is a reason for operators, not an error: the log is not extended, but the rest of the service
        // works.
        Err(KeptError::Store(error @ (StoreError::Corrupt(_) | StoreError::Refused(_)))) => {
            Ok(Some(format!("the transparency log is damaged: {}", with_causes(&error))))
        }
        Err(KeptError::Store(error)) => Err(error),
        Err(fault) => Ok(Some(with_causes(&fault))),
    }
}

/// Replaces the content of the file by `checkpoint`, unless the file has a newer checkpoint of the same log. A failure
/// only causes a warning, because the transparency log itself is intact.
pub(super) fn keep(file: &Path, checkpoint: &str) {
    // Transactions commit in the order of their checkpoints, but their threads can come here in another order.
    let _alone = REPLACEMENT.lock();
    if let Err(fault) = replace(file, checkpoint) {
        let error = with_causes(&fault);
        tracing::warn!(%error, file = %file.display(), "the checkpoint of the transparency log cannot be kept");
    }
}

fn replace(file: &Path, checkpoint: &str) -> Result<(), KeptError> {
    if let Some(kept) = KeptCheckpoint::read(file)?
        && kept.is_newer_than(checkpoint)
    {
        return Ok(());
    }
    // The name contains the process id, because several nodes can share the folder.
    let new = file.with_extension(format!("{}.new", process::id()));
    let write = || {
        owned_file::remove_if_present(&new)?;
        let mut written = owned_file::create(OpenOptions::new().write(true), &new)?;
        written.write_all(checkpoint.as_bytes())?;
        written.sync_all()?;
        fs::rename(&new, file)?;
        owned_file::sync_folder_of(file)
    };
    write().map_err(|error| KeptError::Unwritable(file.display().to_string(), error))
}

/// Splits the name of a log into the name of the first log and a number: 1 for the first log `example.org/log`, and 2
/// for `example.org/log/2`, which the first restart of the log has begun.
pub(crate) fn numbered(name: &str) -> (&str, u32) {
    name.rsplit_once('/')
        .filter(|(first, _)| first.ends_with("/log"))
        .and_then(|(first, number)| Some((first, number.parse().ok()?)))
        .unwrap_or((name, 1))
}

fn parse(note: &str) -> Option<Checkpoint> {
    Note::parse(note).ok().and_then(|note| Checkpoint::parse(note.text()).ok())
}

/// Held while a thread of this process replaces a checkpoint file.
static REPLACEMENT: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use sealpost_transparency::{SignatureLine, SignatureType, TreeHash, VerifierKey};

    use super::*;

    fn signed(origin: &str, size: u64) -> String {
        let key = VerifierKey::new(origin, SignatureType::Ed25519, &[7; 32]).unwrap();
        let text = Checkpoint { origin: origin.to_owned(), size, root: TreeHash([1; 32]) };
        Note::new(text.to_string(), vec![SignatureLine::by_log(&key, [2; 64])]).to_string()
    }

    #[test]
    fn an_older_checkpoint_of_the_same_log_replaces_no_newer_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.checkpoint");
        let steps = [
            ("a.example/log", 7, 7),
            ("a.example/log", 9, 9),
            ("a.example/log", 8, 9),
            ("a.example/log", 9, 9),
            ("a.example/log-2", 1, 1),
        ];
        for (origin, size, kept) in steps {
            keep(&file, &signed(origin, size));
            assert_eq!(fs::read_to_string(&file).unwrap(), signed(origin, kept));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
    }

    #[test]
    fn a_checkpoint_of_an_ended_log_replaces_none_of_a_later_log() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.checkpoint");
        for (origin, size, kept) in [
            ("a.example/log", 7, ("a.example/log", 7)),
            ("a.example/log/2", 1, ("a.example/log/2", 1)),
            ("a.example/log", 8, ("a.example/log/2", 1)),
            ("a.example/log/10", 1, ("a.example/log/10", 1)),
            ("a.example/log/9", 5, ("a.example/log/10", 1)),
        ] {
            keep(&file, &signed(origin, size));
            assert_eq!(fs::read_to_string(&file).unwrap(), signed(kept.0, kept.1));
        }
    }

    #[test]
    fn a_damaged_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.checkpoint");
        fs::write(&file, "damaged").unwrap();
        keep(&file, &signed("a.example/log", 7));
        assert_eq!(fs::read_to_string(&file).unwrap(), "damaged");
    }
}
