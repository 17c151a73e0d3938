//! Looks at the key file about every second, so that a server learns a new version without a restart. What does not
//! fit is logged once and replaces nothing.

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

use sealpost_domain::ports::KekMarks;
use sealpost_service::unlock;
use sealpost_wallet::Keyring;
use zeroize::Zeroizing;

use super::{parse_file, read_text};
use crate::error::{Failure, NodeError};

/// How often the key file is looked at.
pub const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// A watch that ends when it is stopped or dropped.
pub(crate) struct Watch(Mutex<Option<(Sender<()>, JoinHandle<()>)>>);

impl Watch {
    /// Begins to watch.
    pub(crate) fn start(
        file: &Path,
        keyring: Arc<Keyring>,
        marks: Arc<dyn KekMarks + Send + Sync>,
    ) -> io::Result<Self> {
        let mut look = Look { file: file.to_owned(), keyring, marks, seen: None, complaint: None };
        let (stop, stopped) = channel();
        let watcher = thread::Builder::new().name("kek-watch".to_owned()).spawn(move || {
            while stopped.recv_timeout(WATCH_PERIOD) == Err(RecvTimeoutError::Timeout) {
                look.again();
            }
        })?;
        Ok(Self(Mutex::new(Some((stop, watcher)))))
    }

    /// Ends it.
    pub(crate) fn stop(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, watcher)) = running {
            drop(stop);
            if watcher.join().is_err() {
                tracing::error!("the watch on the key file had stopped");
            }
        }
    }
}

struct Look {
    file: PathBuf,
    keyring: Arc<Keyring>,
    marks: Arc<dyn KekMarks + Send + Sync>,
    /// What was in the file when it was last understood.
    seen: Option<Zeroizing<String>>,
    /// What was logged last, so that it is logged once.
    complaint: Option<String>,
}

impl Look {
    fn again(&mut self) {
        let found = self.read();
        self.complaint = match found {
            Ok(()) => None,
            Err(fault) => {
                let text = fault.with_causes();
                if self.complaint.as_ref() != Some(&text) {
                    tracing::error!(error = %text, "the key file is not used; the keys stay as they were");
                }
                Some(text)
            }
        };
    }

    fn read(&mut self) -> Result<(), NodeError> {
        let text = read_text(&self.file)?;
        if self.seen.as_ref() == Some(&text) {
            return Ok(());
        }
        let found = parse_file(&self.file, &text)?;
        self.learn(found)?;
        self.seen = Some(text);
        Ok(())
    }

    /// What would not unlock the database at a start does not come in now: a key that is another one than the
    /// database was written with, or a file that lost one.
    fn learn(&self, found: Keyring) -> Result<(), NodeError> {
        unlock(&found, &*self.marks).map_err(|fault| NodeError::Keys(Failure::of(fault)))?;
        let learned = self.keyring.add_versions(found);
        if !learned.is_empty() {
            tracing::info!(kek.versions = ?learned, "learned key-encryption keys");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use sealpost_domain::{Wrapped, ports::StoreError};

    use super::*;

    /// Marks as a database keeps them.
    #[derive(Default)]
    struct Marks(Mutex<Vec<(u32, Wrapped)>>);

    impl KekMarks for Marks {
        fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError> {
            Ok(self.0.lock().unwrap().clone())
        }

        fn insert_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError> {
            self.0.lock().unwrap().push((version, mark.clone()));
            Ok(())
        }
    }

    struct Scene {
        _folder: tempfile::TempDir,
        look: Look,
        first: String,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let first = Keyring::fresh_line(1).unwrap().to_string();
            let keyring = Arc::new(Keyring::parse(&first).unwrap());
            let marks = Arc::new(Marks::default());
            unlock(&keyring, &*marks).unwrap();
            let file = folder.path().join("kek");
            let look = Look { file, keyring, marks, seen: None, complaint: None };
            Self { _folder: folder, look, first }
        }

        fn write(&mut self, text: &str) -> (Vec<u32>, bool) {
            fs::write(&self.look.file, text).unwrap();
            fs::set_permissions(&self.look.file, fs::Permissions::from_mode(0o600)).unwrap();
            self.look.again();
            (self.look.keyring.versions(), self.look.complaint.is_some())
        }
    }

    fn fresh(version: u32) -> String {
        Keyring::fresh_line(version).unwrap().to_string()
    }

    #[test]
    fn a_new_version_is_learned_and_marked() {
        let mut scene = Scene::new();
        let text = format!("{}\n{}\n", scene.first, fresh(2));
        assert_eq!(scene.write(&text), (vec![1, 2], false));
        assert_eq!(scene.look.marks.kek_marks().unwrap().len(), 2);
    }

    #[test]
    fn what_is_broken_replaces_nothing_and_can_be_mended() {
        let mut scene = Scene::new();
        let broken = format!("{}\n2:rubbish\n", scene.first);
        assert_eq!(scene.write(&broken), (vec![1], true));
        assert_eq!(scene.write(""), (vec![1], true));
        let mended = format!("{}\n{}\n", scene.first, fresh(2));
        assert_eq!(scene.write(&mended), (vec![1, 2], false));
    }

    #[test]
    fn another_key_under_a_known_version_does_not_come_in() {
        let mut scene = Scene::new();
        let text = format!("{}\n{}\n", fresh(1), fresh(2));
        assert_eq!(scene.write(&text), (vec![1], true));
    }

    #[test]
    fn a_file_that_lost_a_version_is_not_used() {
        let mut scene = Scene::new();
        assert_eq!(scene.write(&fresh(2)), (vec![1], true));
    }

    #[test]
    fn a_watch_ends_at_once() {
        let scene = Scene::new();
        let Look { file, keyring, marks, .. } = &scene.look;
        let watch = Watch::start(file, Arc::clone(keyring), Arc::clone(marks)).unwrap();
        watch.stop();
        watch.stop();
    }
}
