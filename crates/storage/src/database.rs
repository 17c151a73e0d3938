//! The database as the rest of the service holds it.

use std::{
    path,
    sync::Arc,
    time::{Duration, Instant},
};

use metrics::{counter, histogram};
use sealpost_domain::{
    Timestamp,
    ports::{Durability, Lookup, OwnerLookup, Store, StoreError, Tx},
};

use crate::{
    claiming::Walk,
    connect::{ConnectFault, Target},
    connection::AnyConnection,
    facts::Memory,
    fault::{Fault, refused, unavailable},
    gate::Gate,
    heard::Heard,
    migrate, outbox,
    pool::{self, POOL_TIMEOUTS, POOL_WAIT, Pool},
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
    /// How many sessions, how many keys and how many webhooks are remembered between batches of sends.
    pub facts_remembered_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            pool_max: 16,
            connection_timeout: Duration::from_secs(2),
            statement_timeout: Duration::from_secs(10),
            facts_remembered_max: 16_384,
        }
    }
}

/// The connections of one pool.
#[derive(Debug, Clone, Copy)]
pub struct Connections {
    /// What the pool is called.
    pub pool: &'static str,
    /// In use.
    pub busy: u32,
    /// Open, and free.
    pub idle: u32,
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
    pub(crate) heard: Arc<Heard>,
    memory: Arc<Memory>,
    pub(crate) patience: Duration,
    pub(crate) settings: Settings,
    /// Where the embedded one is.
    pub(crate) file: Option<path::PathBuf>,
}

impl Database {
    /// Opens the database; an embedded one is made where there is none, with nothing in it. Says at once why where it
    /// cannot: [`StoreError::Unavailable`] where a server cannot be reached, [`StoreError::Refused`] where the file
    /// cannot be used.
    pub fn open(url: &DatabaseUrl, settings: Settings) -> Result<Self, StoreError> {
        let memory = Arc::new(Memory::new(settings.facts_remembered_max));
        let open = |kind, target, size| pool::open(kind, target, size, &settings, &memory);
        match url {
            DatabaseUrl::Postgres(url) => {
                let target = Target::Postgres(url.clone());
                let writers = open("all", target, settings.pool_max).map_err(unavailable)?;
                let readers = writers.clone();
                Ok(Self::of((writers, readers), None, memory, settings))
            }
            DatabaseUrl::Sqlite(path) => {
                let path = path::absolute(path).map_err(refused)?;
                let writers =
                    open("writers", Target::SqliteWriter(path.clone()), 1).map_err(unusable)?;
                let readers =
                    open("readers", Target::SqliteReader(path.clone()), settings.pool_max)
                        .map_err(unusable)?;
                Ok(Self {
                    file: Some(path),
                    ..Self::of((writers, readers), Some(Arc::default()), memory, settings)
                })
            }
        }
    }

    fn of(
        (writers, readers): (Pool, Pool),
        turn: Option<Arc<Gate>>,
        memory: Arc<Memory>,
        settings: Settings,
    ) -> Self {
        Self {
            writers,
            readers,
            turn,
            walk: Arc::default(),
            heard: Arc::default(),
            memory,
            patience: settings.connection_timeout,
            settings,
            file: None,
        }
    }

    /// Brings the database to this version and answers with the names of what was applied. Several nodes may do so at
    /// once. Refused where the database is newer than this binary.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.migrate_telling(&|_name| {})
    }

    /// The same, and says the name of each migration before it is applied. Where another transaction was in the way
    /// it begins anew, and says them again.
    pub fn migrate_telling(&self, tell: &dyn Fn(&str)) -> Result<Vec<String>, StoreError> {
        self.transact(Durability::Durable, |conn| migrate::apply(conn, tell))
    }

    /// The names of the migrations that are missing. Refused where the database is newer than this binary.
    pub fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        self.read(migrate::pending)
    }

    /// Makes every delivery due that anybody holds. For an embedded database at start, when nobody can.
    pub fn release_every_lease(&self, now: Timestamp) -> Result<(), StoreError> {
        self.transact(Durability::Relaxed, |conn| outbox::release_every_lease(conn, now))
    }

    /// How its connections stand, by pool: PostgreSQL has one for all, SQLite one for those who read and one for who
    /// writes.
    pub fn connections(&self) -> Vec<Connections> {
        let pools = match self.turn {
            None => vec![("all", &self.writers)],
            Some(_) => vec![("readers", &self.readers), ("writers", &self.writers)],
        };
        let of = |(pool, connections): (&'static str, &Pool)| {
            let state = connections.state();
            let busy = state.connections.saturating_sub(state.idle_connections);
            Connections { pool, busy, idle: state.idle_connections }
        };
        pools.into_iter().map(of).collect()
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
                let began = Instant::now();
                let pass = gate.enter(self.patience);
                histogram!(POOL_WAIT, "pool" => "turn").record(began.elapsed());
                if pass.is_none() {
                    counter!(POOL_TIMEOUTS, "pool" => "turn").increment(1);
                }
                Some(pass.ok_or_else(|| unavailable("the turn to write did not come in time"))?)
            }
        };
        Unit::begin(&self.writers, turn, durability, Arc::clone(&self.memory))
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
