//! Tests of the commands that list accounts and keys and count stored objects, while a server runs.

use serde_json::{Value, json};

use crate::support::{
    Database, Reaction, Receiver, SOON, eventually, has, on_both, on_embedded, run, text,
};

on_both!(
    accounts_are_listed_and_shown,
    keys_are_listed_by_every_filter,
    a_list_continues_at_its_cursor,
    stats_count_what_is_stored,
    stats_list_failing_webhooks_housekeeping_and_nodes,
    ended_sessions_are_rejected,
    a_webhook_is_listed_and_disabled,
);
on_embedded!(lists_refuse_what_they_do_not_know);

/// Returns the values of one field, in the order of the lines.
fn column(lines: &[Value], field: &str) -> Vec<String> {
    lines.iter().map(|line| text(line, field)).collect()
}

fn accounts_are_listed_and_shown(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let sibling = server.sibling(&alice);
    let target = json!({"url": "https://93.184.216.34/", "events": ["envelope.received"]});
    server.act(&sibling, "/v1/webhooks/register", &target).ok();
    database.operate(&["partner", "assign", &bob.account, "acme"]);
    database.operate(&["key", "deactivate", &sibling.key]);

    let listed = database.operate_lines(&["account", "list"]);
    assert_eq!(column(&listed, "account_id"), [&*bob.account, &alice.account]);
    let created_at = text(&listed[1], "created_at");
    assert_eq!(
        listed[1],
        json!({
            "account_id": alice.account, "partner": null, "key_count": 2, "created_at": created_at,
            "closed_at": null, "erased_at": null,
        })
    );
    assert_eq!(listed[0]["partner"], "acme");

    let shown = database.operate(&["account", "show", &alice.account]);
    let keys = shown["keys"].as_array().unwrap();
    has(&shown, &json!({"key_count": 2, "session_count": 1, "webhook_count": 1}));
    assert_eq!(text(&shown, "created_at"), created_at);
    assert_eq!(column(keys, "api_key_id"), [&*sibling.key, &alice.key]);
    assert_eq!(column(keys, "status"), ["deactivated", "active"]);
    assert_eq!(keys[1]["handle"], "alice");

    let stdout = run(database.admin_command(&["account", "show", &alice.account])).ok();
    assert_eq!(stdout.lines().filter(|line| line.starts_with("ak_")).count(), 2, "{stdout}");
    assert!(stdout.contains(&format!("created_at      {created_at}\n")), "{stdout}");
}

fn keys_are_listed_by_every_filter(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let sibling = server.sibling(&alice);
    database.operate(&["key", "deactivate", &bob.key]);
    database.operate(&["plan", "set", &bob.key, "builder"]);
    for (filter, expected) in [
        (&[][..], &[&sibling, &bob, &alice][..]),
        (&["--account", &alice.account], &[&sibling, &alice]),
        (&["--handle", "alice"], &[&alice]),
        (&["--label", "another"], &[&sibling]),
        (&["--status", "deactivated"], &[&bob]),
        (&["--plan", "explorer"], &[&sibling, &alice]),
        (&["--plan", "explorer", "--label", "somebody"], &[&alice]),
        (&["--status", "rotating"], &[]),
    ] {
        let listed = database.operate_lines(&[&["key", "list"], filter].concat());
        let expected: Vec<_> = expected.iter().map(|identity| identity.key.as_str()).collect();
        assert_eq!(column(&listed, "api_key_id"), expected, "{filter:?}");
    }
    let mut alone = database.operate_lines(&["key", "list", "--handle", "alice"]).remove(0);
    let shown = database.operate(&["key", "show", &alice.key]);
    let blocked = alone.as_object_mut().and_then(|row| row.remove("blocked"));
    assert_eq!(blocked.as_ref(), Some(&shown["governance"]["blocked"]));
    for (field, value) in alone.as_object().unwrap() {
        assert_eq!(shown[field], *value, "{field}: {shown}");
    }
    assert!(text(&alone, "created_at").ends_with('Z'), "{alone}");
}

fn a_list_continues_at_its_cursor(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let mut keys: Vec<_> = (0..4).map(|_| server.sibling(&alice).key).collect();
    keys.insert(0, alice.key);
    keys.reverse();
    let page = |cursor: &str| {
        let arguments = ["key", "list", "--limit", "2", "--cursor", cursor];
        let arguments = if cursor.is_empty() { &arguments[..4] } else { &arguments };
        let stdout = run(database.admin_command(arguments)).ok();
        assert_eq!(
            column(&database.operate_lines(arguments), "api_key_id"),
            stdout.lines().filter_map(first_word).collect::<Vec<_>>()
        );
        stdout
    };
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let shown = page(&cursor);
        found.extend(shown.lines().filter_map(first_word).map(str::to_owned));
        let Some((_, next)) = shown.split_once("for the next page, add --cursor ") else { break };
        next.trim().clone_into(&mut cursor);
    }
    assert_eq!(found, keys);
}

fn first_word(line: &str) -> Option<&str> {
    line.split("  ").next().filter(|word| word.starts_with("ak_"))
}

fn stats_count_what_is_stored(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.sibling(&alice);
    database.operate(&["plan", "set", &bob.key, "builder"]);
    server.send(&alice, &bob.key, "one").ok();
    server.send(&alice, &bob.key, "two").ok();
    let stats = database.operate(&["stats"]);
    for (field, expected) in [
        ("accounts", json!(2)),
        ("keys", json!({"active": 3})),
        ("plans", json!({"builder": 1, "explorer": 2})),
        ("webhooks", json!({})),
        ("envelopes", json!(2)),
        ("envelopes_more", json!(false)),
        ("waiting_deliveries", json!(0)),
        ("waiting_deliveries_more", json!(false)),
        // Housekeeping counts the messages of a day later.
        ("sent_7d", json!(0)),
        ("delivered_7d", json!(0)),
    ] {
        assert_eq!(stats[field], expected, "{field}: {stats}");
    }
    assert!(stats["database_bytes"].as_u64().unwrap() > 10_000, "{stats}");
    let shown = run(database.admin_command(&["stats"]));
    let has_accounts = |line: &str| line.split_whitespace().eq(["accounts", "2"]);
    assert!(shown.stdout.lines().any(has_accounts), "{shown:?}");
}

fn stats_list_failing_webhooks_housekeeping_and_nodes(database: &Database) {
    // A short retention time makes housekeeping run every 500 ms.
    let mut nodes = database.serve_on_every_node_with(&["--retention", "10s"]);
    let client = nodes[0].client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let failing = Receiver::reacting(|_| Reaction::Status(500));
    let hook = client.register(&bob, &failing.url);
    client.send(&alice, &bob.key, "x").ok();
    let stats = eventually("housekeeping runs, and the webhook fails", SOON, || {
        let stats = database.operate(&["stats"]);
        let is_complete = |list: &str| stats[list].as_array().is_some_and(|it| !it.is_empty());
        (is_complete("housekeeping") && is_complete("failing_webhooks")).then_some(stats)
    });
    let failing = &stats["failing_webhooks"][0];
    assert_eq!(failing["webhook_id"], hook["webhook_id"]);
    assert_eq!(failing["api_key_id"], Value::from(&*bob.key));
    let shown = stats["nodes"].as_array().unwrap();
    assert_eq!(shown.len(), nodes.len(), "{stats}");
    let ids: Vec<_> = shown.iter().map(|node| &node["node"]).collect();
    for node in shown {
        assert_eq!((&node["is_running"], &node["version"]), (&json!(true), &json!(VERSION)));
        assert_ne!(node["host"], "");
    }
    for task in stats["housekeeping"].as_array().unwrap() {
        assert!(ids.contains(&&task["node"]), "{stats}");
        assert!(task["behind_seconds"].as_u64().unwrap() < 60, "{stats}");
    }
    // The row of a stopped node stays.
    nodes.pop().unwrap().stop();
    assert_eq!(database.operate(&["stats"])["nodes"].as_array().unwrap().len(), ids.len());
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn lists_refuse_what_they_do_not_know(database: &Database) {
    let server = database.serve();
    server.new_identity();
    for arguments in [
        &["account", "list", "--cursor", "ak_01kxk83ffmfe7rw98sdqcq10h0"][..],
        &["account", "list", "--limit", "0"],
        &["account", "list", "--limit", "10001"],
        &["key", "list", "--status", "sleeping"],
        &["key", "list", "--plan", "golden"],
        &["key", "list", "--handle", "A b"],
        &["key", "list", "--cursor", "acct_01kxk83ffmfe7rw98sdqcq10h0"],
    ] {
        database.operate_refused(2, arguments);
    }
    let unknown = ["account", "show", "acct_01kxk83ffmfe7rw98sdqcq10h0"];
    let refused = database.operate_refused(1, &unknown);
    assert!(refused.contains("there is no such account"), "{refused}");
    for (owner, id) in [
        ("--account", "acct_01kxk83ffmfe7rw98sdqcq10h0"),
        ("--key", "ak_01kxk83ffmfe7rw98sdqcq10h0"),
    ] {
        let refused = database.operate_refused(1, &["webhook", "list", owner, id]);
        assert!(refused.contains("there is no such"), "{refused}");
    }
    let nothing = ["key", "list", "--account", "acct_01kxk83ffmfe7rw98sdqcq10h0"];
    assert_eq!(database.operate_lines(&nothing), Vec::<Value>::new());
}

fn ended_sessions_are_rejected(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let statuses = || [&alice, &bob].map(|identity| server.status(identity).status);
    assert_eq!(statuses(), [200, 200]);
    assert_eq!(
        database.operate(&["session", "end", &alice.account]),
        json!({"account_id": alice.account, "session_count": 1})
    );
    assert_eq!(statuses(), [401, 200]);
    assert_eq!(
        database.operate(&["session", "end", "--all"]),
        json!({"account_id": null, "session_count": 1})
    );
    assert_eq!(statuses(), [401, 401]);
    // The login secret stays valid.
    server.log_in(&alice).ok();

    let entries = database.audit();
    assert_eq!(column(&entries, "action"), ["session.end"; 2]);
    assert_eq!(column(&entries, "subject"), [&*alice.account, "all"]);
    assert!(entries.iter().all(|entry| text(entry, "detail").contains("\"sessions\":1")));

    let unknown = ["session", "end", "acct_01kxk83ffmfe7rw98sdqcq10h0"];
    let refused = database.operate_refused(1, &unknown);
    assert!(refused.contains("there is no open account with this id"), "{refused}");
    database.operate_refused(2, &["session", "end"]);
    database.operate_refused(2, &["session", "end", &alice.account, "--all"]);
    assert_eq!(database.audit().len(), 2);
}

fn a_webhook_is_listed_and_disabled(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let sibling = server.sibling(&alice);
    let target = json!({"url": "https://93.184.216.34/hook", "events": ["envelope.received"]});
    let register = |by| text(&server.act(by, "/v1/webhooks/register", &target).ok(), "webhook_id");
    let (first, second) = (register(&alice), register(&sibling));
    let list = |owner: &[&str]| {
        column(&database.operate_lines(&[&["webhook", "list"], owner].concat()), "webhook_id")
    };
    assert_eq!(list(&["--account", &alice.account]), [&*second, &first]);
    assert_eq!(list(&["--account", &alice.account, "--limit", "1"]), [&*second]);
    assert_eq!(list(&["--account", &alice.account, "--cursor", &second]), [&*first]);
    assert_eq!(list(&["--key", &alice.key]), [&*first]);

    let disabled = database.operate(&["webhook", "disable", &first]);
    assert_eq!((&disabled["status"], &disabled["webhook_id"]), (&json!("disabled"), &json!(first)));
    let seen = server.act(&alice, "/v1/webhooks", &json!({"action": "list"})).ok();
    assert_eq!(seen["webhooks"][0]["status"], "disabled", "{seen}");
    // A message to the key is stored, and its delivery waits without a lease.
    server.send(&sibling, &alice.key, "hello").ok();
    assert_eq!(database.count("deliveries"), 1);
    assert_eq!(database.count("deliveries WHERE lease IS NULL AND attempts = 0"), 1);

    let entry = database.audit().remove(0);
    assert_eq!(
        (text(&entry, "action"), text(&entry, "subject")),
        ("webhook.disable".into(), first.clone())
    );
    assert!(
        text(&entry, "detail").contains(&alice.key) && !text(&entry, "detail").contains("93.184")
    );
    let refused = database.operate_refused(1, &["webhook", "disable", &first]);
    assert!(refused.contains("already disabled"), "{refused}");
    let unknown = ["webhook", "disable", "wh_01kxk83ffmfe7rw98sdqcq10h0"];
    let refused = database.operate_refused(1, &unknown);
    assert!(refused.contains("there is no such webhook"), "{refused}");
    database.operate_refused(2, &["webhook", "list"]);
    database
        .operate_refused(2, &["webhook", "list", "--key", &alice.key, "--account", &alice.account]);
}
