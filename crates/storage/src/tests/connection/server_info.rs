//! Tests the reported information about the database: engine, server and connection pools.

use crate::tests::fixture::Fixture;

on_both!(a_database_names_its_engine, pool_states_count_connections);

fn a_database_names_its_engine(db: &Fixture) {
    let about = db.info().unwrap();
    match about.server {
        None => assert!(about.engine.starts_with("SQLite 3."), "{about:?}"),
        Some(server) => {
            assert!(about.engine.starts_with("PostgreSQL "), "{about:?}");
            assert!(server.version > 90_000 && server.connections_max > 1, "{about:?}");
            assert!(server.now.as_millis() > 1_767_225_600_000, "{about:?}");
            assert!(db.info().unwrap().server.unwrap().now >= server.now);
        }
    }
}

fn pool_states_count_connections(db: &Fixture) {
    db.check().unwrap();
    let pools = db.pool_states();
    let names: Vec<_> = pools.iter().map(|pool| pool.pool).collect();
    match db.info().unwrap().server {
        None => assert_eq!(names, ["readers", "writers"]),
        Some(_) => assert_eq!(names, ["all"]),
    }
    assert!(pools.iter().any(|pool| pool.busy + pool.idle > 0), "{pools:?}");
}
