//! Tests of the check for free space, which only an SQLite database needs.

use diesel::connection::SimpleConnection;
use sealpost_domain::ports::{Durability::Durable, Store as _};

use crate::{
    connection::on_backend,
    disk_space::reusable_bytes,
    tests::fixture::{postgres, sqlite},
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
    let before = db.read(reusable_bytes).unwrap();
    run("CREATE TABLE rows (content BLOB); INSERT INTO rows VALUES (zeroblob(1000000))");
    run("DELETE FROM rows");
    let reusable = db.read(reusable_bytes).unwrap() - before;
    assert!((950_000..=1_050_000).contains(&reusable), "{reusable}");
}
