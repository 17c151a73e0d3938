//! Tests of the allowances of messages per month and per second, and of the upgrade that the error response names.

use serde_json::json;

use crate::support::{Database, has, on_both, on_embedded, text};

on_both!(an_enterprise_key_stops_at_its_monthly_allowance, overage_is_admitted_and_recorded,);
on_embedded!(an_exhausted_month_names_the_upgrade_of_the_plan);

fn an_enterprise_key_stops_at_its_monthly_allowance(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.set_enterprise(&alice.key, [1000, 1000, 3, 1000]);
    for left in (0..3).rev() {
        let response = server.send(&alice, &bob.key, "x");
        response.ok();
        let limits = response.header("ratelimit").unwrap();
        assert!(limits.contains(&format!("\"month\";r={left};t=")), "{limits}");
    }
    for _ in 0..3 {
        let response = server.send(&alice, &bob.key, "x");
        let problem = response.refused(429, "MONTHLY_LIMIT_EXCEEDED");
        assert!(text(&problem, "detail").contains("ask the operator"), "{problem}");
        let wait: u64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!(wait <= 31 * 86_400);
        let limits = response.header("ratelimit").unwrap();
        assert!(limits.contains(&format!("\"month\";r=0;t={wait}")), "{limits} {wait}");
    }
    let usage = &server.status(&alice).ok()["usage"];
    assert_eq!((&usage["month"]["used"], &usage["month"]["remaining"]), (&json!(3), &json!(0)));
    assert_eq!(usage["day"]["used"], 4, "rejected requests do not count");
    assert_eq!(database.count("envelopes"), 3);
    // The key can still receive.
    server.send(&bob, &alice.key, "x").ok();
}

fn an_exhausted_month_names_the_upgrade_of_the_plan(database: &Database) {
    let server = database.serve_with(&["--sales-contact", "mailto:sales@example.org"]);
    let alice = server.new_identity();
    let key = &alice.key;
    server.send(&alice, key, "x").ok();
    for (plan, allowance, way_out) in [
        ("explorer", 1000, "upgrade"),
        ("builder", 10_000, "upgrade"),
        ("sovereign", 100_000, "ask sales for a larger allowance (mailto:sales@example.org)"),
    ] {
        database.operate(&["plan", "set", key, plan]);
        // A test cannot send that many messages.
        database.by_hand(&format!(
            "UPDATE usage SET month_used = {allowance} - 1 WHERE api_key_id = '{key}'"
        ));
        server.send(&alice, key, "the last one").ok();
        let problem = server.send(&alice, key, "x").refused(429, "MONTHLY_LIMIT_EXCEEDED");
        let detail = text(&problem, "detail");
        assert!(detail.contains(way_out) && detail.contains(&allowance.to_string()), "{detail}");
        assert_eq!(server.status(&alice).ok()["usage"]["month"]["limit"], allowance);
    }
}

fn overage_is_admitted_and_recorded(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let plan = ["plan", "set", &alice.key, "enterprise", "--allow-overage"];
    let month = ["--per-minute=100", "--per-day=1000", "--per-month=2", "--per-second=100"];
    database.operate(&[&plan[..], &month].concat());
    for _ in 0..5 {
        server.send(&alice, &alice.key, "x").ok();
    }
    let month = &server.status(&alice).ok()["usage"]["month"];
    has(month, &json!({"limit": 2, "used": 5, "remaining": 0}));
    assert_eq!(
        database.count(&format!("overages WHERE api_key_id = '{}' AND messages = 3", alice.key)),
        1
    );
}
