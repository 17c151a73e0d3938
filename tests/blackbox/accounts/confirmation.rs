//! Tests that the dashboard asks for the login secret before critical changes, so that a stolen session cannot make
//! them.

use crate::support::{Browser, Database, Identity, on_both};

on_both!(
    a_stolen_dashboard_session_makes_no_critical_change,
    an_owner_creates_and_revokes_a_token_on_the_dashboard,
);

fn a_stolen_dashboard_session_makes_no_critical_change(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    let browser = Browser::sign_in(client, &alice);
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
    client.status(&alice).ok();
    // With the secret, the first change confirms the session for the others.
    let secret = alice.login_secret.as_deref().unwrap();
    let (path, form, status) = &changes[0];
    assert_eq!(post(path, &format!("{form}&login_secret={secret}")).status, *status);
    assert!(!browser.page("/dashboard/account/secret").contains("name=\"login_secret\""));
    for (path, form, status) in &changes {
        assert_eq!(post(path, form).status, *status, "{path}");
    }
    client.post("/v1/auth/logout").token(&alice.token).response().refused(401, "UNAUTHORIZED");
}

fn an_owner_creates_and_revokes_a_token_on_the_dashboard(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    let browser = Browser::sign_in(client, &alice);
    let token = browser.secret("/dashboard/tokens", &token_form(&alice));
    let send = || {
        let body = serde_json::json!({"to": alice.key, "message": "x"});
        client.post("/v1/channel/send").token(&token).json(&body).response()
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
