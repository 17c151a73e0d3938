//! Tests the turns of nodes at housekeeping tasks (the exclusive right to run a task), and the stored time of each
//! task.

use std::{thread, time::Duration};

use sealpost_domain::{
    LeaseToken,
    ports::{Durability::Relaxed, HousekeepingTurn},
};

use crate::{
    connection::AnyConnection,
    tests::fixture::{Fixture, at},
};

on_both!(
    a_task_belongs_to_one_node_until_its_turn_ends,
    tasks_are_independent,
    one_of_many_nodes_gets_the_turn,
    the_clock_of_a_task_moves_no_faster_than_its_pace,
    a_clock_that_falls_behind_moves_the_task_back_by_its_pace_only,
    a_turn_far_in_the_future_does_not_block,
    a_node_ahead_of_the_server_uses_the_time_of_the_server,
);

fn take(db: &Fixture, task: &str, node: i64, now: i64, until: i64) -> bool {
    let held_for = at(until).since(at(now));
    let pace = Duration::from_hours(1);
    let turn = HousekeepingTurn { task, node: LeaseToken(node), now: at(now), held_for, pace };
    db.write(Relaxed, |tx| tx.take_housekeeping_turn(&turn)).unwrap().is_some()
}

/// Takes a turn of 10 ms. Returns the time that the task uses as the current time, in milliseconds.
fn time_of(db: &Fixture, now: i64, pace: u64) -> i64 {
    let (held_for, pace) = (Duration::from_millis(10), Duration::from_millis(pace));
    let turn =
        HousekeepingTurn { task: "purge", node: LeaseToken(1), now: at(now), held_for, pace };
    db.write(Relaxed, |tx| tx.take_housekeeping_turn(&turn)).unwrap().unwrap().as_millis()
}

fn a_task_belongs_to_one_node_until_its_turn_ends(db: &Fixture) {
    assert!(take(db, "purge", 1, 0, 100));
    assert!(!take(db, "purge", 2, 50, 150));
    assert!(take(db, "purge", 1, 60, 160), "the holder may extend its turn");
    assert!(!take(db, "purge", 2, 159, 300));
    assert!(take(db, "purge", 2, 160, 300));
    assert!(!take(db, "purge", 1, 161, 400));
}

fn tasks_are_independent(db: &Fixture) {
    assert!(take(db, "one", 1, 0, 100));
    assert!(take(db, "other", 2, 0, 100));
    assert!(!take(db, "one", 2, 0, 100));
}

fn one_of_many_nodes_gets_the_turn(db: &Fixture) {
    for now in [0, 100, 200] {
        let taken: Vec<_> = thread::scope(|scope| {
            let nodes = 1000 * now..1000 * now + 5;
            let nodes: Vec<_> = nodes
                .map(|node| scope.spawn(move || take(db, "purge", node, now, now + 100)))
                .collect();
            nodes.into_iter().map(|node| node.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "{now}");
    }
}

fn the_clock_of_a_task_moves_no_faster_than_its_pace(db: &Fixture) {
    assert_eq!(time_of(db, 1_000, 100), 1_000, "the first turn sets the clock");
    assert_eq!(time_of(db, 1_100, 100), 1_100);
    let year_ahead = 31_536_000_000;
    assert_eq!(time_of(db, year_ahead, 100), 1_200);
    assert_eq!(time_of(db, year_ahead, 100), 1_300);
    assert_eq!(time_of(db, year_ahead, 0), 1_300);
    assert_eq!(time_of(db, 1_301, 100), 1_301);
    assert_eq!(time_of(db, 1_250, 0), 1_250, "never later than the clock of the node");
}

fn a_clock_that_falls_behind_moves_the_task_back_by_its_pace_only(db: &Fixture) {
    assert_eq!(time_of(db, 1_000_000, 100), 1_000_000);
    assert_eq!(time_of(db, 0, 100), 0);
    assert_eq!(time_of(db, 2_000_000, 100), 1_000_000, "100 back, 100 forward");
    assert_eq!(time_of(db, 0, 100), 0);
    assert_eq!(time_of(db, 0, 100), 0);
    assert_eq!(time_of(db, 2_000_000, 0), 999_800);
}

fn a_turn_far_in_the_future_does_not_block(db: &Fixture) {
    assert!(take(db, "purge", 1, 0, 100));
    let far = 9_000_000_000_000_000_000_i64;
    db.execute(&format!("UPDATE housekeeping_tasks SET until = {far}")).unwrap();
    assert!(take(db, "purge", 2, 50, 150));
    assert!(take(db, "purge", 3, 50, 150), "the clock of the task is still far ahead");
    assert_eq!(
        db.count(&format!("housekeeping_tasks WHERE until < {far} - 7000000")),
        1,
        "the clock moves back by its pace"
    );
}

fn a_node_ahead_of_the_server_uses_the_time_of_the_server(db: &Fixture) {
    let ahead = 4_102_444_800_000; // 2100
    let server_is_asked = matches!(db.raw(), AnyConnection::Postgres(_));
    assert_eq!(time_of(db, ahead, 100) < ahead, server_is_asked);
    // A node with a clock behind the server does not get the turn either.
    assert_eq!(take(db, "purge", 2, 0, 10), !server_is_asked);
}
