//! The database: whether it can be reached, fits this version, and keeps what it is given.

use sealpost_node::{Settings, database_error, open_database};
use sealpost_storage::{Database, DatabaseInfo, DatabaseUrl};

use crate::{doctor::finding::Finding, fault::Fault};

/// A database that answers.
pub(super) struct Opened {
    pub(super) database: Database,
    pub(super) about: DatabaseInfo,
    /// Whether it has every table that this version knows.
    pub(super) is_current: bool,
}

pub(super) fn look(settings: &Settings, findings: &mut Vec<Finding>) -> Option<Opened> {
    let url = settings.database.database_url();
    if let DatabaseUrl::Sqlite(file) = &url
        && !file.exists()
    {
        let text = format!("{} will be made by the first start", file.display());
        findings.push(Finding::ok("database", text));
        return None;
    }
    if url.leaves_the_machine() {
        let text = "what is said to the database goes over a network unencrypted: keep that network to yourself, or lead \
                    --database-url through a tunnel on this machine (docs/operating.md)";
        findings.push(Finding::warn("database", text));
    }
    match open(settings, &url) {
        Ok((database, about)) => {
            findings.push(Finding::ok("database", format!("{} answers", about.engine)));
            findings.extend(doubts(settings, &about));
            let is_embedded = matches!(url, DatabaseUrl::Sqlite(_));
            let is_current = migrations(&database, is_embedded || settings.migrate, findings);
            Some(Opened { database, about, is_current })
        }
        Err(fault) => {
            findings.push(Finding::fail(
                "database",
                format!("{fault}; look at --database-url, and whether the server runs and lets this user in"),
            ));
            None
        }
    }
}

fn open(settings: &Settings, url: &DatabaseUrl) -> Result<(Database, DatabaseInfo), Fault> {
    let database = open_database(&settings.database, url)?;
    let about = database.info().map_err(database_error)?;
    Ok((database, about))
}

fn doubts(settings: &Settings, about: &DatabaseInfo) -> Vec<Finding> {
    let Some(server) = about.server else { return Vec::new() };
    let mut doubts = Vec::new();
    if server.version < TESTED_SINCE {
        let text =
            format!("{} is older than the versions that this was tested with (15)", about.engine);
        doubts.push(Finding::warn("database", text));
    }
    if !server.is_durable {
        let text = "the server's fsync or full_page_writes is off: what was acknowledged can be lost; turn both on";
        doubts.push(Finding::warn("database", text));
    }
    if i64::from(settings.database.pool_max) >= server.connections_max {
        let text = format!(
            "--database-pool {} is more than the server's max_connections of {} leaves; lower the one or raise \
             the other, for all nodes together",
            settings.database.pool_max, server.connections_max
        );
        doubts.push(Finding::warn("database", text));
    }
    doubts
}

/// Whether there is nothing left to apply.
fn migrations(database: &Database, will_migrate: bool, findings: &mut Vec<Finding>) -> bool {
    let pending = match database.pending_migrations() {
        Ok(pending) => pending,
        Err(error) => {
            findings.push(Finding::fail("schema", database_error(error).with_causes()));
            return false;
        }
    };
    let count = pending.len();
    findings.push(if pending.is_empty() {
        Finding::ok("schema", "the database is that of this version")
    } else if will_migrate {
        Finding::ok("schema", format!("{count} migrations are missing; the start applies them"))
    } else {
        Finding::fail(
            "schema",
            format!(
                "the database is {count} migrations behind this version; run `sealpost migrate`"
            ),
        )
    });
    pending.is_empty()
}

const TESTED_SINCE: i64 = 150_000;
