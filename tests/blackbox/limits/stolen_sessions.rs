//! Tests that neither stolen sessions nor wrong secrets lock out the owner of an account.

use sealpost_wallet::{LoginSecret, RecoveryCode};
use serde_json::{Value, json};

use crate::support::{
    Browser, Client, Database, Identity, Response, on_embedded, sign_in, text, token_body,
};

on_embedded!(
    calls_of_stolen_sessions_do_not_keep_the_owner_from_ending_them,
    page_views_of_a_stolen_session_do_not_keep_the_owner_from_ending_it,
    one_session_leaves_requests_to_the_other_sessions,
    wrong_secrets_do_not_refuse_the_right_one,
    wrong_secrets_on_the_dashboard_do_not_refuse_the_right_one,
    logins_of_other_accounts_do_not_refuse_a_right_secret,
);

fn calls_of_stolen_sessions_do_not_keep_the_owner_from_ending_them(database: &Database) {
    let server = database.serve_with(&["--account-changes-per-minute=2"]);
    let mut alice = server.new_identity();
    let created = server.new_token(&alice, &["send"]);
    let stolen: Vec<_> = (0..6).map(|_| server.new_session(&alice).token).collect();
    let exhaust = |alice: &Identity| {
        for token in stolen.iter().chain([&alice.token]) {
            for (path, body) in [
                ("/v1/account/activity", json!({})),
                ("/v1/auth/tokens/list", json!({})),
                ("/v1/auth/tokens/create", token_body(alice, &["send"])),
                ("/v1/auth/tokens/revoke", json!({"token_id": "tok_00000000000000000000000000"})),
                ("/v1/auth/rotate-secret", json!({"login_secret": wrong_secret()})),
                ("/v1/account/export", json!({"login_secret": wrong_secret()})),
                ("/v1/account/close", json!({"login_secret": wrong_secret()})),
            ] {
                drop((0..3).map(|_| post(&server, path, token, &body)).collect::<Vec<_>>());
            }
        }
        post(&server, "/v1/auth/tokens/list", &alice.token, &json!({}))
    };
    exhaust(&alice).refused(429, "RATE_LIMIT_EXCEEDED");
    let revoke = json!({"token_id": created["token_id"]});
    post(&server, "/v1/auth/tokens/revoke", &alice.token, &revoke).ok();
    post(&server, "/v1/auth/logout", &stolen[0], &json!({})).ok();
    let secret = json!({"login_secret": alice.login_secret});
    let rotated = post(&server, "/v1/auth/rotate-secret", &alice.token, &secret).ok();
    post(&server, "/v1/auth/logout", &alice.token, &json!({"all": true})).ok();
    for token in stolen.iter().chain([&alice.token]) {
        post(&server, "/v1/auth/tokens/list", token, &json!({})).refused(401, "UNAUTHORIZED");
    }
    alice.login_secret = Some(text(&rotated, "login_secret"));
    let alice = server.new_session(&alice);
    let close = json!({"login_secret": alice.login_secret});
    post(&server, "/v1/account/close", &alice.token, &close).ok();
}

fn page_views_of_a_stolen_session_do_not_keep_the_owner_from_ending_it(database: &Database) {
    let limits = ["--dashboard-per-minute=3", "--account-changes-per-minute=2"];
    let server = database.serve_with(&limits);
    let alice = server.new_identity();
    let token = server.new_token(&alice, &["send"]);
    let (browser, other) = (Browser::sign_in(&server, &alice), Browser::sign_in(&server, &alice));
    let form_token = browser.form_token();
    let revoke_key = format!("/dashboard/keys/{}/revoke", alice.key);
    let exhaust = || {
        let views: Vec<_> = (0..12).map(|_| browser.get("/dashboard").status).collect();
        assert!(views.ends_with(&[429]), "{views:?}");
        for page in
            ["/dashboard/account", "/dashboard/account/close", "/dashboard/tokens", &revoke_key]
        {
            let views = [(); 9].map(|()| browser.get(page).status);
            // A revoked key has no page to revoke it.
            assert!(views == [200; 9] || views == [303; 9], "{page}: {views:?}");
        }
    };
    let submit = |path: &str, form: &str| {
        browser.post(path, &format!("form_token={form_token}&{form}"), "same-origin").status
    };
    exhaust();
    let revoke_token = format!("/dashboard/tokens/{}/revoke", text(&token, "token_id"));
    assert_eq!(submit(&revoke_token, ""), 303);
    assert_eq!(submit("/dashboard/account/sessions", "session=unknown"), 303);
    assert_eq!(submit(&revoke_key, &format!("typed={}", alice.key)), 303);
    exhaust();
    assert_eq!(submit("/dashboard/account/sessions", "session=all"), 303);
    assert_eq!(other.get("/dashboard").header("location"), Some("/dashboard/sign-in"));
    let browser = Browser::sign_in(&server, &alice);
    let form = format!("form_token={}", browser.form_token());
    let views = [(); 9].map(|()| browser.get("/dashboard").status);
    assert!(views.ends_with(&[429]), "{views:?}");
    assert_eq!(browser.post("/dashboard/sign-out", &form, "same-origin").status, 303);
    assert_eq!(browser.get("/dashboard/account").status, 303);
}

fn one_session_leaves_requests_to_the_other_sessions(database: &Database) {
    let limits = ["--account-changes-per-minute=2", "--dashboard-per-minute=2"];
    let server = database.serve_with(&limits);
    let alice = server.new_identity();
    let listed = |token: &str| {
        let list = |_| post(&server, "/v1/auth/tokens/list", token, &json!({})).status;
        (0..3).map(list).collect::<Vec<_>>()
    };
    let of_account = (0..6).map(|_| listed(&server.new_session(&alice).token)).collect::<Vec<_>>();
    assert_eq!(of_account[..4], vec![[200, 200, 429]; 4]);
    assert_eq!(of_account[4..], vec![[429; 3]; 2], "four sessions use the limit of the account");
    let viewed = (0..6).map(|_| {
        let browser = Browser::sign_in(&server, &alice);
        (0..3).map(|_| browser.get("/dashboard/activity").status).collect::<Vec<_>>()
    });
    let viewed = viewed.collect::<Vec<_>>();
    assert_eq!(viewed[..4], vec![[200, 200, 429]; 4]);
    assert_eq!(viewed[4..], vec![[429; 3]; 2]);
}

fn wrong_secrets_do_not_refuse_the_right_one(database: &Database) {
    let server = database.serve_with(&["--logins-per-minute=3"]);
    let activated = server.activate(&json!({"label": "alice"})).ok();
    let (account, secret) = (text(&activated, "account_id"), text(&activated, "login_secret"));
    let token = text(&server.login(&account, &secret).ok(), "session_token");
    let recover = |code: &str| {
        let body = json!({"account_id": account, "recovery_code": code});
        server.post("/v1/auth/recover").json(&body).response()
    };
    let wrong = (0..5).map(|_| server.login(&account, &wrong_secret()).status);
    assert_eq!(wrong.collect::<Vec<_>>(), [401, 401, 401, 429, 429]);
    // The limit of wrong secrets is shared by all requests with a secret, and by all accounts.
    let problem = recover(RecoveryCode::generate().unwrap().expose());
    let problem = problem.refused(429, "RATE_LIMIT_EXCEEDED");
    assert!(text(&problem, "detail").contains("address"), "{problem}");
    for path in ["/v1/auth/rotate-secret", "/v1/account/export", "/v1/account/close"] {
        let response = post(&server, path, &token, &json!({"login_secret": wrong_secret()}));
        response.refused(429, "RATE_LIMIT_EXCEEDED");
    }
    // A malformed secret is refused as before.
    server.login(&account, "ls_x").refused(401, "UNAUTHORIZED");
    server.login(&account, &secret).ok();
    let body = json!({"login_secret": secret});
    post(&server, "/v1/account/export", &token, &body).ok();
    let rotated = post(&server, "/v1/auth/rotate-secret", &token, &body).ok();
    let recovered = recover(&text(&rotated, "recovery_code")).ok();
    let secret = text(&recovered, "login_secret");
    let token = text(&server.login(&account, &secret).ok(), "session_token");
    post(&server, "/v1/account/close", &token, &json!({"login_secret": secret})).ok();
}

fn wrong_secrets_on_the_dashboard_do_not_refuse_the_right_one(database: &Database) {
    let server = database.serve_with(&["--logins-per-minute=3", "--account-changes-per-minute=2"]);
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let form_token = browser.form_token();
    // The sign-in was longer ago than five minutes.
    database.by_hand("UPDATE sessions SET confirmed_at = confirmed_at - 300001");
    let submit = |path: &str, secret: &str| {
        let form = format!("form_token={form_token}&session=all&login_secret={secret}");
        browser.post(path, &form, "same-origin").status
    };
    let secret = alice.secret();
    let (replace, close) = ("/dashboard/account/secret", "/dashboard/account/close");
    let wrong = [(); 5].map(|()| submit(replace, &wrong_secret()));
    assert_eq!(wrong, [422, 422, 422, 429, 429]);
    assert_eq!(submit(close, &wrong_secret()), 429);
    let mut guess = alice.clone();
    guess.login_secret = Some(wrong_secret());
    assert_eq!(sign_in(&server, &guess, &[]).status, 429);
    assert_eq!(sign_in(&server, &alice, &[]).status, 303);
    assert_eq!(submit("/dashboard/tokens", secret), 422, "no name, but the secret is right");
    assert_eq!(submit(close, secret), 200);
}

/// Other accounts at the address of the owner may belong to an attacker.
fn logins_of_other_accounts_do_not_refuse_a_right_secret(database: &Database) {
    let server = database.serve_with(&["--logins-per-minute=2"]);
    let (alice, mallory) = (server.new_identity(), server.new_identity());
    let log_in = |of: &Identity| server.log_in(of);
    let logins = [(); 4].map(|()| log_in(&mallory).status);
    assert_eq!(logins, [200, 429, 429, 429], "one login was made before");
    let wait: u64 = log_in(&mallory).header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    log_in(&alice).ok();
}

fn wrong_secret() -> String {
    LoginSecret::generate().unwrap().expose().to_owned()
}

fn post(client: &Client, path: &str, token: &str, body: &Value) -> Response {
    client.post(path).token(token).json(body).response()
}
