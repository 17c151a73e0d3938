//! Tests that the audit trail of admin actions is complete and ordered, and that changes of its entries are detected.

use std::os::unix::fs::MetadataExt as _;

use serde_json::{Value, json};

use crate::support::{Database, on_both, on_embedded, run, text};

on_both!(every_admin_action_is_listed_with_actor_change_and_reason,);
on_embedded!(an_entry_records_the_user_id_beside_the_claimed_name);

fn an_entry_records_the_user_id_beside_the_claimed_name(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let mut command = database.admin_command(&["plan", "set", &alice.key, "builder"]);
    command.env("USER", "mallory").env("SUDO_UID", "4711");
    assert_eq!(run(command).status, Some(0));
    let entry = database.audit().remove(0);
    assert!(!text(&entry, "actor").contains("mallory"), "{entry}");
    let detail: Value = serde_json::from_str(&text(&entry, "detail")).unwrap();
    let uid = std::fs::metadata("/proc/self").unwrap().uid();
    let operator = json!({"uid": uid, "sudo_uid": 4711, "claimed": "mallory"});
    assert_eq!(detail["operator"], operator, "{entry}");
}

fn every_admin_action_is_listed_with_actor_change_and_reason(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let (key, account) = (alice.key.as_str(), alice.account.as_str());
    let actions: [(&[&str], &str, &str, &str); 13] = [
        (&["key", "deactivate", key], "key.deactivate", key, "deactivated"),
        (&["key", "reactivate", key], "key.reactivate", key, "active"),
        (&["plan", "set", key, "builder"], "plan.set", key, "builder"),
        (&["governance", "propose", key, "--reason", "r1"], "governance.propose", key, "r1"),
        (&["governance", "enforce", key, "--reason", "r2"], "governance.enforce", key, "r2"),
        (&["governance", "lift", key, "--reason", "r3"], "governance.lift", key, "r3"),
        (
            &["governance", "enforce", account, "--reason", "r4"],
            "governance.enforce",
            account,
            "r4",
        ),
        (&["governance", "lift", account, "--reason", "r5"], "governance.lift", account, "r5"),
        (&["partner", "assign", account, "acme"], "partner.assign", account, "acme"),
        (&["partner", "suspend", "acme", "--reason", "r6"], "partner.suspend", "acme", "r6"),
        (&["partner", "restore", "acme", "--reason", "r7"], "partner.restore", "acme", "r7"),
        (&["key", "revoke", key], "key.revoke", key, "registrations"),
        (&["kek", "rotate"], "kek.rotate", "kek:2", "2"),
    ];
    for (arguments, ..) in actions {
        database.operate(arguments);
    }
    // Read-only commands are not admin actions.
    database.operate(&["key", "show", key]);
    let listed = database.operate(&["audit", "list"]);
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), actions.len(), "{listed}");
    let mut at = String::new();
    for ((number, (_, action, subject, why)), entry) in (1..).zip(actions).zip(entries) {
        assert_eq!((&entry["number"], &entry["action"]), (&json!(number), &json!(action)));
        assert!(text(entry, "subject").ends_with(subject), "{entry}");
        assert!(text(entry, "detail").contains(why), "{entry}");
        assert!(text(entry, "actor").starts_with("operator:"), "{entry}");
        assert!(text(entry, "at") >= at, "{listed}");
        at = text(entry, "at");
    }
    for (more, numbers) in [
        (&["--after", "3", "--limit", "2"][..], &[4, 5][..]),
        (&["--after", "0", "--limit", "2"], &[1, 2]),
        (&["--after", "12", "--limit", "2"], &[13]),
        (&["--after", "13"], &[]),
        // Without `--after`, the newest entries are shown.
        (&["--limit", "2"], &[12, 13]),
    ] {
        let list = [&["audit", "list"], more].concat();
        let page = database.operate(&list);
        let found: Vec<&Value> =
            page["entries"].as_array().unwrap().iter().map(|entry| &entry["number"]).collect();
        assert_eq!(found, numbers, "{more:?}");
        let lines = run(database.admin_command(&list)).stdout;
        let begins = lines.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap());
        assert_eq!(begins.collect::<Vec<i32>>(), numbers, "{lines}");
    }
    let lines = run(database.admin_command(&["audit", "list"])).stdout;
    assert_eq!(lines.lines().count(), actions.len(), "{lines}");
    let verdict = database.operate(&["audit", "verify"]);
    let newest = &entries.last().unwrap()["hash"];
    assert_eq!(verdict, json!({"verdict": "whole", "entries": actions.len(), "hash": newest}));
    let output = run(database.admin_command(&["audit", "verify"])).stdout;
    assert!(output.contains(newest.as_str().unwrap()), "{output}");
}
