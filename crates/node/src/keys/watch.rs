//! Loads new key versions every second without a restart: from the key file, or from the database, if a provider has
//! wrapped the keys. If the new keys cannot be loaded, logs the error once and keeps the loaded keys. At longer
//! intervals, asks a provider whether the node may still use the keys.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sealpost_service::PeriodicThread;
use sealpost_storage::Database;
use sealpost_wallet::{Keyring, ProviderError};
use zeroize::Zeroizing;

use super::{
    mark,
    recheck::Recheck,
    source::{KeySource, own_keys, parse_file, read_text},
};
use crate::{
    error::{NodeError, database_error},
    settings::KeySettings,
};

/// Time between two searches for new key versions.
pub(crate) const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// Runs a thread that watches the keys. The thread ends when the watch is stopped or dropped.
pub(crate) struct KeyWatch {
    thread: PeriodicThread,
    /// Set when the key provider has withdrawn the keys. The thread then ends.
    is_withdrawn: Arc<AtomicBool>,
}

impl KeyWatch {
    /// Starts the thread, which adds new key versions of `source` to `keyring`.
    pub(crate) fn start(
        source: KeySource,
        keyring: Arc<Keyring>,
        database: Arc<Database>,
        settings: &KeySettings,
    ) -> io::Result<Self> {
        let mut reader = KeyReader { source, keyring, database, loaded: None, logged: None };
        let mut recheck = Recheck::new(settings, Instant::now());
        let is_withdrawn = Arc::new(AtomicBool::new(false));
        let withdrawn = Arc::clone(&is_withdrawn);
        let thread = PeriodicThread::start("kek-watch", [WATCH_PERIOD; 2], move |stop| {
            reader.poll();
            if !recheck.may_continue(Instant::now(), || reader.ask()) {
                withdrawn.store(true, Ordering::Release);
                stop.set();
            }
        })?;
        Ok(Self { thread, is_withdrawn })
    }

    /// Returns true if the key provider has withdrawn the keys.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.is_withdrawn.load(Ordering::Acquire)
    }

    /// Stops the thread and waits for its end.
    pub(crate) fn stop(&self) {
        self.thread.stop();
    }
}

/// Reads the keys of the source. Adds them to the keyring if they differ from the keys that were loaded last.
struct KeyReader {
    source: KeySource,
    keyring: Arc<Keyring>,
    database: Arc<Database>,
    /// The keys that were loaded last.
    loaded: Option<Loaded>,
    /// The error of the last read. The same error is not logged again.
    logged: Option<String>,
}

#[derive(PartialEq, Eq)]
enum Loaded {
    /// The text of the key file.
    Text(Zeroizing<String>),
    /// The versions of the wrapped keys.
    Versions(Vec<u32>),
}

impl KeyReader {
    fn poll(&mut self) {
        self.logged = match self.read() {
            Ok(()) => None,
            Err(fault) => {
                let text = fault.with_causes();
                if self.logged.as_ref() != Some(&text) {
                    tracing::error!(error = %text, "the keys cannot be loaded; they stay as they were");
                }
                Some(text)
            }
        };
    }

    fn read(&mut self) -> Result<(), NodeError> {
        match &self.source {
            KeySource::File(file) => {
                let text = read_text(file)?;
                let loaded = Loaded::Text(text.clone());
                if self.loaded.as_ref() != Some(&loaded) {
                    self.load(parse_file(file, &text)?)?;
                    self.loaded = Some(loaded);
                }
            }
            KeySource::Provider(provider) => {
                let wrapped = self.database.wrapped_keks().map_err(database_error)?;
                let own = own_keys(provider.as_ref(), &wrapped);
                let loaded = Loaded::Versions(own.iter().map(|kek| kek.version).collect());
                if self.loaded.as_ref() != Some(&loaded) {
                    if let Some(keyring) = self.source.read(&wrapped)? {
                        self.load(keyring)?;
                    }
                    self.loaded = Some(loaded);
                }
            }
            // Keys in the settings never change.
            KeySource::Text(_) => {}
        }
        Ok(())
    }

    /// Asks the key provider to unwrap the keys again. Returns `Ok` without a request if there is no provider. Also
    /// returns `Ok` if the database cannot be read, because this is no fault of the provider.
    fn ask(&self) -> Result<(), ProviderError> {
        let KeySource::Provider(provider) = &self.source else { return Ok(()) };
        let Ok(wrapped) = self.database.wrapped_keks() else { return Ok(()) };
        for kek in own_keys(provider.as_ref(), &wrapped) {
            provider.unwrap(&kek.wrapped.0)?;
        }
        Ok(())
    }

    /// Adds new key versions to the keyring. Fails, like the start of a node, if the keys that were read do not match
    /// the key marks in the database. A mark is a known text encrypted under one key version.
    fn load(&self, read: Keyring) -> Result<(), NodeError> {
        mark(&read, &self.database)?;
        let added = self.keyring.add_versions(read);
        if !added.is_empty() {
            tracing::info!(kek.versions = ?added, "loaded new key-encryption keys");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

    use sealpost_storage::{DatabaseUrl, Settings};

    use super::*;

    struct Scene {
        _folder: tempfile::TempDir,
        reader: KeyReader,
        file: PathBuf,
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
            mark(&keyring, &database).unwrap();
            let file = folder.path().join("kek");
            let source = KeySource::File(file.clone());
            let reader = KeyReader { source, keyring, database, loaded: None, logged: None };
            Self { _folder: folder, reader, file, first }
        }

        fn write(&mut self, text: &str) -> (Vec<u32>, bool) {
            fs::write(&self.file, text).unwrap();
            fs::set_permissions(&self.file, fs::Permissions::from_mode(0o600)).unwrap();
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
    fn a_file_with_another_key_or_without_a_known_version_is_rejected() {
        let mut scene = Scene::new();
        for text in [format!("{}\n{}\n", fresh(1), fresh(2)), fresh(2)] {
            assert_eq!(scene.write(&text), (vec![1], true));
        }
    }

    #[test]
    fn a_watch_can_be_stopped_twice() {
        let scene = Scene::new();
        let KeyReader { keyring, database, .. } = &scene.reader;
        let source = KeySource::File(scene.file.clone());
        let (keyring, database) = (Arc::clone(keyring), Arc::clone(database));
        let watch = KeyWatch::start(source, keyring, database, &KeySettings::default()).unwrap();
        watch.stop();
        watch.stop();
    }
}
