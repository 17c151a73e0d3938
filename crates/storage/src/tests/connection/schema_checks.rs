//! Tests of the checks of a PostgreSQL database: replica identities and the rights of housekeeping.

use std::time::Duration;

use sealpost_domain::ports::Durability::Relaxed;

use crate::tests::fixture::{Fixture, at, postgres};

on_both!(a_migrated_database_lacks_nothing);

fn a_migrated_database_lacks_nothing(db: &Fixture) {
    assert!(db.missing_rights().unwrap().is_none());
    assert_eq!(db.unidentified_tables().unwrap(), Vec::<String>::new());
}

/// Without a replica identity, a publication for all tables makes every update and delete of the table fail.
#[test]
fn every_table_and_every_new_partition_has_a_replica_identity() {
    let db = postgres();
    db.execute("CREATE PUBLICATION everything FOR ALL TABLES").unwrap();
    assert_eq!(db.unidentified_tables().unwrap(), Vec::<String>::new());
    db.check_writes().unwrap();
    let now = at(i64::MAX >> 17);
    let hour = Duration::from_hours(1);
    let extend = |now| db.write(Relaxed, |tx| tx.extend_partitions(now, hour)).unwrap();
    let before = db.count("partitions");
    assert!(extend(now));
    assert_eq!(db.count("partitions"), before + 2);
    assert_eq!(db.unidentified_tables().unwrap(), Vec::<String>::new());
}

#[test]
fn tables_without_a_replica_identity_are_named_if_a_publication_exists() {
    let db = postgres();
    db.execute(
        "CREATE TABLE bare (id BIGINT);
         CREATE TABLE \"By index\" (id BIGINT NOT NULL UNIQUE);
         ALTER TABLE handles REPLICA IDENTITY NOTHING;
         CREATE UNLOGGED TABLE unlogged (id BIGINT)",
    )
    .unwrap();
    assert_eq!(db.unidentified_tables().unwrap(), Vec::<String>::new());
    db.execute("CREATE PUBLICATION inserts FOR ALL TABLES WITH (publish = 'insert')").unwrap();
    assert_eq!(db.unidentified_tables().unwrap(), Vec::<String>::new());
    db.execute("CREATE PUBLICATION everything FOR ALL TABLES").unwrap();
    assert_eq!(db.unidentified_tables().unwrap(), ["\"By index\"", "bare", "handles"]);
    db.execute(
        "ALTER TABLE \"By index\" REPLICA IDENTITY USING INDEX \"By index_id_key\";
         ALTER TABLE bare REPLICA IDENTITY FULL",
    )
    .unwrap();
    assert_eq!(db.unidentified_tables().unwrap(), ["handles"]);
}
