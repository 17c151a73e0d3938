//! Tests of operator commands in scripts: the exit status, the output as one JSON object, and errors of one line.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Client, Database, binary, has, on_both, on_embedded, run, text};

on_both!(
    a_database_with_pending_migrations_is_left_unchanged,
    a_key_is_shown_with_the_fields_of_the_contract,
);
on_embedded!(
    text_output_is_escaped_lines,
    plans_accept_only_their_own_numbers,
    unknown_ids_are_reported_with_advice,
);

fn a_key_is_shown_with_the_fields_of_the_contract(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity_with_handle("alice");
    let webhook = server.register(&alice, "https://93.184.216.34/hook");
    server.send(&alice, &alice.key, "x").ok();
    let shown = database.operate(&["key", "show", &alice.key]);
    let expected = json!({
        "api_key_id": alice.key, "account_id": alice.account, "did": alice.did,
        "status": "active", "plan": "explorer", "label": "somebody", "handle": "alice",
        "throughput_per_second": 10, "governance": {"blocked": false, "reasons": []},
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(shown[field], *value, "{field}: {shown}");
    }
    let (month, webhooks) = (&shown["usage"]["month"], &shown["webhooks"]);
    assert_eq!((&month["limit"], &month["used"]), (&json!(1000), &json!(1)), "{shown}");
    assert_eq!(webhooks[0]["webhook_id"], webhook["webhook_id"]);
    assert_eq!((&webhooks[0]["status"], &webhooks[1]), (&json!("enabled"), &json!(null)));
    assert!(webhooks[0].get("secret").is_none(), "{shown}");
    for time in [&shown["created_at"], &webhooks[0]["created_at"]] {
        assert!(time.as_str().unwrap().ends_with('Z'), "{shown}");
    }
    let unnamed = server.new_identity();
    assert_eq!(database.operate(&["key", "show", &unnamed.key])["handle"], json!(null));
    server.stop();
    // The command works without a running server.
    assert_eq!(database.operate(&["key", "show", &alice.key])["did"], alice.did);
}

fn text_output_is_escaped_lines(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let stdout = run(database.admin_command(&["key", "show", &alice.key])).ok();
    assert_eq!(stdout.lines().count(), 14, "{stdout}");
    assert!(stdout.contains(&alice.did));
    let stats = run(database.admin_command(&["stats"])).stdout;
    assert!(stats.lines().any(|line| line.starts_with("nodes ") && line.contains("host ")));
    assert!(!stats.contains(['{', '[', '"']), "{stats}");
    // Line breaks in a text are escaped: the text stays on its line.
    let reason = ["--reason", "a\nstatus  lifted"];
    let enforce = [&["governance", "enforce", &alice.key], &reason[..]].concat();
    for arguments in [&enforce[..], &["audit", "list"]] {
        let stdout = run(database.admin_command(arguments)).ok();
        assert!(stdout.contains("status  lifted"), "{stdout}");
        assert!(!stdout.lines().any(|line| line.starts_with("status  lifted")));
    }
}

fn unknown_ids_are_reported_with_advice(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let (key, account) = nowhere();
    for arguments in [
        &["key", "show", &key][..],
        &["key", "deactivate", &key],
        &["key", "reactivate", &key],
        &["key", "rotate", &key],
        &["key", "revoke", &key],
        &["plan", "set", &key, "builder"],
        &["governance", "enforce", &key, "--reason", "x"],
        &["governance", "propose", &account, "--reason", "x"],
        &["governance", "lift", &alice.key, "--reason", "x"],
        &["partner", "assign", &account, "acme"],
        &["partner", "suspend", "nobodys-partner", "--reason", "x"],
        &["partner", "restore", "nobodys-partner", "--reason", "x"],
    ] {
        let line = database.operate_refused(1, arguments);
        assert!(line.contains("there is no") && line.contains("check"), "{arguments:?} {line}");
        // With `--json`, standard output stays empty.
        database.operate_refused(1, &[arguments, &["--json"]].concat());
    }
    assert_eq!(database.operate(&["audit", "list"]), json!({"entries": []}));
}

fn plans_accept_only_their_own_numbers(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let set = ["plan", "set", alice.key.as_str()];
    let numbers = ["--per-minute=1", "--per-day=2", "--per-month=3", "--per-second=4"];
    for plan in ["explorer", "builder", "sovereign"] {
        for more in [numbers[0], numbers[3], "--allow-overage", "--keep-limits"] {
            let line = database.operate_refused(2, &[&set[..], &[plan, more]].concat());
            assert!(line.contains(plan), "{line}");
        }
        assert_eq!(database.operate(&[&set[..], &[plan]].concat())["plan"], plan);
    }
    // Without the four numbers, a key would silently keep the limits of a smaller plan.
    for given in [&[][..], &["--per-month=5"], &numbers[..3]] {
        let line = database.operate_refused(2, &[&set[..], &["enterprise"], given].concat());
        assert!(line.contains("--per-second") && line.contains("--keep-limits"), "{line}");
    }
    // With --keep-limits, omitted numbers keep their current values: first those of the sovereign plan, then those of
    // the key.
    for (given, [minute, day, month, second], overage) in [
        (&[][..], [2000, 100_000, 100_000, 1000], false),
        (&["--per-month=5"], [2000, 100_000, 5, 1000], false),
        (&["--per-day=50", "--allow-overage"], [2000, 50, 5, 1000], true),
        (&["--per-minute=30"], [30, 50, 5, 1000], false),
        (&numbers, [1, 2, 3, 4], false),
    ] {
        let set = [&set[..], &["enterprise", "--keep-limits"], given].concat();
        let shown = database.operate(&set);
        assert_eq!(shown["plan"], "enterprise");
        assert_eq!(
            [&shown["per_minute"], &shown["per_day"], &shown["per_month"], &shown["per_second"]],
            [&json!(minute), &json!(day), &json!(month), &json!(second)]
        );
        assert_eq!(shown["allow_overage"], overage);
        let trail = database.operate(&["audit", "list", "--limit", "1"]);
        let detail: Value = serde_json::from_str(&text(&trail["entries"][0], "detail")).unwrap();
        let terms = json!({
            "per_minute": minute, "per_day": day, "per_month": month, "per_second": second,
            "allow_overage": overage,
        });
        assert_eq!(detail["terms"], terms, "{given:?}");
    }
    let status = server.status(&alice).ok();
    let limit = |window: &str| status["usage"][window]["limit"].clone();
    assert_eq!([limit("minute"), limit("day"), limit("month")], [json!(1), json!(2), json!(3)]);
    has(&status, &json!({"throughput_per_second": 4, "plan": "enterprise"}));
}

fn a_database_with_pending_migrations_is_left_unchanged(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    server.stop();
    database.by_hand("DELETE FROM __diesel_schema_migrations");
    for arguments in [&["key", "show", &alice.key][..], &["audit", "verify"], &["kek", "rotate"]] {
        let line = database.operate_refused(1, arguments);
        assert!(
            line.contains("older than this version") && line.contains("sealpost migrate"),
            "{line}"
        );
    }
}

#[test]
fn usage_errors_exit_with_status_two_and_one_line() {
    let database = Database::embedded();
    let server = database.serve();
    let alice = server.new_identity();
    let key = alice.key.as_str();
    for arguments in [
        &["key", "show"][..],
        &["key", "show", "nonsense"],
        &["key", "show", &alice.account],
        &["key", "burn", key],
        &["plan", "set", key],
        &["plan", "set", key, "platinum"],
        &["plan", "set", key, "enterprise", "--per-minute=-1"],
        &["governance", "enforce", key],
        &["governance", "enforce", key, "--reason", ""],
        &["governance", "enforce", "acme", "--reason", "x"],
        &["partner", "assign", key, "acme"],
        &["partner", "suspend", "acme"],
        &["audit", "list", "--limit", "0"],
        &["nonsense"],
    ] {
        run(database.admin_command(arguments)).refused(2);
    }
    // The help has many lines.
    let ended = run(database.admin_command(&[]));
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
}

#[test]
fn a_missing_database_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let (key, _) = nowhere();
    let mut command = binary(&["admin", "key", "show", &key, "--data-dir"]);
    command.arg(folder.path().join("data"));
    let ended = run(command);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains("--data-dir") && ended.stderr.lines().count() == 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Returns an API key and an account that exist only in another database.
fn nowhere() -> (String, String) {
    let server = Database::embedded().serve();
    let client: &Client = server.client();
    let identity = client.new_identity();
    (identity.key, identity.account)
}
