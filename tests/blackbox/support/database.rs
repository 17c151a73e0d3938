//! The two databases: each case gets a fresh one of its own.

use std::{fs, os::unix::fs::OpenOptionsExt as _, path::PathBuf, process::Command, sync::Arc};

use tempfile::TempDir;

use super::{Server, binary, run};

/// A database, its key-encryption key, and a folder of its own.
pub(crate) struct Database {
    folder: Arc<TempDir>,
    /// `None` for the embedded one.
    url: Option<String>,
}

impl Database {
    /// The embedded database.
    pub(crate) fn embedded() -> Self {
        Self { folder: Arc::new(tempfile::tempdir().unwrap()), url: None }
    }

    /// On the PostgreSQL that all cases share.
    pub(crate) fn postgres() -> Self {
        Self::at(sealpost_testkit::postgres().create_database())
    }

    /// On this PostgreSQL.
    pub(crate) fn at(url: String) -> Self {
        let database = Self { folder: Arc::new(tempfile::tempdir().unwrap()), url: Some(url) };
        database.write_kek();
        database
    }

    /// The URL, where it is on PostgreSQL.
    pub(crate) fn url(&self) -> &str {
        self.url.as_deref().unwrap()
    }

    /// The URL, or `None` where it is the embedded one.
    pub(crate) fn postgres_url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The data folder, also where nothing is in it.
    pub(crate) fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// The file of the embedded database.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("data/sealpost.db")
    }

    /// The key file.
    pub(crate) fn kek_file(&self) -> PathBuf {
        match self.url {
            None => self.folder.path().join("data/kek"),
            Some(_) => self.folder.path().join("kek"),
        }
    }

    /// Writes a fresh key file where there is none.
    pub(crate) fn write_kek(&self) {
        let file = self.kek_file();
        fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&file).unwrap();
        fs::write(file, run(binary(&["kek", "new"])).stdout).unwrap();
    }

    /// A server on it, for development.
    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// A server on it, for development, with more arguments.
    #[track_caller]
    pub(crate) fn serve_with(&self, more: &[&str]) -> Server {
        Server::start_in(&self.folder, self.command(&[&["--dev"], more].concat()))
    }

    /// Two servers where they can share the database, else one.
    #[track_caller]
    pub(crate) fn serve_on_every_node(&self) -> Vec<Server> {
        let nodes = if self.url.is_some() { 2 } else { 1 };
        (0..nodes).map(|_| self.serve()).collect()
    }

    /// The command that serves it on free ports, with more arguments.
    pub(crate) fn command(&self, more: &[&str]) -> Command {
        let mut command = binary(&["serve", "--listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0"]);
        command.args(["--data-dir", &self.data()]);
        if let Some(url) = &self.url {
            command.args(["--database-url", url, "--migrate", "--kek-file"]).arg(self.kek_file());
        }
        command.args(more);
        command
    }
}
