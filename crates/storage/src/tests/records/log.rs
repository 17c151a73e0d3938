//! Tests of the transparency log.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{
    IssuerKeyId, KeyStatus,
    ports::{
        ClosingExtent, Durability::Durable, EnvelopeList, LogHead, NewLogEntry, PendingStatement,
        StatementKind, StoredTile, WriteSet,
    },
};

use crate::tests::fixture::{Fixture, at, envelope};

on_both!(
    each_change_of_an_identity_is_a_statement,
    the_audit_trail_is_stated,
    appended_statements_are_found_by_their_subject,
    a_tile_grows_and_entries_are_read_in_order,
    an_envelope_is_found_in_the_list_of_its_batch,
    an_envelope_is_found_after_many_earlier_lists,
    an_erasure_deletes_the_statements_of_the_account,
);

fn pending(db: &Fixture) -> Vec<PendingStatement> {
    db.read(|reader| reader.pending_statements(0, 100)).unwrap()
}

fn head(size: u64) -> LogHead {
    let (origin, checkpoint) = ("example.org/log".to_owned(), format!("checkpoint {size}"));
    let issuer_key = IssuerKeyId::new(at(1), [9; 10]);
    LogHead { origin, issuer_key, size, checkpoint, witnessed: None }
}

/// Appends all pending statements, the first with the number `first`.
fn append(db: &Fixture, first: u64) -> Vec<NewLogEntry> {
    let entries: Vec<_> = pending(db)
        .into_iter()
        .zip(first..)
        .map(|(statement, number)| NewLogEntry {
            statement: Some(statement.id),
            number,
            salt: [u8::try_from(number).unwrap(); 32],
            entry: statement.text.into_bytes(),
            list: None,
        })
        .collect();
    let size = first + u64::try_from(entries.len()).unwrap();
    db.write(Durable, |tx| tx.append_to_log(&entries, at(7), &[], &head(size))).unwrap();
    entries
}

fn each_change_of_an_identity_is_a_statement(db: &Fixture) {
    assert!(!db.read(|reader| reader.has_pending_statements(0)).unwrap());
    let key = db.activate();
    db.write(Durable, |tx| tx.set_status(&key.id, KeyStatus::Deactivated)).unwrap();
    // The label and the plan are not part of a statement, so their change adds no statement. The next two changes do.
    db.execute("UPDATE api_keys SET label = 'other', plan = 'pro'").unwrap();
    db.execute("UPDATE api_keys SET did = 'did:key:other'").unwrap();
    db.execute("UPDATE api_keys SET sealing_version = 2").unwrap();
    assert!(db.read(|reader| reader.has_pending_statements(0)).unwrap());
    let found = pending(db);
    assert!(found.iter().all(|statement| statement.kind == "key"));
    let texts: Vec<_> = found.into_iter().map(|statement| statement.text).collect();
    let text = |did: &str, version, status| {
        format!("key {}\ndid {did}\nsealing_version {version}\nstatus {status}\n", key.id)
    };
    assert_eq!(
        texts,
        [
            text(key.did.as_str(), 1, "active"),
            text(key.did.as_str(), 1, "deactivated"),
            text("did:key:other", 1, "deactivated"),
            text("did:key:other", 2, "deactivated"),
        ]
    );
}

fn the_audit_trail_is_stated(db: &Fixture) {
    let bytes = |hex: &str| {
        if db.has_single_writer() { format!("x'{hex}'") } else { format!("'\\x{hex}'") }
    };
    let (previous, hash) = (bytes("00"), bytes("AB01"));
    let row = format!("(1, 1, 'a', 'b', 'c', '{{}}', {previous}, {hash})");
    db.execute(&format!("INSERT INTO audit_entries VALUES {row}")).unwrap();
    let found = pending(db);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind.as_str(), found[0].text.as_str()), ("audit", "entry 1\nhash ab01\n"));
}

fn appended_statements_are_found_by_their_subject(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let newest = |key: &sealpost_domain::ApiKeyId| {
        db.read(|reader| reader.newest_statement(StatementKind::Key, &key.to_string())).unwrap()
    };
    assert_eq!(newest(&key.id), None);
    append(db, 0);
    assert_eq!(newest(&key.id).unwrap().number, 0);
    db.write(Durable, |tx| tx.set_status(&key.id, KeyStatus::Deactivated)).unwrap();
    assert_eq!(newest(&key.id), None, "the newest statement is not in the log yet");
    append(db, 2);
    assert!(pending(db).is_empty());
    let found = newest(&key.id).unwrap();
    assert_eq!((found.number, found.at, found.salt), (2, at(7), [2; 32]));
    assert!(found.text.ends_with("status deactivated\n"), "{}", found.text);
    let of_entry = |number| db.read(|reader| reader.statement_of_entry(number)).unwrap();
    assert_eq!((of_entry(2), of_entry(3)), (Some(found), None));
    assert_eq!(newest(&other.id).unwrap().number, 1);
    assert_eq!(db.read(crate::Reader::log_head).unwrap(), Some(head(3)));
    assert_eq!(db.write(Durable, crate::Transaction::lock_log).unwrap(), Some(head(3)));
    assert_eq!(db.count("log_heads"), 1);
    db.write(Durable, |tx| tx.set_witnessed("example.org/log", "cosigned")).unwrap();
    append(db, 3);
    let kept = LogHead { witnessed: Some("cosigned".to_owned()), ..head(3) };
    assert_eq!(db.read(crate::Reader::log_head).unwrap(), Some(kept));
}

fn a_tile_grows_and_entries_are_read_in_order(db: &Fixture) {
    for _ in 0..3 {
        db.activate();
    }
    let entries = append(db, 0);
    let tile = |length: usize| StoredTile { level: 1, index: 4, hashes: vec![9; length] };
    for length in [32, 64] {
        db.write(Durable, |tx| tx.append_to_log(&[], at(1), &[tile(length)], &head(3))).unwrap();
    }
    assert_eq!(db.read(|reader| reader.log_tile(1, 4)).unwrap(), Some(vec![9; 64]));
    for (level, index) in [(1, 5), (0, 4), (1, u64::MAX)] {
        assert_eq!(db.read(|reader| reader.log_tile(level, index)).unwrap(), None);
    }
    let read = |first, limit| db.read(|reader| reader.log_entries(first, limit)).unwrap();
    assert_eq!(read(1, 1), [entries[1].entry.clone()]);
    assert_eq!(read(1, 9), [entries[1].entry.clone(), entries[2].entry.clone()]);
    assert_eq!(read(3, 9), Vec::<Vec<u8>>::new());
}

fn an_envelope_is_found_in_the_list_of_its_batch(db: &Fixture) {
    let (first, second) = ([1; 32], [2; 32]);
    let key = db.activate();
    append(db, 0);
    for leaves in [vec![1; 32], vec![2; 32], vec![]] {
        let envelopes = vec![Arc::new(envelope(&key.id, &key.id))];
        db.apply(&WriteSet { envelopes, leaves, ..WriteSet::default() });
    }
    let found = pending(db);
    let leaves: Vec<_> = found.iter().map(|statement| statement.leaves.clone()).collect();
    assert_eq!(leaves, [first.to_vec(), second.to_vec()], "no statement without hashes");
    assert!(found.iter().all(|statement| statement.kind == "envelopes"));
    let find = |leaf: &[u8; 32], sent_at| {
        db.read(|reader| reader.find_envelope_list(leaf, at(sent_at), Duration::ZERO)).unwrap()
    };
    assert_eq!(find(&first, 0), None, "it is not in the log yet");
    let list = EnvelopeList {
        text: "envelopes 2\n".to_owned(),
        leaves: leaves.concat(),
        replaced: vec![found[1].id],
    };
    let entries = [NewLogEntry {
        statement: Some(found[0].id),
        number: 1,
        salt: [3; 32],
        entry: vec![4],
        list: Some(list),
    }];
    db.write(Durable, |tx| tx.append_to_log(&entries, at(7), &[], &head(2))).unwrap();
    assert!(pending(db).is_empty());
    for leaf in [&first, &second] {
        let (statement, leaves) = find(leaf, 7).unwrap();
        assert_eq!((statement.number, statement.at, statement.salt), (1, at(7), [3; 32]));
        assert_eq!((statement.text.as_str(), leaves.len()), ("envelopes 2\n", 64));
        assert_eq!(find(leaf, 8), None);
    }
    assert_eq!(find(&[9; 32], 0), None);
    let purge = |before| db.write(Durable, |tx| tx.purge_envelope_lists(at(before), 9)).unwrap();
    assert_eq!((purge(7), purge(8)), (0, 1));
    assert_eq!((find(&first, 0), db.count("log_entries")), (None, 2));
}

fn an_envelope_is_found_after_many_earlier_lists(db: &Fixture) {
    let key = db.activate();
    append(db, 0);
    db.apply(&WriteSet {
        envelopes: vec![Arc::new(envelope(&key.id, &key.id))],
        leaves: vec![1; 32],
        ..WriteSet::default()
    });
    append(db, 1);
    let find = |sent_at, skew| {
        let skew = Duration::from_millis(skew);
        db.read(|reader| reader.find_envelope_list(&[1; 32], at(sent_at), skew)).unwrap().is_some()
    };
    // Adds lists of other envelopes, which were appended at the time 5.
    db.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
         INSERT INTO log_statements (kind, subject, text, number, at, salt, leaves)
         SELECT 'envelopes', '', text, 1000 + i, 5, salt, salt FROM log_statements, n
         WHERE number = 0",
    )
    .unwrap();
    assert!(find(6, 5), "lists from before the send do not count");
    assert!(!find(5, 5), "more than 100 lists after the send");
    // The clock of the node that stored the envelope is ahead of the time of the entry.
    assert_eq!([find(8, 1), find(8, 0), find(9, 1)], [true, false, false]);
}

fn an_erasure_deletes_the_statements_of_the_account(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    append(db, 0);
    db.write(Durable, |tx| tx.begin_closing(&key.account_id, ClosingExtent::Erase, at(9))).unwrap();
    while !db.write(Durable, |tx| tx.close_portion(&key.account_id, at(9), 1)).unwrap().is_complete
    {
    }
    assert_eq!(db.count(&format!("log_statements WHERE api_key_id = '{}'", key.id)), 0);
    assert_eq!(db.count(&format!("log_statements WHERE api_key_id = '{}'", other.id)), 1);
    assert_eq!(db.count("log_entries"), 2);
}
