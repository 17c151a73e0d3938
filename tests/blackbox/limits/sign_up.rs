//! Tests of the sign-up modes: open, by invite, or closed.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Client, Database, Response, Server, on_both, text};

on_both!(
    an_invite_opens_as_many_accounts_as_it_has_uses,
    an_invite_holds_its_number_of_uses_on_every_node,
    a_revoked_or_malformed_invite_is_refused,
    closed_sign_up_refuses_everyone_without_a_session,
    open_sign_up_ignores_invites,
    invites_are_listed_and_audited_without_their_secrets,
);

fn activate(client: &Client, invite: &Value) -> Response {
    client.activate(&json!({"label": "a", "invite": invite}))
}

fn an_invite_opens_as_many_accounts_as_it_has_uses(database: &Database) {
    let server = database.serve_with(&["--activation=invite"]);
    let client = server.client();
    for missing in [json!({"label": "a"}), json!({"label": "a", "invite": null})] {
        let problem = client.activate(&missing).refused(403, "ACTIVATION_REFUSED");
        assert_eq!(problem["field"], "invite");
    }
    activate(client, &json!(7)).refused(400, "INVALID_FIELD");
    client.activate(&json!({})).refused(400, "MISSING_FIELD");
    let created = database.operate(&["invite", "create", "--uses", "2", "--expires", "7d"]);
    assert_eq!(created["uses"], 2);
    let opened = activate(client, &created["invite"]).ok();
    activate(client, &created["invite"]).ok();
    activate(client, &created["invite"]).refused(403, "ACTIVATION_REFUSED");
    // A session needs no invite.
    let secret = text(&opened, "login_secret");
    let session = client.login(&text(&opened, "account_id"), &secret).ok();
    let request = client.post("/v1/did/activate").token(&text(&session, "session_token"));
    request.json(&json!({"label": "b"})).response().ok();
    // A wrong session token is not a newcomer.
    let request = client.post("/v1/did/activate").token("st_x");
    request.json(&json!({"label": "b"})).response().refused(401, "UNAUTHORIZED");
}

fn an_invite_holds_its_number_of_uses_on_every_node(database: &Database) {
    let count = if database.postgres_url().is_some() { 2 } else { 1 };
    let servers: Vec<Server> =
        (0..count).map(|_| database.serve_with(&["--activation=invite"])).collect();
    let invite = database.operate(&["invite", "create", "--uses", "3"])["invite"].clone();
    let responses = thread::scope(|scope| {
        let run = |nth: usize| activate(servers[nth % count].client(), &invite);
        let threads: Vec<_> = (0..8).map(|nth| scope.spawn(move || run(nth))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 3);
    for refused in responses.iter().filter(|response| response.status != 200) {
        refused.refused(403, "ACTIVATION_REFUSED");
    }
    assert_eq!((database.count("accounts"), database.count("api_keys")), (3, 3));
}

fn a_revoked_or_malformed_invite_is_refused(database: &Database) {
    let server = database.serve_with(&["--activation=invite"]);
    let client = server.client();
    let created = database.operate(&["invite", "create"]);
    let id = text(&created, "invite_id");
    let revoked = database.operate(&["invite", "revoke", &id]);
    assert_eq!(revoked["status"], "revoked");
    database.operate_refused(1, &["invite", "revoke", &id]);
    let unknown = format!("inv_{}", "0".repeat(49));
    let refused = [&created["invite"], &json!(unknown), &json!("inv_"), &json!("x"), &json!(id)];
    for invite in refused {
        let problem = activate(client, invite).refused(403, "ACTIVATION_REFUSED");
        assert_eq!(problem["field"], "invite");
    }
    assert_eq!(database.count("accounts"), 0);
}

fn closed_sign_up_refuses_everyone_without_a_session(database: &Database) {
    let alice = database.serve().client().new_identity();
    let invite = database.operate(&["invite", "create"])["invite"].clone();
    let server = database.serve_with(&["--activation=closed"]);
    let client = server.client();
    for body in [json!({"label": "a"}), json!({"label": "a", "invite": invite})] {
        let problem = client.activate(&body).refused(403, "ACTIVATION_REFUSED");
        assert!(text(&problem, "detail").contains("closed"), "{problem}");
    }
    client.sibling(&alice);
    let page = client.request("GET", "/dashboard/open-account").response();
    assert_eq!(page.status, 200);
    assert!(!String::from_utf8(page.body).unwrap().contains("<form"), "the page has no form");
}

fn open_sign_up_ignores_invites(database: &Database) {
    let server = database.serve();
    let created = database.operate(&["invite", "create"]);
    activate(server.client(), &created["invite"]).ok();
    activate(server.client(), &json!("x")).ok();
    let listed = database.operate_lines(&["invite", "list"]);
    assert_eq!(listed[0]["used"], 0, "{listed:?}");
}

fn invites_are_listed_and_audited_without_their_secrets(database: &Database) {
    let server = database.serve_with(&["--activation=invite"]);
    let plain = database.operate(&["invite", "create"]);
    let create = ["invite", "create", "--uses", "9", "--expires", "1h", "--note", "workshop"];
    let noted = database.operate(&create);
    for created in [&plain, &noted] {
        let members: Vec<_> = created.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, ["invite", "invite_id", "uses", "expires_at"]);
        assert!(text(created, "invite").starts_with("inv_"), "{created}");
    }
    activate(server.client(), &noted["invite"]).ok();
    database.operate(&["invite", "revoke", &text(&plain, "invite_id")]);
    let listed = database.operate_lines(&["invite", "list"]);
    assert_eq!(listed.len(), 2, "{listed:?}");
    let shown = |nth: usize| {
        let invite = &listed[nth];
        ["invite_id", "status", "uses", "used", "note"].map(|name| invite[name].clone())
    };
    assert_eq!(
        shown(0),
        [noted["invite_id"].clone(), json!("active"), json!(9), json!(1), json!("workshop")]
    );
    assert_eq!(
        shown(1),
        [plain["invite_id"].clone(), json!("revoked"), json!(1), json!(0), json!(null)]
    );
    let trail = database.operate(&["audit", "list"]);
    let actions: Vec<_> =
        trail["entries"].as_array().unwrap().iter().map(|entry| text(entry, "action")).collect();
    assert_eq!(actions, ["invite.create", "invite.create", "invite.revoke"]);
    for secret in [&plain, &noted].map(|created| text(created, "invite")) {
        for shown in listed.iter().chain([&trail]) {
            assert!(!shown.to_string().contains(&secret));
        }
        assert!(!server.log().contains(&secret));
    }
}

#[test]
fn the_page_for_a_new_account_asks_for_an_invite() {
    let database = Database::embedded();
    let server = database.serve_with(&["--activation=invite"]);
    let client = server.client();
    let invite = text(&database.operate(&["invite", "create"]), "invite");
    let page = client.request("GET", "/dashboard/open-account").response();
    let page = String::from_utf8(page.body).unwrap();
    assert!(page.contains(r#"name="invite""#));
    let (_, id) = page.split_once(r#"name="form_id" value=""#).unwrap();
    let id = id.split('"').next().unwrap();
    let submit = |form: &str| {
        let form = format!("{form}&form_id={id}");
        let form_type = "application/x-www-form-urlencoded";
        let request =
            client.post("/dashboard/open-account").header("Sec-Fetch-Site", "same-origin");
        request.body(form_type, form.as_bytes()).response()
    };
    let refused = submit("label=Alice&handle=&invite=");
    assert_eq!(refused.status, 403);
    assert!(String::from_utf8(refused.body).unwrap().contains("invite"));
    let opened = submit(&format!("label=Alice&handle=&invite={invite}"));
    assert_eq!(opened.status, 303, "{}", String::from_utf8_lossy(&opened.body));
    assert_eq!(database.count("accounts"), 1);
}
