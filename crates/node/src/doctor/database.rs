//! Checks the database: reachability, server version, durability, connection limit, pending migrations, rights of the
//! role, replica identities and old snapshots.

use std::{io::ErrorKind, path::Path, time::Duration};

use sealpost_domain::ports::{OldestSnapshot, StoreError};
use sealpost_storage::{Database, DatabaseInfo, DatabaseUrl, Encryption};

use crate::{
    composition::database::open_database,
    doctor::finding::Finding,
    error::{NodeError, database_error},
    settings::Settings,
};

/// A reachable database, with the information that later checks need.
pub(super) struct Opened {
    pub(super) database: Database,
    pub(super) about: DatabaseInfo,
    /// True if no migration is pending.
    pub(super) is_current: bool,
}

pub(super) fn check(settings: &Settings, findings: &mut Vec<Finding>) -> Option<Opened> {
    let url = settings.database.database_url();
    if let DatabaseUrl::Sqlite(file) = &url
        && let Some(finding) = unopened(file)
    {
        findings.push(finding);
        return None;
    }
    if let Ok(Encryption::Weaker(mode)) = url.encryption(settings.database.storage.in_clear) {
        findings.extend(mode.risk().map(|risk| Finding::warn("database", risk)));
    }
    match open(settings, &url) {
        Ok((database, about)) => {
            findings.push(Finding::ok("database", format!("{} is reachable", about.engine)));
            findings.extend(risks(settings, &about));
            let is_embedded = matches!(url, DatabaseUrl::Sqlite(_));
            let is_current = migrations(&database, is_embedded || settings.migrate, findings);
            findings.extend(schema_faults(&database).unwrap_or_else(|error| {
                vec![Finding::fail("schema", database_error(error).with_causes())]
            }));
            findings.push(oldest_snapshot(&database).unwrap_or_else(|error| {
                Finding::fail("snapshots", database_error(error).with_causes())
            }));
            Some(Opened { database, about, is_current })
        }
        Err(error) => {
            findings.push(Finding::fail(
                "database",
                format!(
                    "{}: check --database-url, the database server, and the permissions of the user",
                    error.with_causes()
                ),
            ));
            None
        }
    }
}

/// Returns a finding about a database file that does not exist or cannot be reached. Returns `None` if the file exists.
fn unopened(file: &Path) -> Option<Finding> {
    let shown = file.display();
    match file.try_exists() {
        Ok(true) => None,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let text = format!(
                "{shown} cannot be reached ({error}): run this command as the user of the server"
            );
            Some(Finding::fail("database", text))
        }
        Ok(false) | Err(_) => {
            Some(Finding::ok("database", format!("the first start creates {shown}")))
        }
    }
}

fn open(settings: &Settings, url: &DatabaseUrl) -> Result<(Database, DatabaseInfo), NodeError> {
    let database = open_database(&settings.database, url)?;
    let about = database.info().map_err(database_error)?;
    Ok((database, about))
}

fn risks(settings: &Settings, about: &DatabaseInfo) -> Vec<Finding> {
    let Some(server) = about.server else { return Vec::new() };
    let mut risks = Vec::new();
    if server.version < TESTED_FROM {
        let text = format!("{} is older than the tested versions (from 14)", about.engine);
        risks.push(Finding::warn("database", text));
    }
    if !server.is_durable {
        let text = "fsync or full_page_writes of the server is off, so acknowledged data can be lost: turn both on";
        risks.push(Finding::warn("database", text));
    }
    if settings.database.storage.has_pooler && !server.has_session_defaults {
        let text = "the role lacks the session settings that a pooler in transaction mode needs as defaults: run the \
                    ALTER ROLE statements of docs/operating/postgresql.md";
        risks.push(Finding::warn("database", text));
    }
    let may_fail_over = server.standbys > 0 || settings.database.database_url().has_several_hosts();
    if may_fail_over && !server.waits_for_standby {
        let text = "a failover to a standby can lose acknowledged data and restore revoked keys, because commits do not \
                    wait for a standby: set synchronous_standby_names on the server";
        risks.push(Finding::warn("database", text));
    }
    if i64::from(settings.database.storage.pool_max) >= server.connections_max {
        let text = format!(
            "--database-pool {} does not fit into the server's max_connections of {}: lower the pool or raise \
             max_connections, for all nodes together",
            settings.database.storage.pool_max, server.connections_max
        );
        risks.push(Finding::warn("database", text));
    }
    risks
}

/// Returns a failure if the role lacks rights for migrations or housekeeping. If the database has a publication,
/// returns a warning about tables without a replica identity: writes to such a table fail if it is published.
fn schema_faults(database: &Database) -> Result<Vec<Finding>, StoreError> {
    let rights = database.missing_rights()?;
    let rights = rights.map(|rights| Finding::fail("schema", rights.to_string()));
    let tables = database.unidentified_tables()?;
    let publication = (!tables.is_empty()).then(|| {
        let text = format!(
            "the database has a publication, and these tables have no replica identity, so writes to them fail if they \
             are published: run ALTER TABLE … REPLICA IDENTITY FULL for {}",
            tables.join(", ")
        );
        Finding::warn("schema", text)
    });
    Ok(rights.into_iter().chain(publication).collect())
}

/// Returns a finding that names the holder of the oldest snapshot, such as a database session or a replication slot.
/// Warns if the snapshot is old, because the database then grows.
fn oldest_snapshot(database: &Database) -> Result<Finding, StoreError> {
    let Some(oldest) = database.oldest_snapshot()? else {
        return Ok(Finding::ok("snapshots", "no open snapshot keeps old row versions"));
    };
    let OldestSnapshot { holder, age, transactions } = oldest;
    let age_text = age.map(|age| format!(", {} s old", age.as_secs())).unwrap_or_default();
    let transactions_text =
        transactions.map(|number| format!("; {number} later transactions")).unwrap_or_default();
    let text = format!("{holder} has the oldest snapshot{age_text}{transactions_text}");
    // On SQLite, `transactions` is `None`, and only a snapshot that keeps the write-ahead log long is reported. Such a
    // snapshot counts as old if its age is unknown.
    let is_old = age.map_or(transactions.is_none(), |age| age >= SNAPSHOT_OLD)
        || transactions.is_some_and(|number| number >= LATER_TRANSACTIONS_MANY);
    Ok(if is_old {
        Finding::warn(
            "snapshots",
            format!(
                "{text}: until the snapshot ends, the database keeps every later row version and grows. End the \
                 session, or drop the slot"
            ),
        )
    } else {
        Finding::ok("snapshots", text)
    })
}

/// Adds a finding about pending migrations. Returns true if no migration is pending.
fn migrations(database: &Database, will_migrate: bool, findings: &mut Vec<Finding>) -> bool {
    let pending = match database.pending_migrations() {
        Ok(pending) => pending,
        Err(error) => {
            findings.push(Finding::fail("schema", database_error(error).with_causes()));
            return false;
        }
    };
    let names = pending.join(", ");
    findings.push(if pending.is_empty() {
        Finding::ok("schema", "the schema matches this version")
    } else if will_migrate {
        Finding::ok("schema", format!("the start applies the pending migrations: {names}"))
    } else {
        Finding::fail(
            "schema",
            format!(
                "the database is older than this version: run `sealpost migrate`, which applies {names}"
            ),
        )
    });
    pending.is_empty()
}

const TESTED_FROM: i64 = 140_000;

const SNAPSHOT_OLD: Duration = Duration::from_mins(1);
const LATER_TRANSACTIONS_MANY: u64 = 1_000_000;
