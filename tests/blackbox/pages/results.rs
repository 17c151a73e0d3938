//! Tests that the dashboard shows the true result of a form that was sent twice, the limits of the API, and paused
//! webhooks.

use serde_json::json;

use crate::support::{Browser, Database, Server, on_embedded, text, within_one_minute};

on_embedded!(new_login_secrets_have_the_limit_of_the_api);

#[test]
fn a_second_click_on_a_permanent_act_shows_its_result() {
    let server = Server::shared();
    let alice = server.new_identity();
    let token = text(&server.new_token(&alice, &["send"]), "token_id");
    let browser = Browser::sign_in(&server, &alice);
    let twice = |path: &str, fields: &str| {
        let (token, id) = (browser.form_token(), browser.form_id());
        let form = format!("form_token={token}&form_id={id}{fields}");
        [(); 2].map(|()| browser.post_as_is(path, &form, "same-origin"))
    };
    for (path, fields) in [
        (format!("/dashboard/tokens/{token}/revoke"), String::new()),
        (format!("/dashboard/keys/{}/revoke", alice.key), format!("&typed={}", alice.key)),
    ] {
        let [first, second] = twice(&path, &fields);
        assert_eq!([first.status, second.status], [303, 303], "{path}");
        assert_eq!(first.header("location"), second.header("location"));
        assert_eq!(first.header("set-cookie"), second.header("set-cookie"));
    }
    let secret = format!("&login_secret={}", alice.secret());
    let [first, second] = twice("/dashboard/account/close", &secret);
    assert_eq!([first.status, second.status], [200, 200]);
    assert!(String::from_utf8_lossy(&second.body).contains("The account is closed"));
    assert_eq!(first.body, second.body);
}

fn new_login_secrets_have_the_limit_of_the_api(database: &Database) {
    let server = database.serve_with(&["--account-changes-per-minute=1"]);
    let [first, second] = within_one_minute(|| {
        let alice = server.new_identity();
        let browser = Browser::sign_in(&server, &alice);
        let form = format!("form_token={}", browser.form_token());
        [(); 2].map(|()| browser.post("/dashboard/account/secret", &form, "same-origin"))
    });
    assert_eq!((first.status, second.status), (303, 429));
    second.check_wait();
}

#[test]
fn the_overview_counts_paused_webhooks() {
    let server = Server::shared();
    let alice = server.new_identity();
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/"), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    assert!(browser.page("/dashboard").contains("No webhook is disabled or paused"));
    let pause = json!({"webhook_id": hook, "paused": true});
    server.post("/v1/webhooks/update").by(&alice).json(&pause).response().ok();
    let page = browser.page("/dashboard");
    assert!(page.contains("1 webhook is paused") && !page.contains("No webhook is"), "{page}");
}
