//! Messages a month and a second: what a plan offers when they are used up.

use serde_json::json;

use crate::support::{Database, on_both, text};

on_both!(
    a_used_up_month_names_the_way_out_of_the_plan,
    an_enterprise_key_stops_at_its_month,
    overage_is_admitted_and_recorded,
);

fn an_enterprise_key_stops_at_its_month(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    database.set_enterprise(&alice.key, [1000, 1000, 3, 1000]);
    for left in (0..3).rev() {
        let answer = client.send(&alice, &bob.key, "x");
        answer.ok();
        let limits = answer.header("ratelimit").unwrap();
        assert!(limits.contains(&format!("\"month\";r={left};t=")), "{limits}");
    }
    for _ in 0..3 {
        let answer = client.send(&alice, &bob.key, "x");
        let problem = answer.refused(429, "MONTHLY_LIMIT_EXCEEDED");
        assert!(text(&problem, "detail").contains("sales"), "{problem}");
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!(wait <= 31 * 86_400);
        let limits = answer.header("ratelimit").unwrap();
        assert!(limits.contains(&format!("\"month\";r=0;t={wait}")), "{limits} {wait}");
    }
    let usage = &client.status(&alice).ok()["usage"];
    assert_eq!((&usage["month"]["used"], &usage["month"]["remaining"]), (&json!(3), &json!(0)));
    assert_eq!(usage["day"]["used"], 4, "what was refused does not count");
    assert_eq!(database.count("envelopes"), 3);
    // It still receives.
    client.send(&bob, &alice.key, "x").ok();
}

fn a_used_up_month_names_the_way_out_of_the_plan(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let key = &alice.key;
    client.send(&alice, key, "x").ok();
    for (plan, allowance, way_out) in [
        ("explorer", 1000, "upgrade"),
        ("builder", 10_000, "upgrade"),
        ("sovereign", 100_000, "sales"),
    ] {
        database.operate(&["plan", "set", key, plan]);
        // Nobody sends so much in a test.
        database.by_hand(&format!(
            "UPDATE usage SET month_used = {allowance} - 1 WHERE api_key_id = '{key}'"
        ));
        client.send(&alice, key, "the last one").ok();
        let problem = client.send(&alice, key, "x").refused(429, "MONTHLY_LIMIT_EXCEEDED");
        let detail = text(&problem, "detail");
        assert!(detail.contains(way_out) && detail.contains(&allowance.to_string()), "{detail}");
        assert_eq!(client.status(&alice).ok()["usage"]["month"]["limit"], allowance);
    }
}

fn overage_is_admitted_and_recorded(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let plan = ["plan", "set", &alice.key, "enterprise", "--allow-overage"];
    let month = ["--per-minute=100", "--per-day=1000", "--per-month=2", "--per-second=100"];
    database.operate(&[&plan[..], &month].concat());
    for _ in 0..5 {
        client.send(&alice, &alice.key, "x").ok();
    }
    let month = &client.status(&alice).ok()["usage"]["month"];
    assert_eq!(
        (&month["limit"], &month["used"], &month["remaining"]),
        (&json!(2), &json!(5), &json!(0))
    );
    assert_eq!(
        database.count(&format!("overages WHERE api_key_id = '{}' AND messages = 3", alice.key)),
        1
    );
}
