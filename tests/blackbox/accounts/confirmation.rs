//! Tests that critical changes need the login secret, so that a stolen session cannot make them.

use serde_json::{Value, json};

use crate::support::{Browser, Database, Identity, Server, on_embedded, text};

on_embedded!(
    a_stolen_session_neither_exports_nor_takes_nor_closes_the_account,
    a_stolen_dashboard_session_makes_no_critical_change,
);

fn a_stolen_session_neither_exports_nor_takes_nor_closes_the_account(database: &Database) {
    let server = database.serve_with(&["--account-changes-per-minute=100"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let [alices, bobs] = [&alice, &bob].map(|owner| owner.login_secret.clone().unwrap());
    let right = json!({"login_secret": alices});
    for (path, attempted) in [
        ("/v1/account/export", "exporting the account"),
        ("/v1/auth/rotate-secret", "replacing the secrets"),
        ("/v1/account/close", "closing the account"),
    ] {
        let ask = |token: &str, body: &Value| server.post(path).token(token).json(body).response();
        server.get(path).refused(405, "METHOD_NOT_ALLOWED");
        server.post(path).json(&right).response().refused(401, "UNAUTHORIZED");
        ask("st_x", &right).refused(401, "UNAUTHORIZED");
        // The session of another account.
        ask(&bob.token, &right).refused(401, "UNAUTHORIZED");
        for (body, code, field) in [
            (json!({}), "MISSING_FIELD", "login_secret"),
            (json!({"login_secret": ""}), "MISSING_FIELD", "login_secret"),
            (json!({"login_secret": 7}), "INVALID_FIELD", "login_secret"),
            (json!({"login_secret": alices, "force": true}), "INVALID_FIELD", "force"),
        ] {
            let refused = ask(&alice.token, &body).refused(400, code);
            assert_eq!(refused["field"], field, "{path} {body}");
        }
        for wrong in [&*bobs, "ls_x", &alice.token] {
            let refused = ask(&alice.token, &json!({"login_secret": wrong}));
            let detail = text(&refused.refused(401, "UNAUTHORIZED"), "detail");
            assert!(detail.contains("login_secret"), "{path}: {detail}");
        }
        let activity = server.post("/v1/account/activity").token(&alice.token).response().ok();
        let failed = activity["entries"].as_array().unwrap().iter();
        let failed = failed.filter(|it| it["kind"] == "login_failed" && it["detail"] == attempted);
        assert_eq!(failed.count(), 3, "{path}: {activity}");
    }
    for (identity, secret) in [(&alice, &alices), (&bob, &bobs)] {
        server.status(identity).ok();
        server.login(&identity.account, secret).ok();
    }
}

fn a_stolen_dashboard_session_makes_no_critical_change(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let token = browser.form_token();
    let changes = [
        ("/dashboard/tokens".to_owned(), token_form(&alice), 303),
        ("/dashboard/account/secret".to_owned(), String::new(), 303),
        (format!("/dashboard/keys/{}/revoke", alice.key), format!("typed={}", alice.key), 303),
        ("/dashboard/account/sessions".to_owned(), "session=all".to_owned(), 303),
    ];
    let post = |path: &str, form: &str| {
        browser.post(path, &format!("form_token={token}&{form}"), "same-origin")
    };
    // The sign-in was longer ago than five minutes.
    let age = || {
        database.by_hand("UPDATE sessions SET confirmed_at = confirmed_at - 300001");
    };
    age();
    for (page, ..) in &changes {
        let shown = browser.page(page);
        assert!(shown.contains("name=\"login_secret\""), "{page} asks for the secret");
    }
    for (path, form, _) in &changes {
        assert_eq!(post(path, form).status, 422, "{path}");
        let wrong = format!("{form}&login_secret={}", alice.token);
        assert_eq!(post(path, &wrong).status, 422, "{path}");
    }
    server.status(&alice).ok();
    // With the secret, the first change confirms the session for the others.
    let secret = alice.secret();
    let (path, form, status) = &changes[0];
    assert_eq!(post(path, &format!("{form}&login_secret={secret}")).status, *status);
    assert!(!browser.page("/dashboard/account/secret").contains("name=\"login_secret\""));
    for (path, form, status) in &changes {
        assert_eq!(post(path, form).status, *status, "{path}");
    }
    server.post("/v1/auth/logout").token(&alice.token).response().refused(401, "UNAUTHORIZED");
}

#[test]
fn an_owner_creates_and_revokes_a_token_on_the_dashboard() {
    let server = Server::shared();
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let token = browser.secret("/dashboard/tokens", &token_form(&alice));
    let send = || {
        let body = json!({"to": alice.key, "message": "x"});
        server.post("/v1/channel/send").token(&token).json(&body).response()
    };
    send().ok();
    let page = browser.page("/dashboard/tokens");
    assert!(page.contains("order service") && !page.contains(&token), "{page}");
    let id = page.split("tok_").nth(1).unwrap().split('"').next().unwrap();
    let form = format!("form_token={}", browser.form_token());
    let path = format!("/dashboard/tokens/tok_{id}/revoke");
    assert_eq!(browser.post(&path, &form, "cross-site").status, 403);
    send().ok();
    assert_eq!(browser.post(&path, &form, "same-origin").status, 303);
    send().refused(401, "UNAUTHORIZED");
}

fn token_form(identity: &Identity) -> String {
    format!("name=order+service&api_key_id={}&send=on&expires_in_days=90", identity.key)
}
