//! What a database says of itself.

use sealpost_domain::ports::Store;

use super::fixture::Fixture;

on_both!(a_database_names_its_engine, connections_are_counted_by_pool);

fn a_database_names_its_engine(db: &Fixture) {
    let about = db.about().unwrap();
    match about.server {
        None => assert!(about.engine.starts_with("SQLite 3."), "{about:?}"),
        Some(server) => {
            assert!(about.engine.starts_with("PostgreSQL "), "{about:?}");
            assert!(server.version > 90_000 && server.connections_max > 1, "{about:?}");
            assert!(server.now.as_millis() > 1_767_225_600_000, "{about:?}");
            assert!(db.about().unwrap().server.unwrap().now >= server.now);
        }
    }
}

fn connections_are_counted_by_pool(db: &Fixture) {
    db.check().unwrap();
    let pools = db.connections();
    let names: Vec<_> = pools.iter().map(|pool| pool.pool).collect();
    match db.about().unwrap().server {
        None => assert_eq!(names, ["readers", "writers"]),
        Some(_) => assert_eq!(names, ["all"]),
    }
    assert!(pools.iter().any(|pool| pool.busy + pool.idle > 0), "{pools:?}");
}
