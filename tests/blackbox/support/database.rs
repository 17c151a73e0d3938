//! The databases of the tests: embedded (SQLite) or PostgreSQL. Each test case gets a new database.

use std::{
    fs,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
};

use sealpost_wallet::Keyring;
use tempfile::TempDir;

use super::{Server, binary, run};

/// A database, with the key file (key-encryption keys) and the data folder of its server.
pub(crate) struct Database {
    folder: Arc<TempDir>,
    /// URL of the PostgreSQL database. `None` for the embedded database.
    url: Option<String>,
    /// The key provider. `None` for a key file.
    provider: Option<String>,
}

impl Database {
    /// Creates an embedded database.
    pub(crate) fn embedded() -> Self {
        Self { folder: Arc::new(tempfile::tempdir().unwrap()), url: None, provider: None }
    }

    /// Creates a migrated database on the PostgreSQL server that all test cases share. It is a copy of a template,
    /// because a copy is cheaper than a migration. All copies have the same database identity, so a case that needs two
    /// identities uses [`Database::empty_postgres`].
    pub(crate) fn postgres() -> Self {
        static TEMPLATE: OnceLock<String> = OnceLock::new();
        let server = sealpost_testkit::postgres();
        let template = TEMPLATE.get_or_init(|| {
            let url = server.create_database();
            run(binary(&["migrate", "--database-url", &url])).ok();
            url
        });
        Self::at(server.copy_database(template))
    }

    /// Creates an empty database on this server.
    pub(crate) fn empty_postgres() -> Self {
        Self::at(sealpost_testkit::postgres().create_database())
    }

    /// Uses the PostgreSQL database at this URL.
    pub(crate) fn at(url: String) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let database = Self { folder, url: Some(url), provider: None };
        database.write_kek();
        database
    }

    /// Uses the database at this URL with the same folder and key file. `None` uses the embedded database.
    pub(crate) fn moved_to(&self, url: Option<String>) -> Self {
        Self { folder: Arc::clone(&self.folder), url, provider: self.provider.clone() }
    }

    /// Uses the same database with keys of this provider. `None` uses the key file.
    pub(crate) fn with_provider(&self, provider: Option<&str>) -> Self {
        let provider = provider.map(str::to_owned);
        Self { folder: Arc::clone(&self.folder), url: self.url.clone(), provider }
    }

    /// Returns the folder of the test, which contains the data folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the arguments that select the key-encryption keys.
    pub(super) fn key_arguments(&self) -> Vec<String> {
        match (&self.provider, &self.url) {
            (Some(provider), _) => vec!["--kek-provider".to_owned(), provider.clone()],
            (None, Some(_)) => vec!["--kek-file".to_owned(), self.kek_file().display().to_string()],
            (None, None) => Vec::new(),
        }
    }

    /// Returns the URL of the PostgreSQL database. Panics for the embedded database.
    pub(crate) fn url(&self) -> &str {
        self.url.as_deref().unwrap()
    }

    /// Returns the URL of the PostgreSQL database. `None` for the embedded database.
    pub(crate) fn postgres_url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Returns the path of the data folder, which may be empty for PostgreSQL.
    pub(crate) fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// Returns the path of the file in which a node keeps the newest checkpoint of the transparency log.
    pub(crate) fn kept_checkpoint(&self) -> PathBuf {
        let files = fs::read_dir(self.data()).unwrap().map(|file| file.unwrap().path());
        let is_kept = |file: &PathBuf| file.extension().is_some_and(|it| it == "checkpoint");
        files.into_iter().find(is_kept).unwrap()
    }

    /// Returns the path of the embedded database's file.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("data/sealpost.db")
    }

    /// Returns the path of the key file, which contains the key-encryption keys.
    pub(crate) fn kek_file(&self) -> PathBuf {
        match self.url {
            None => self.folder.path().join("data/kek"),
            Some(_) => self.folder.path().join("kek"),
        }
    }

    /// Writes a new key file. Panics if the file exists.
    pub(crate) fn write_kek(&self) {
        let file = self.kek_file();
        fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&file).unwrap();
        fs::write(file, format!("{}\n", Keyring::fresh_line(1).unwrap().as_str())).unwrap();
    }

    /// Starts a server in development mode.
    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// Starts a server in development mode with more arguments.
    #[track_caller]
    pub(crate) fn serve_with(&self, more: &[&str]) -> Server {
        Server::start_in(&self.folder, self.command(&[&["--dev"], more].concat()))
    }

    /// Starts two servers on one PostgreSQL database, or one server on the embedded database.
    #[track_caller]
    pub(crate) fn serve_on_every_node(&self) -> Vec<Server> {
        self.serve_on_every_node_with(&[])
    }

    /// Like [`Database::serve_on_every_node`], with more arguments.
    #[track_caller]
    pub(crate) fn serve_on_every_node_with(&self, more: &[&str]) -> Vec<Server> {
        let nodes = if self.url.is_some() { 2 } else { 1 };
        (0..nodes).map(|_| self.serve_with(more)).collect()
    }

    /// Returns the command that writes a backup of the embedded database.
    pub(crate) fn backup_to(&self, file: impl AsRef<Path>) -> Command {
        let mut command = binary(&["backup", "--data-dir", &self.data()]);
        command.arg(file.as_ref());
        command
    }

    /// Returns the command that restores the embedded database from a file.
    pub(crate) fn restore_from(&self, file: impl AsRef<Path>) -> Command {
        let mut command = binary(&["restore", "--data-dir", &self.data()]);
        command.arg(file.as_ref());
        command
    }

    /// Returns the command that starts a server on free ports with more arguments.
    pub(crate) fn command(&self, more: &[&str]) -> Command {
        self.command_at(["127.0.0.1:0"; 2], more)
    }

    /// Returns the command that starts a server, with the addresses of the API and of operations.
    pub(crate) fn command_at(&self, [api, ops]: [&str; 2], more: &[&str]) -> Command {
        let mut command = binary(&["serve", "--listen", api, "--ops-listen", ops]);
        command.args(["--data-dir", &self.data()]);
        if let Some(url) = &self.url {
            command.args(["--database-url", url, "--migrate"]);
        }
        command.args(self.key_arguments()).args(more);
        command
    }
}
