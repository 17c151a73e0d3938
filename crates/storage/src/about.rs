//! What the database says of itself, for whoever looks after it.

use diesel::{
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{Timestamp, ports::StoreError};

use crate::{connection::AnyConnection, database::Database, fault::Fault};

/// What a database says of itself.
#[derive(Debug, Clone)]
pub struct About {
    /// Its name and its version.
    pub engine: String,
    /// What is its own and not this machine's, where it is a server.
    pub server: Option<Server>,
}

/// What a server has of its own.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// As a number that grows: 150004 is 15.4.
    pub version: i64,
    /// Its clock.
    pub now: Timestamp,
    /// How many connections it takes.
    pub connections_max: i64,
    /// Whether what it calls committed is on its disk.
    pub is_durable: bool,
}

impl Database {
    /// Asks it.
    pub fn about(&self) -> Result<About, StoreError> {
        self.read(|conn| match conn {
            AnyConnection::Postgres(_) => about_postgres(conn),
            AnyConnection::Sqlite(_) => {
                let version = text(conn, "sqlite_version()")?;
                Ok(About { engine: format!("SQLite {version}"), server: None })
            }
        })
    }
}

fn about_postgres(conn: &mut AnyConnection) -> Result<About, Fault> {
    let engine = format!("PostgreSQL {}", text(conn, "current_setting('server_version')")?);
    let version = number(conn, "current_setting('server_version_num')::bigint")?;
    let now = number(conn, "(extract(epoch FROM clock_timestamp()) * 1000)::bigint")?;
    let connections_max = number(conn, "current_setting('max_connections')::bigint")?;
    let is_durable = text(
        conn,
        "CASE WHEN current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' \
         THEN 'yes' ELSE 'no' END",
    )? == "yes";
    let now = Timestamp::from_millis(now);
    Ok(About { engine, server: Some(Server { version, now, connections_max, is_durable }) })
}

fn text(conn: &mut AnyConnection, expression: &str) -> Result<String, Fault> {
    Ok(diesel::select(sql::<Text>(expression)).get_result(conn)?)
}

fn number(conn: &mut AnyConnection, expression: &str) -> Result<i64, Fault> {
    Ok(diesel::select(sql::<BigInt>(expression)).get_result(conn)?)
}
