//! Tests of the check for free disk space, which only an SQLite database needs.

use diesel::{RunQueryDsl as _, connection::SimpleConnection, dsl::sql, sql_types::BigInt};
use sealpost_domain::ports::Durability::{Durable, Relaxed};

use crate::{
    connection::{on_backend, transaction::Transaction},
    disk_space::reusable_bytes,
    tests::fixture::{at, postgres, sqlite},
};

#[test]
fn the_space_of_an_embedded_database_is_short_below_the_minimum() {
    let db = sqlite();
    assert!(!db.is_short_of_space(0).unwrap());
    assert!(!db.is_short_of_space(4096).unwrap());
    assert!(db.is_short_of_space(u64::MAX).unwrap());
}

#[test]
fn the_space_of_a_server_is_never_short() {
    assert!(!postgres().is_short_of_space(u64::MAX).unwrap());
}

#[test]
fn deleted_rows_leave_reusable_space() {
    let db = sqlite();
    let run = |sql: &str| {
        db.transact(Durable, |conn| Ok(on_backend!(conn, c => c.batch_execute(sql))?)).unwrap();
    };
    let before = db.look_up(reusable_bytes).unwrap();
    run("CREATE TABLE rows (content BLOB); INSERT INTO rows VALUES (zeroblob(1000000))");
    run("DELETE FROM rows");
    let reusable = db.look_up(reusable_bytes).unwrap() - before;
    assert!((950_000..=1_050_000).contains(&reusable), "{reusable}");
}

#[test]
fn new_envelopes_use_the_pages_that_retention_has_freed() {
    let db = sqlite();
    let to = db.register(&db.activate().id);
    let cycle = || {
        db.send(&to, 1500);
        let purge = |limit| {
            let before = at(1 << 40);
            let purge = |tx: &mut Transaction| {
                Ok(tx.purge_envelopes(before, at(9), limit)? + tx.purge_events(before, limit)?)
            };
            db.write(Relaxed, purge).unwrap()
        };
        while purge(400) > 0 {}
        let pages = sql::<BigInt>("(SELECT page_count FROM pragma_page_count)");
        diesel::select(pages).get_result::<i64>(&mut db.raw()).unwrap()
    };
    let first = cycle();
    assert!(db.look_up(reusable_bytes).unwrap() > 400_000, "{first} pages");
    let later = [cycle(), cycle(), cycle()];
    assert!(later.iter().all(|pages| *pages <= first + first / 50), "{first}, then {later:?}");
}
