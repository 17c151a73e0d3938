//! `PgBouncer` in transaction mode, in front of a test server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    guard::Guard,
    instance::{Instance, free_port},
};

/// A `PgBouncer` process in transaction mode. The process stops when this value is dropped or the test process ends.
#[derive(Debug)]
pub struct Pooler {
    port: u16,
    folder: PathBuf,
    settings: PathBuf,
    /// Kills the `PgBouncer` process on drop. `None` only during a restart.
    guard: Option<Guard>,
}

impl Pooler {
    /// Starts `PgBouncer` in front of a server. `PgBouncer` opens at most `size` connections to the server for each
    /// database.
    pub fn before(server: &Instance, size: u16) -> Result<Self, String> {
        let port = free_port()?;
        let folder = server.folder();
        let users = server.write("users", "\"postgres\" \"\"\n");
        let users = users.map_err(|error| error.to_string())?;
        let settings = format!(
            "[databases]\n* = host={folder} port={server_port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir = {folder}\nauth_type = trust\nauth_file = {users}\npool_mode = transaction\n\
             default_pool_size = {size}\nmax_client_conn = 300\n",
            folder = folder.display(),
            server_port = server.port(),
            users = users.display(),
        );
        let settings =
            server.write("pgbouncer.ini", &settings).map_err(|error| error.to_string())?;
        let mut pooler = Self { port, folder: folder.to_owned(), settings, guard: None };
        pooler.restart()?;
        Ok(pooler)
    }

    /// Kills the process, and starts it again on the same port.
    pub fn restart(&mut self) -> Result<(), String> {
        drop(self.guard.take());
        let guard = Guard::pooling(&program()?, &self.folder, &self.settings, self.port)?;
        self.guard = Some(guard);
        Ok(())
    }

    /// Returns the TCP port of `PgBouncer`.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Finds `PgBouncer`. Debian installs it outside the search path of ordinary users.
fn program() -> Result<PathBuf, String> {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/bin"];
    let mut files = folders.iter().map(|folder| Path::new(folder).join("pgbouncer"));
    files.find(|file| fs::metadata(file).is_ok()).ok_or_else(|| {
        "PgBouncer is missing: install it (Debian: apt-get install pgbouncer)".to_owned()
    })
}
