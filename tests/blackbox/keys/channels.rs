//! Tests of the channel suite, in which one key encapsulation serves many envelopes of a sender and a recipient.
//! Envelopes open on every node at any time, unless a stored row was changed.

use serde_json::Value;

use crate::support::{Database, Identity, Receiver, Server, on_both, on_embedded, text};

on_both!(
    a_stored_channel_is_not_written_again,
    a_pair_shares_a_channel_on_each_node_and_every_node_opens_it,
    envelopes_open_after_a_kill_and_after_every_key_rotation,
    rows_changed_by_hand_do_not_open,
);
on_embedded!(the_limits_of_a_channel_are_settings);

fn serve(database: &Database) -> Server {
    database.serve_with(&["--suite", "channel"])
}

fn send(server: &Server, from: &Identity, to: &Identity) -> String {
    let sent = server.send(from, &to.key, MESSAGE).ok();
    assert_eq!(sent["encryption"]["algorithm"], ALGORITHM);
    // The payload has a header and a tag, but no encapsulation.
    assert_eq!(sent["metadata"]["payload_size_bytes"], MESSAGE.len() + 38);
    text(&sent, "envelope_id")
}

#[track_caller]
fn check_opens(server: &Server, identity: &Identity, envelope: &str) -> Value {
    let opened = server.open(identity, envelope).ok();
    assert_eq!(opened["message"], MESSAGE);
    assert_eq!(opened["encryption"]["algorithm"], ALGORITHM);
    opened
}

fn a_pair_shares_a_channel_on_each_node_and_every_node_opens_it(database: &Database) {
    let nodes = database.serve_on_every_node_with(&["--suite", "channel"]);
    let (client, receiver) = (nodes[0].client(), Receiver::start());
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let secret = text(&client.register(&bob, &receiver.url), "secret");
    let envelopes: Vec<_> =
        nodes.iter().chain(&nodes).map(|node| send(node, &alice, &bob)).collect();
    assert_eq!(usize::try_from(database.count("channels")), Ok(nodes.len()));
    for request in receiver.await_requests(envelopes.len()) {
        request.verify(&secret);
        assert_eq!(request.json()["encryption"]["algorithm"], ALGORITHM);
    }
    for node in &nodes {
        for envelope in &envelopes {
            check_opens(node, &bob, envelope);
            node.open(&alice, envelope).refused(404, "ENVELOPE_NOT_FOUND");
        }
    }
}

/// The test deletes the row of a channel. The row would return if a node wrote the channel again with its envelopes.
fn a_stored_channel_is_not_written_again(database: &Database) {
    let server = serve(database);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    send(&server, &alice, &bob);
    assert_eq!(database.count("channels"), 1);
    database.by_hand("CREATE TABLE kept AS SELECT * FROM channels; DELETE FROM channels");
    let envelope = send(&server, &alice, &bob);
    assert_eq!(database.count("channels"), 0);
    database.by_hand("INSERT INTO channels SELECT * FROM kept");
    check_opens(&server, &bob, &envelope);
}

fn envelopes_open_after_a_kill_and_after_every_key_rotation(database: &Database) {
    let server = serve(database);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let mut envelopes = vec![send(&server, &alice, &bob), send(&server, &alice, &bob)];
    server.kill();

    let server = serve(database);
    envelopes.push(send(&server, &alice, &bob));
    database.operate(&["key", "rotate", &bob.key]);
    envelopes.push(send(&server, &alice, &bob));
    database.operate(&["kek", "rotate"]);
    envelopes.push(send(&server, &alice, &bob));
    assert_eq!(database.count("channels"), 3, "one for each process and one for each sealing key");
    assert_eq!(database.count("channels WHERE sealing_version = 2"), 1);
    for envelope in &envelopes {
        check_opens(&server, &bob, envelope);
    }
    server.stop();
    let server = database.serve();
    for envelope in &envelopes {
        check_opens(&server, &bob, envelope);
    }
    database.operate(&["key", "revoke", &alice.key]);
    check_opens(&server, &bob, &envelopes[0]);
    database.operate(&["key", "revoke", &bob.key]);
    server.open(&bob, &envelopes[0]).refused(403, "KEY_INACTIVE");
}

fn the_limits_of_a_channel_are_settings(database: &Database) {
    let flags = ["--suite", "channel", "--channel-envelopes=2", "--channels-cached=1"];
    let server = database.serve_with(&flags);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for expected in [1, 1, 2] {
        send(&server, &alice, &bob);
        assert_eq!(database.count("channels"), expected);
    }
    // Another pair takes the only slot.
    for (to, expected) in [(&alice, 3), (&bob, 4)] {
        send(&server, &alice, to);
        assert_eq!(database.count("channels"), expected);
    }
}

/// Swaps rows between two pairs of sender and recipient. The caches of the server do not hide the change.
fn rows_changed_by_hand_do_not_open(database: &Database) {
    let server = serve(database);
    let [alice, bob, carol] = [(); 3].map(|()| server.new_identity());
    database.set_enterprise(&bob.key, [1000, 1000, 1000, 1000]);
    let envelope = send(&server, &alice, &bob);
    let other = send(&server, &carol, &bob);
    check_opens(&server, &bob, &envelope);
    check_opens(&server, &bob, &other);
    database.by_hand("CREATE TABLE kept AS SELECT * FROM channels");
    database.by_hand("CREATE TABLE kept_envelopes AS SELECT * FROM envelopes");
    let (mine, not_mine) =
        (format!("sender = '{}'", alice.key), format!("sender = '{}'", carol.key));
    let from_other = |column: &str, table: &str| {
        format!("UPDATE {table} SET {column} = (SELECT {column} FROM kept_{table} WHERE {not_mine}) WHERE {mine}")
            .replace("kept_channels", "kept")
    };
    for change in [
        format!("UPDATE channels SET sealing_version = 2 WHERE {mine}"),
        format!("UPDATE channels SET sender = '{}' WHERE {mine}", carol.key),
        format!("UPDATE channels SET recipient = '{}' WHERE {mine}", alice.key),
        from_other("encapsulation", "channels"),
        from_other("signature", "channels"),
        format!("DELETE FROM channels WHERE {mine}"),
        from_other("sealed", "envelopes"),
        from_other("signature", "envelopes"),
        format!("UPDATE envelopes SET sender = '{}' WHERE {mine}", carol.key),
        format!("UPDATE envelopes SET suite = 2 WHERE {mine}"),
        format!("UPDATE envelopes SET created_at = created_at + 1 WHERE {mine}"),
    ] {
        database.by_hand(&change);
        server.open(&bob, &envelope).refused(500, "INTERNAL_ERROR");
        check_opens(&server, &bob, &other);
        database.by_hand(
            "DELETE FROM channels; INSERT INTO channels SELECT * FROM kept;
             DELETE FROM envelopes; INSERT INTO envelopes SELECT * FROM kept_envelopes",
        );
    }
    check_opens(&server, &bob, &envelope);
    assert!(!server.log().contains(MESSAGE));
}

const MESSAGE: &str = "One seal for many letters.";
const ALGORITHM: &str = "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519";
