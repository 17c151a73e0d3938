//! Reads the file of key-encryption keys every second and loads new key versions without a restart. Logs an invalid
//! file once and keeps the loaded keys.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use sealpost_service::unlock;
use sealpost_wallet::Keyring;
use zeroize::Zeroizing;

use super::source::{parse_file, read_text};
use crate::error::{Failure, NodeError};
use sealpost_storage::Database;

/// The time between two reads of the key file.
pub(crate) const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// Runs a thread that watches the key file. The thread ends when the watch is stopped or dropped.
pub(crate) struct KeyFileWatch(Mutex<Option<(Sender<()>, JoinHandle<()>)>>);

impl KeyFileWatch {
    /// Starts the thread, which adds new key versions of the file to `keyring`.
    pub(crate) fn start(
        file: &Path,
        keyring: Arc<Keyring>,
        database: Arc<Database>,
    ) -> io::Result<Self> {
        let file = file.to_owned();
        let mut reader = KeyFileReader { file, keyring, database, loaded: None, logged: None };
        let (stop, stopped) = channel();
        let watcher = thread::Builder::new().name("kek-watch".to_owned()).spawn(move || {
            while stopped.recv_timeout(WATCH_PERIOD) == Err(RecvTimeoutError::Timeout) {
                reader.poll();
            }
        })?;
        Ok(Self(Mutex::new(Some((stop, watcher)))))
    }

    /// Stops the thread and waits for its end.
    pub(crate) fn stop(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, watcher)) = running {
            drop(stop);
            if watcher.join().is_err() {
                tracing::error!("the thread that watches the key file has panicked");
            }
        }
    }
}

/// Reads the key file. Loads its keys if the text of the file differs from the text that was loaded last.
struct KeyFileReader {
    file: PathBuf,
    keyring: Arc<Keyring>,
    database: Arc<Database>,
    /// The text of the key file that was loaded last.
    loaded: Option<Zeroizing<String>>,
    /// The error of the last read. The same error is not logged again.
    logged: Option<String>,
}

impl KeyFileReader {
    fn poll(&mut self) {
        self.logged = match self.read() {
            Ok(()) => None,
            Err(fault) => {
                let text = fault.with_causes();
                if self.logged.as_ref() != Some(&text) {
                    tracing::error!(error = %text, "the key file cannot be loaded; the keys stay as they were");
                }
                Some(text)
            }
        };
    }

    fn read(&mut self) -> Result<(), NodeError> {
        let text = read_text(&self.file)?;
        if self.loaded.as_ref() == Some(&text) {
            return Ok(());
        }
        self.load(parse_file(&self.file, &text)?)?;
        self.loaded = Some(text);
        Ok(())
    }

    /// Adds new key versions of the file to the keyring. Rejects the file in two cases, like a node at its start: a key
    /// with a mark in the database is missing in the file, or differs from the key that made the mark.
    fn load(&self, read: Keyring) -> Result<(), NodeError> {
        unlock(&read, &self.database).map_err(|fault| NodeError::Keys(Failure::of(fault)))?;
        let added = self.keyring.add_versions(read);
        if !added.is_empty() {
            tracing::info!(kek.versions = ?added, "loaded new key-encryption keys");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use sealpost_storage::{DatabaseUrl, Settings};

    use super::*;

    struct Scene {
        _folder: tempfile::TempDir,
        reader: KeyFileReader,
        first: String,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let first = Keyring::fresh_line(1).unwrap().to_string();
            let keyring = Arc::new(Keyring::parse(&first).unwrap());
            let url = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
            let database = Arc::new(Database::open(&url, Settings::default()).unwrap());
            database.migrate().unwrap();
            unlock(&keyring, &database).unwrap();
            let file = folder.path().join("kek");
            let reader = KeyFileReader { file, keyring, database, loaded: None, logged: None };
            Self { _folder: folder, reader, first }
        }

        fn write(&mut self, text: &str) -> (Vec<u32>, bool) {
            fs::write(&self.reader.file, text).unwrap();
            fs::set_permissions(&self.reader.file, fs::Permissions::from_mode(0o600)).unwrap();
            self.reader.poll();
            (self.reader.keyring.versions(), self.reader.logged.is_some())
        }
    }

    fn fresh(version: u32) -> String {
        Keyring::fresh_line(version).unwrap().to_string()
    }

    #[test]
    fn a_new_version_is_loaded_and_marked() {
        let mut scene = Scene::new();
        let text = format!("{}\n{}\n", scene.first, fresh(2));
        assert_eq!(scene.write(&text), (vec![1, 2], false));
        assert_eq!(scene.reader.database.kek_marks().unwrap().len(), 2);
    }

    #[test]
    fn an_invalid_file_changes_nothing_and_can_be_corrected() {
        let mut scene = Scene::new();
        let broken = format!("{}\n2:rubbish\n", scene.first);
        assert_eq!(scene.write(&broken), (vec![1], true));
        assert_eq!(scene.write(""), (vec![1], true));
        let corrected = format!("{}\n{}\n", scene.first, fresh(2));
        assert_eq!(scene.write(&corrected), (vec![1, 2], false));
    }

    #[test]
    fn a_different_key_under_a_known_version_is_rejected() {
        let mut scene = Scene::new();
        let text = format!("{}\n{}\n", fresh(1), fresh(2));
        assert_eq!(scene.write(&text), (vec![1], true));
    }

    #[test]
    fn a_file_without_a_known_version_is_rejected() {
        let mut scene = Scene::new();
        assert_eq!(scene.write(&fresh(2)), (vec![1], true));
    }

    #[test]
    fn a_watch_can_be_stopped_twice() {
        let scene = Scene::new();
        let KeyFileReader { file, keyring, database, .. } = &scene.reader;
        let watch = KeyFileWatch::start(file, Arc::clone(keyring), Arc::clone(database)).unwrap();
        watch.stop();
        watch.stop();
    }
}
