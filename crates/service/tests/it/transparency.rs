//! Tests how statements enter the transparency log, and that its files verify.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    Clock as _,
    ports::{Durability, LogHead, StatementKind},
};
use sealpost_service::{Issue, Issued, Settings};
use sealpost_transparency::{
    Checkpoint, LogProof, Note, Policy, Statement, Tile, TileTree, TreeHash, VerifierKey,
    WitnessKey, verify_inclusion,
};

use crate::{
    badges::{GOOD, assess},
    channels,
    client::wait,
    support::{World, id},
};

/// Returns the head of the log once all statements are in it.
fn settled(world: &World) -> LogHead {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let found = world.database.read(|reader| {
            let is_done = !reader.has_pending_statements(0)?;
            Ok::<_, sealpost_domain::ports::StoreError>(reader.log_head()?.filter(|_| is_done))
        });
        if let Some(head) = found.unwrap() {
            return head;
        }
        assert!(Instant::now() < until, "statements are still pending");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Opens the tree of the published tiles.
fn tree(world: &World, size: u64) -> TileTree<impl FnMut(Tile) -> Result<Vec<TreeHash>, String>> {
    TileTree::new(size, |tile: Tile| {
        let path = tile.path();
        let bytes = wait(world.sealpost.transparency_log.file(path.strip_prefix("tile/").unwrap()))
            .unwrap();
        let bytes = bytes.ok_or_else(|| format!("no {path}"))?;
        Ok(bytes.chunks(32).map(|hash| TreeHash(hash.try_into().unwrap())).collect())
    })
}

#[test]
fn a_change_is_in_the_log_of_every_database() {
    for world in [World::new(), World::on_postgres(Settings::default())] {
        let other = world.another_node(Settings::default());
        let (alice, bob) = (world.newcomer(None), world.newcomer(None));
        world.operator().revoke_key(&id(&bob)).unwrap();
        let head = settled(&world);
        let key = wait(other.transparency_log.key()).unwrap().unwrap();
        let key = VerifierKey::parse(&key).unwrap();
        assert_eq!(key.name(), "seal.example.org/log");
        let note = Note::parse(&head.checkpoint).unwrap();
        assert_eq!(note.is_signed_by(&key), Ok(true));
        let checkpoint = Checkpoint::parse(note.text()).unwrap();
        // Two new keys, the revocation, and its entry in the audit trail.
        assert_eq!((checkpoint.size, head.size), (4, 4));
        let mut tree = tree(&world, 4);
        assert_eq!(tree.root().unwrap(), checkpoint.root);
        for (who, status) in [(&alice, "active"), (&bob, "revoked")] {
            let kind = StatementKind::Key;
            let found =
                world.database.read(|reader| reader.newest_statement(kind, &id(who).to_string()));
            let found = found.unwrap().unwrap();
            let at_ms = u64::try_from(found.at.as_millis()).unwrap();
            let statement = Statement {
                kind: "key".to_owned(),
                at_ms,
                salt: found.salt,
                text: found.text,
                envelope: None,
            };
            assert_eq!(statement.value("status"), Some(status));
            let proof = tree.inclusion_proof(found.number).unwrap();
            let leaf = statement.entry().hash();
            assert!(verify_inclusion(leaf, found.number, 4, &proof, checkpoint.root));
        }
    }
}

#[test]
fn an_entry_has_the_time_of_the_database_server() {
    let world = World::on_postgres(Settings::default());
    let server_time = || world.database.read(|reader| reader.shared_time(before_time())).unwrap();
    let before = server_time();
    let alice = id(&world.newcomer(None)).to_string();
    settled(&world);
    let found = world.database.read(|reader| reader.newest_statement(StatementKind::Key, &alice));
    let at = found.unwrap().unwrap().at;
    assert!((before..=server_time()).contains(&at), "{at}, not the time of the node's clock");
}

#[test]
fn a_changed_tree_gets_no_checkpoint() {
    let world = World::new();
    world.newcomer(None);
    let before = settled(&world);
    let forged = sealpost_domain::ports::StoredTile { level: 0, index: 0, hashes: vec![1; 32] };
    let store: &sealpost_storage::Database = &world.database;
    store
        .write(Durability::Durable, |tx| {
            tx.append_to_log(&[], before_time(), std::slice::from_ref(&forged), &before)
        })
        .unwrap();
    world.newcomer(None);
    // The appender runs each second: this takes at least two of its turns.
    let until = Instant::now() + Duration::from_millis(2_500);
    while Instant::now() < until {
        let head = world.database.read(sealpost_storage::Reader::log_head).unwrap().unwrap();
        assert_eq!(head, before);
        thread::sleep(Duration::from_millis(50));
    }
    assert!(world.database.read(|reader| reader.has_pending_statements(0)).unwrap());
}

/// Verifies a proof file with the published key, and returns its statement.
fn proven(world: &World, proof: Option<String>) -> Statement {
    let key = wait(world.sealpost.transparency_log.key()).unwrap().unwrap();
    let policy = Policy::parse(&format!("log {key}\nquorum none\n")).unwrap();
    let file = proof.unwrap();
    assert!(file.len() <= 2048, "{}", file.len());
    let proof = LogProof::parse(&file).unwrap();
    let statement = Statement::parse(&proof.extra).unwrap();
    policy.accept(&proof, &statement.entry(), 0).unwrap();
    statement
}

#[test]
fn callers_get_proofs_of_their_identity_and_of_badges() {
    for world in [World::new(), World::on_postgres(Settings::default())] {
        let alice = world.newcomer(None);
        settled(&world);
        let standing = world.sealpost.proven_status(&alice).result.unwrap();
        let statement = proven(&world, standing.proof);
        assert_eq!(statement.value("key"), Some(&*id(&alice).to_string()));
        assert_eq!(statement.value("did"), Some(standing.did.as_str()));
        assert_eq!(statement.value("status"), Some("active"));
        assess(&world, &alice, GOOD);
        let issued = world.sealpost.issue_badge(&alice, &Ok(Issue::default())).result.unwrap();
        let Issued::Badge(badge) = issued else { panic!("a dry run") };
        let verify = || {
            settled(&world);
            let asked = Ok(badge.credential.clone());
            let verified = world.sealpost.verify_badge(&alice, &asked).result.unwrap();
            proven(&world, verified.proof)
        };
        let statement = verify();
        assert_eq!(statement.value("badge"), Some(&*badge.badge_id.to_string()));
        assert_eq!(statement.value("status"), Some("valid"));
        world.operator().revoke_badge(&badge.badge_id, "test").unwrap();
        assert_eq!(verify().value("status"), Some("revoked"));
    }
}

#[test]
fn sender_and_recipient_get_the_proof_of_an_envelope() {
    for world in [World::new(), World::on_postgres(Settings::default())] {
        // On PostgreSQL, entries have the time of the server. The time of an envelope must be near it.
        let now = world.clock.now();
        let server = world.database.read(|reader| reader.shared_time(now)).unwrap();
        world.clock.advance(server.since(now));
        world.clock.set_back(now.since(server));
        let (alice, bob) = (world.newcomer(None), world.newcomer(None));
        let sent: Vec<_> = (0..3)
            .map(|_| wait(channels::send(&world.sealpost, &alice, &bob)).unwrap().message)
            .collect();
        settled(&world);
        for message in &sent {
            let id = message.envelope_id.to_string();
            let opened = world.sealpost.proven_open(&bob, &Ok(id.clone())).result.unwrap();
            let receipt = world.sealpost.proven_receipt(&alice, &Ok(id.clone())).result.unwrap();
            assert_eq!(opened.proof, receipt.proof);
            let statement = proven(&world, receipt.proof);
            assert_eq!(statement.kind, "envelopes");
            for (name, value) in [
                ("envelope", id),
                ("hash", opened.envelope_hash.to_string()),
                ("sender", opened.sender.to_string()),
                ("recipient", receipt.recipient.to_string()),
                ("sent_at", receipt.sent_at.as_millis().to_string()),
            ] {
                assert_eq!(statement.value(name), Some(&*value), "{name}");
            }
        }
    }
}

#[test]
fn evidence_of_a_log_without_witnesses_does_not_wait() {
    let world = World::new();
    let alice = world.newcomer(None);
    let sent = wait(channels::send(&world.sealpost, &alice, &alice)).unwrap().message;
    // The log had a witness before.
    cosign(&world.database, &settled(&world));
    // `wait` has no timer, so a pause would panic.
    let evidence = wait(world.sealpost.evidence(&alice, &sent.envelope_id.to_string()));
    assert!(!evidence.result.unwrap().cosigned);
}

#[tokio::test]
async fn evidence_waits_for_the_first_cosignature() {
    let world = World::with(Settings { has_log_witnesses: true, ..Settings::default() });
    let alice = world.newcomer(None);
    let sent = channels::send(&world.sealpost, &alice, &alice).await.unwrap().message;
    let (database, before) = (Arc::clone(&world.database), settled(&world));
    let witness = thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let head = database.read(sealpost_storage::Reader::log_head).unwrap().unwrap();
            if head.size > before.size {
                return cosign(&database, &head);
            }
            assert!(Instant::now() < until, "the log has no evidence");
            thread::yield_now();
        }
    });
    let evidence = world.sealpost.evidence(&alice, &sent.envelope_id.to_string()).await;
    witness.join().unwrap();
    assert!(evidence.result.unwrap().cosigned);
}

#[test]
fn a_late_cosignature_replaces_no_newer_checkpoint() {
    let world = World::new();
    let [older, newer] = [(); 2].map(|()| {
        world.newcomer(None);
        settled(&world)
    });
    assert!(older.size < newer.size);
    for (late, kept) in [(&older, &older), (&newer, &newer), (&older, &newer)] {
        world.sealpost.transparency_log.store_witnessed(&late.checkpoint).unwrap();
        let head = world.database.read(sealpost_storage::Reader::log_head).unwrap().unwrap();
        assert_eq!(head.witnessed.as_ref(), Some(&kept.checkpoint));
    }
}

#[test]
fn a_checkpoint_keeps_the_cosignatures_that_different_nodes_got() {
    let world = World::new();
    world.newcomer(None);
    let (log, head) = (&world.sealpost.transparency_log, settled(&world));
    let note = Note::parse(&head.checkpoint).unwrap();
    let witnesses = [7, 8].map(|n| WitnessKey::new(&format!("w{n}.example"), &[n; 32]).unwrap());
    let [first, second] = witnesses.each_ref().map(WitnessKey::public);
    for witness in &witnesses {
        assert!(log.unwitnessed_checkpoint(&[first, second]).unwrap().is_some());
        let mut cosigned = note.clone();
        cosigned.add(witness.cosign(note.text(), 1_700_000_000).unwrap());
        log.store_witnessed(&cosigned.to_string()).unwrap();
    }
    let head = world.database.read(sealpost_storage::Reader::log_head).unwrap().unwrap();
    let stored = Note::parse(&head.witnessed.unwrap()).unwrap();
    for key in [first, second] {
        assert_eq!(stored.cosigned_at(key), Ok(Some(1_700_000_000)));
    }
    assert!(log.unwitnessed_checkpoint(&[first, second]).unwrap().is_none());
}

/// Stores the checkpoint as one that witnesses have cosigned.
fn cosign(store: &sealpost_storage::Database, head: &LogHead) {
    let LogHead { origin, checkpoint, .. } = head;
    store.write(Durability::Durable, |tx| tx.set_witnessed(origin, checkpoint)).unwrap();
}

fn before_time() -> sealpost_domain::Timestamp {
    sealpost_domain::Timestamp::from_millis(0)
}
