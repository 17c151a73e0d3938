//! Tests the list of nodes, and the list of their turns at housekeeping tasks.

use std::time::Duration;

use sealpost_domain::{
    LeaseToken, Timestamp,
    ports::{Durability::Relaxed, HousekeepingTurn, Node},
};

use crate::tests::fixture::{Fixture, at};

on_both!(a_node_renews_its_row_and_old_rows_are_deleted, the_last_turn_of_each_task_is_listed);

fn node(id: i64, seen_at: i64) -> Node {
    Node {
        id: LeaseToken(id),
        host: format!("host-{id}"),
        version: "1.2.3".to_owned(),
        base_url: format!("https://{id}.example.org"),
        started_at: at(1),
        seen_at: at(seen_at),
    }
}

fn a_node_renews_its_row_and_old_rows_are_deleted(db: &Fixture) {
    let record = |node: &Node, kept_from: Timestamp| {
        db.write(Relaxed, |tx| tx.record_node(node, kept_from)).unwrap();
    };
    let listed = |limit| db.read(|reader| reader.nodes(limit)).unwrap();
    record(&node(-7, 10), at(0));
    record(&node(i64::MAX, 20), at(0));
    record(&node(-7, 30), at(0));
    assert_eq!(listed(100), [node(-7, 30), node(i64::MAX, 20)]);
    assert_eq!(listed(1), [node(-7, 30)]);
    record(&node(-7, 40), at(21));
    assert_eq!(listed(100), [node(-7, 40)]);
}

fn the_last_turn_of_each_task_is_listed(db: &Fixture) {
    let now = Timestamp::from_millis(1_000_000);
    for (task, node) in [("sessions", 1), ("envelopes", 2), ("sessions", 1)] {
        let turn = HousekeepingTurn {
            task,
            node: LeaseToken(node),
            now,
            held_for: Duration::from_mins(1),
            pace: Duration::ZERO,
        };
        db.write(Relaxed, |tx| tx.take_housekeeping_turn(&turn)).unwrap().unwrap();
    }
    let turns = db.read(crate::Reader::task_turns).unwrap();
    let turns: Vec<_> = turns.into_iter().map(|it| (it.task, it.node.0, it.until)).collect();
    let until = now.plus(Duration::from_mins(1));
    assert_eq!(turns, [("envelopes".to_owned(), 2, until), ("sessions".to_owned(), 1, until)]);
}
