//! The database as the rest of the service holds it.

use std::{path, sync::Arc, time::Duration};

use sealpost_domain::{
    Timestamp,
    ports::{Durability, Lookup, OwnerLookup, Store, StoreError, Tx},
};

use crate::{
    claiming::Walk,
    connect::{ConnectFault, Target},
    connection::AnyConnection,
    fault::{Fault, refused, unavailable},
    gate::Gate,
    migrate, outbox,
    pool::{self, Pool},
    reader::Reader,
    unit::Unit,
    url::DatabaseUrl,
};

/// How a database is used.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How many connections there are at the most. Of an embedded database these are the readers: one more writes.
    pub pool_max: u32,
    /// How long to wait for a connection, or for the turn to write.
    pub connection_timeout: Duration,
    /// How long one statement of PostgreSQL may take; half of it may be spent on waiting for a lock.
    pub statement_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            pool_max: 16,
            connection_timeout: Duration::from_secs(2),
            statement_timeout: Duration::from_secs(10),
        }
    }
}

/// An open database. Copies of the handle share its connections.
#[derive(Debug, Clone)]
pub struct Database {
    pub(crate) writers: Pool,
    readers: Pool,
    /// SQLite has one writer, so they queue here.
    turn: Option<Arc<Gate>>,
    /// Shared by the copies, so that together they come around.
    pub(crate) walk: Arc<Walk>,
    patience: Duration,
}

impl Database {
    /// Opens the database; an embedded one is made where there is none, with nothing in it. Says at once why where it
    /// cannot: [`StoreError::Unavailable`] where a server cannot be reached, [`StoreError::Refused`] where the file
    /// cannot be used.
    pub fn open(url: &DatabaseUrl, settings: Settings) -> Result<Self, StoreError> {
        let patience = settings.connection_timeout;
        let open = |target, size| pool::open(target, size, &settings);
        match url {
            DatabaseUrl::Postgres(url) => {
                let target = Target::Postgres(url.clone());
                let writers = open(target, settings.pool_max).map_err(unavailable)?;
                let readers = writers.clone();
                Ok(Self { writers, readers, turn: None, walk: Arc::default(), patience })
            }
            DatabaseUrl::Sqlite(path) => {
                let path = path::absolute(path).map_err(refused)?;
                let writers = open(Target::SqliteWriter(path.clone()), 1).map_err(unusable)?;
                let readers =
                    open(Target::SqliteReader(path), settings.pool_max).map_err(unusable)?;
                let turn = Some(Arc::default());
                Ok(Self { writers, readers, turn, walk: Arc::default(), patience })
            }
        }
    }

    /// Brings the database to this version and answers with the names of what was applied. Several nodes may do so at
    /// once. Refused where the database is newer than this binary.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.transact(Durability::Durable, migrate::apply)
    }

    /// The names of the migrations that are missing. Refused where the database is newer than this binary.
    pub fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        self.read(migrate::pending)
    }

    /// Makes every delivery due that anybody holds. For an embedded database at start, when nobody can.
    pub fn release_every_lease(&self, now: Timestamp) -> Result<(), StoreError> {
        self.transact(Durability::Relaxed, |conn| outbox::release_every_lease(conn, now))
    }

    /// Runs one look-up.
    pub(crate) fn read<T>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        Reader::new(&self.readers).run(work)
    }

    /// Runs work that no port of [`Tx`] knows, in one transaction; again where another one was in the way.
    pub(crate) fn transact<T>(
        &self,
        durability: Durability,
        work: impl Fn(&mut AnyConnection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let attempt = || {
            let mut unit = self.unit(durability)?;
            let value = unit.run(&work)?;
            unit.commit()?;
            Ok(value)
        };
        for _ in 1..TRIES_MAX {
            match attempt() {
                Err(StoreError::Contended(_)) => {}
                done => return done,
            }
        }
        attempt()
    }

    pub(crate) fn unit(&self, durability: Durability) -> Result<Unit, StoreError> {
        let turn = match &self.turn {
            None => None,
            Some(gate) => {
                let pass = gate.enter(self.patience);
                Some(pass.ok_or_else(|| unavailable("the turn to write did not come in time"))?)
            }
        };
        Unit::begin(&self.writers, turn, durability)
    }
}

impl Store for Database {
    fn begin(&self, durability: Durability) -> Result<Box<dyn Tx + '_>, StoreError> {
        Ok(Box::new(self.unit(durability)?))
    }

    fn lookup(&self) -> Result<Box<dyn Lookup + '_>, StoreError> {
        Ok(Box::new(Reader::new(&self.readers)))
    }

    fn owner_lookup(&self) -> Result<Box<dyn OwnerLookup + '_>, StoreError> {
        Ok(Box::new(Reader::new(&self.readers)))
    }

    fn check(&self) -> Result<(), StoreError> {
        let pending = self.pending_migrations()?;
        if pending.is_empty() {
            return Ok(());
        }
        Err(refused(migrate::VersionFault::Behind(pending.join(", "))))
    }
}

/// A file that cannot be opened will not open by itself, except where another process has it locked.
fn unusable(fault: ConnectFault) -> StoreError {
    match fault {
        ConnectFault::Setup(error) => Fault::Driver(error).into(),
        other => refused(other),
    }
}

/// As often as `write` on `dyn Store` tries.
const TRIES_MAX: u32 = 3;
