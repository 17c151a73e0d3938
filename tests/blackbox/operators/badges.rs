//! Tests of badges: denial, issuance, third-party verification, the browser page, and revocation.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Server, Verifier, browse,
    console::{ConsoleServer, Desk, Staff},
    eventually, has, on_both, on_embedded, text, wait_until,
};

on_both!(a_revocation_is_public_on_every_node);
on_embedded!(
    a_denial_names_each_unmet_metric_with_its_value_and_bound,
    a_badge_names_its_subject_and_its_validity,
    a_badge_is_issued_only_to_an_active_key_of_the_account,
    governance_blocks_a_badge_but_not_its_verification,
    operators_see_the_badges_of_a_key,
    invalid_scores_are_rejected,
    an_assessment_leads_to_a_badge_page_in_a_browser,
    third_parties_verify_badges_across_a_rotation_and_reject_revoked_ones,
);

fn issue(client: &Client, identity: &Identity) -> Value {
    client.act(identity, "/v1/badges/issue", &json!({})).ok()
}

fn verify(client: &Client, identity: &Identity, badge: &Value) -> Value {
    let body = json!({"credential": badge["credential"]});
    client.act(identity, "/v1/badges/verify", &body).ok()
}

fn a_denial_names_each_unmet_metric_with_its_value_and_bound(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let denied = |code: &str| {
        let response = server.act(&alice, "/v1/badges/issue", &json!({}));
        response.refused(422, code)["unmet"].clone()
    };
    let unmet = |metric: &str, value: Value, must_be: &str, bound: &str| json!({"metric": metric, "value": value, "must_be": must_be, "bound": bound});
    assert_eq!(
        denied("BADGE_DENIED_THRESHOLDS"),
        json!([
            unmet("clarity", Value::Null, ">=", "0.75"),
            unmet("coherence", Value::Null, ">=", "0.7"),
            unmet("confidence", Value::Null, ">=", "0.9"),
            unmet("drift", Value::Null, "<=", "0.1"),
        ])
    );
    database.assess(&alice.key, ["0.1", "0.1", "0.1", "0.300000000000000001"]);
    let over = unmet("drift", json!("0.300000000000000001"), "<=", "0.3");
    assert_eq!(denied("BADGE_DENIED_DRIFT"), json!([over]));
    database.assess(&alice.key, ["0.749999999999999999", "0.70", "0.90", "0.30"]);
    assert_eq!(
        denied("BADGE_DENIED_THRESHOLDS"),
        json!([
            unmet("clarity", json!("0.749999999999999999"), ">=", "0.75"),
            unmet("drift", json!("0.3"), "<=", "0.1"),
        ])
    );
    let tried = server.act(&alice, "/v1/badges/issue", &json!({"dry_run": true})).ok();
    assert_eq!((&tried["granted"], &tried["dry_run"]), (&json!(false), &json!(true)));
    assert_eq!(tried["refusals"][0]["code"], "BADGE_DENIED_THRESHOLDS");
    database.assess(&alice.key, ["0.75", "0.70", "0.90", "0.10"]);
    issue(&server, &alice);
}

fn a_badge_names_its_subject_and_its_validity(database: &Database) {
    let server = database.serve_with(&["--badge-ttl", "6s"]);
    let alice = server.new_identity();
    // The polls below need a higher limit.
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 100]);
    let shown = database.assess(&alice.key, ["1", "1.0", "0.95", "0"]);
    let scores =
        json!({"clarity": "1.0", "coherence": "1.0", "confidence": "0.95", "drift": "0.0"});
    has(&shown, &scores);
    assert!(text(&shown, "assessor").starts_with("operator:"));
    let disclosed = json!({"disclose_did": true});
    let badge = server.act(&alice, "/v1/badges/issue", &disclosed).ok();
    let verified = verify(&server, &alice, &badge);
    assert_eq!((&verified["valid"], &verified["status"]), (&json!(true), &json!("valid")));
    assert_eq!(verified["subject"], alice.did);
    for field in ["badge_id", "issued_at", "expires_at"] {
        assert_eq!(verified[field], badge[field]);
    }
    wait_until("the badge expires", || {
        let verified = verify(&server, &alice, &badge);
        verified["status"] == "expired" && verified["valid"] == false
    });
    for (body, field) in [
        (json!({"disclose_did": "yes"}), "disclose_did"),
        (json!({"jurisdiction": 7}), "jurisdiction"),
        (json!({"jurisdiction": "FR"}), "jurisdiction"),
    ] {
        let refused = server.act(&alice, "/v1/badges/issue", &body).refused(400, "INVALID_FIELD");
        assert_eq!(refused["field"], field);
    }
    let missing = server.act(&alice, "/v1/badges/verify", &json!({}));
    assert_eq!(missing.refused(400, "MISSING_FIELD")["field"], "credential");
    let forged = server.act(&alice, "/v1/badges/verify", &json!({"credential": "a.b.c"})).ok();
    assert_eq!((&forged["status"], &forged["badge_id"]), (&json!("invalid"), &Value::Null));
}

fn a_badge_is_issued_only_to_an_active_key_of_the_account(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    for path in ["/v1/badges/issue", "/v1/badges/verify", "/v1/compliance/validate"] {
        server.get(path).refused(405, "METHOD_NOT_ALLOWED");
        server.post(path).key(&alice.key).response().refused(401, "UNAUTHORIZED");
        let foreign = server.post(path).token(&bob.token).key(&alice.key);
        foreign.response().refused(401, "UNAUTHORIZED");
        let unknown = server.post(path).token(&bob.token).key("ak_nobody");
        unknown.response().refused(404, "KEY_NOT_FOUND");
    }
    database.operate(&["key", "deactivate", &alice.key]);
    for path in ["/v1/badges/issue", "/v1/badges/verify", "/v1/compliance/validate"] {
        server.act(&alice, path, &json!({})).refused(403, "KEY_INACTIVE");
    }
}

fn governance_blocks_a_badge_but_not_its_verification(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let badge = issue(&server, &alice);
    database.operate(&["governance", "enforce", &alice.key, "--reason", "spam"]);
    // Governance is checked before the body.
    let body = json!({"jurisdiction": 7});
    server.act(&alice, "/v1/badges/issue", &body).refused(403, "GOVERNANCE_BLOCKED");
    assert_eq!(verify(&server, &alice, &badge)["status"], "valid");
    let response = server.act(&alice, "/v1/compliance/validate", &json!({"jurisdiction": "EU"}));
    response.refused(422, "COMPLIANCE_CIRCUIT_FAILED");
    assert!(response.header("ratelimit").is_some(), "it counts as a request");
}

fn third_parties_verify_badges_across_a_rotation_and_reject_revoked_ones(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.assess(&alice.key, ["0.75", "0.70", "0.90", "0.10"]);
    let old = issue(&server, &alice);
    let accepted = |badge: &Value| {
        for verifier in Verifier::ALL {
            let reported = verifier.verify(&text(badge, "credential"));
            let reported = reported.unwrap_or_else(|| panic!("{verifier:?} refuses {badge}"));
            assert_eq!(reported["revoked"], false, "{verifier:?}");
            let claims = &reported["claims"];
            assert_eq!(claims["credentialSubject"]["id"], format!("urn:sealpost:{}", alice.key));
            let page = format!("{}/badges/{}", server.url, text(badge, "badge_id"));
            assert_eq!((&claims["id"], &claims["jti"]), (&json!(page), &json!(page)));
            assert_eq!(claims["validUntil"], badge["expires_at"]);
        }
    };
    let altered = text(&old, "credential").replace(".eyJ", ".eyI");
    assert!(Verifier::ALL.iter().all(|verifier| verifier.verify(&altered).is_none()));

    database.operate(&["issuer", "rotate"]);
    wait_until("the new key signs", || {
        let keys = database.operate_lines(&["issuer", "list"]);
        keys[1]["status"] == "signing"
    });
    let new = issue(&server, &alice);
    let header = |badge: &Value| text(badge, "credential").split('.').next().unwrap().to_owned();
    assert_ne!(header(&old), header(&new));
    accepted(&old);

    database.operate(&["badge", "revoke", &text(&old, "badge_id"), "--reason", "withdrawn"]);
    for verifier in Verifier::ALL {
        wait_until("the status list shows the revocation", || {
            let reported = verifier.verify(&text(&old, "credential")).unwrap();
            reported["revoked"] == true
        });
    }
    accepted(&new);
}

fn operators_see_the_badges_of_a_key(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let client = server.server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    database.assess(&alice.key, ["0.75", "0.70", "0.90", "0.10"]);
    let [first, second] = [(); 2].map(|()| issue(client, &alice));
    database.operate(&["badge", "revoke", &text(&first, "badge_id"), "--reason", "withdrawn"]);
    let shown = database.operate(&["key", "show", &alice.key]);
    let badges = shown["badges"].as_array().unwrap();
    let status = |of: &Value| {
        let badge = badges.iter().find(|badge| badge["badge_id"] == of["badge_id"]).unwrap();
        assert_eq!(badge["expires_at"], of["expires_at"]);
        text(badge, "status")
    };
    assert_eq!(
        (badges.len(), status(&first), status(&second)),
        (2, "revoked".into(), "valid".into())
    );
    assert_eq!(database.operate(&["key", "show", &bob.key])["badges"], json!([]));
    let desk = Desk::sign_in(&server.ops, Staff::Vera);
    let page = desk.page(&format!("/console/keys/{}/evidence", alice.key));
    let is_revoked = page.contains("<td data-label=\"Status\">revoked</td>");
    assert!(page.contains(&text(&second, "badge_id")) && is_revoked, "{page}");
}

fn an_assessment_leads_to_a_badge_page_in_a_browser(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.assess(&alice.key, ["0.81", "0.70", "0.95", "0.04"]);
    let badge_id = text(&issue(&server, &alice), "badge_id");
    let url = format!("{}/badges/{badge_id}", server.url);
    let seen = browse(&url);
    for look in ["light", "dark", "narrow"] {
        let page = &seen[look];
        assert_eq!((&page["status"], &page["complaints"]), (&json!(200), &json!([])), "{look}");
        assert_eq!(page["verdict"], "This badge is valid");
        assert_eq!(page["overflows"], false, "{look}");
        let read = text(page, "text");
        for expected in [&alice.key, &badge_id, "0.81", "0.04", "at least 0.75", "at most 0.1"] {
            assert!(read.contains(expected), "{expected}: {read}");
        }
        assert!(!read.contains(&alice.did));
    }
    assert_ne!(seen["light"]["ground"], seen["dark"]["ground"]);

    let badge = ["badge", "revoke", &badge_id, "--reason", "withdrawn"];
    database.operate(&badge);
    let again = database.operate_refused(1, &badge);
    assert!(again.contains("revoked already"), "{again}");
    let seen = browse(&url);
    assert_eq!(seen["light"]["verdict"], "This badge was revoked");
    assert!(
        !text(&seen["light"], "text").contains("withdrawn"),
        "the operator's reason is private"
    );
    let nowhere = browse(&format!("{}/badges/bdg_nobody", server.url));
    let page = &nowhere["light"];
    assert_eq!((&page["status"], &page["heading"]), (&json!(404), &json!("No such badge")));

    let response = server.get(&format!("/badges/{badge_id}"));
    let policy = response.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let page = String::from_utf8(response.body.clone()).unwrap();
    let inline = page.contains("<script>") || page.contains("<style") || page.contains("style=");
    assert!(!inline, "the page has no inline code");
    let actions = ["assessment.record", "badge.revoke"];
    let entries = database.audit();
    assert!(entries.iter().map(|entry| entry["action"].as_str().unwrap()).eq(actions));
}

fn a_revocation_is_public_on_every_node(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let alice = client.new_identity();
    let fetch = |node: &Server, list: &str| node.get(&format!("/v1/status/{list}"));
    fetch(&nodes[0], "1").refused(404, "NOT_FOUND");
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let badge = issue(client, &alice);
    let lists: Vec<_> = nodes.iter().map(|node| fetch(node, "1").body).collect();
    let response = fetch(&nodes[0], "1");
    assert_eq!(response.header("content-type"), Some("application/vc+jwt"));
    assert_eq!(response.header("cache-control"), Some("public, max-age=10"));
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    for list in ["0", "2", "-1", "x", "18446744073709551616"] {
        fetch(&nodes[0], list).refused(404, "NOT_FOUND");
    }
    database.operate(&["badge", "revoke", &text(&badge, "badge_id"), "--reason", "withdrawn"]);
    for (node, before) in nodes.iter().zip(&lists) {
        eventually("the status list changes", Duration::from_secs(10), || {
            (encoded(&fetch(node, "1").body) != encoded(before)).then_some(())
        });
        // The nodes have different base URLs, but their badges belong to one service.
        assert_eq!(verify(node.client(), &alice, &badge)["status"], "revoked");
    }
}

/// Returns the encoded bits of a status list.
fn encoded(credential: &[u8]) -> String {
    let token = std::str::from_utf8(credential).unwrap();
    let reported = Verifier::claims_of(token);
    text(&reported["credentialSubject"], "encodedList")
}

fn invalid_scores_are_rejected(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    for score in ["NaN", "inf", "1.01", "-0.1", "0.5e1", "1/2", "", "0.0000000000000000001"] {
        let drift = format!("--drift={score}");
        let metrics = ["--clarity=1", "--coherence=1", "--confidence=1"];
        let command = [&["assess", &alice.key], &metrics[..], &[drift.as_str()]].concat();
        let reported = database.operate_refused(2, &command);
        assert!(reported.contains("--drift"), "{reported}");
    }
    assert_eq!(database.count("assessments"), 0);
    let nobody = ["assess", "ak_01h455vb4pex5vsknk084sn02q", "--clarity=1", "--coherence=1"];
    let nobody = [&nobody[..], &["--confidence=1", "--drift=0"]].concat();
    assert!(database.operate_refused(1, &nobody).contains("no such API key"));
}
