//! Tests of the sign-up modes: open, by invite, or closed.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Response, at_once, check_winners, on_both, on_embedded, text,
};

on_both!(
    an_invite_opens_as_many_accounts_as_it_has_uses,
    an_invite_holds_its_number_of_uses_on_every_node,
    a_revoked_or_malformed_invite_is_refused,
    invites_are_listed_and_audited_without_their_secrets,
);
on_embedded!(closed_sign_up_refuses_everyone_without_a_session, open_sign_up_ignores_invites,);

fn activate(client: &Client, invite: &Value) -> Response {
    client.activate(&json!({"label": "a", "invite": invite}))
}

fn an_invite_opens_as_many_accounts_as_it_has_uses(database: &Database) {
    let server = database.serve_with(&["--activation=invite"]);
    for missing in [json!({"label": "a"}), json!({"label": "a", "invite": null})] {
        let problem = server.activate(&missing).refused(403, "ACTIVATION_REFUSED");
        assert_eq!(problem["field"], "invite");
    }
    activate(&server, &json!(7)).refused(400, "INVALID_FIELD");
    server.activate(&json!({})).refused(400, "MISSING_FIELD");
    let created = database.operate(&["invite", "create", "--uses", "2", "--expires", "7d"]);
    assert_eq!(created["uses"], 2);
    let opened = activate(&server, &created["invite"]).ok();
    activate(&server, &created["invite"]).ok();
    activate(&server, &created["invite"]).refused(403, "ACTIVATION_REFUSED");
    // A session needs no invite.
    let secret = text(&opened, "login_secret");
    let session = server.login(&text(&opened, "account_id"), &secret).ok();
    let request = server.post("/v1/did/activate").token(&text(&session, "session_token"));
    request.json(&json!({"label": "b"})).response().ok();
    // A wrong session token is not a newcomer.
    let request = server.post("/v1/did/activate").token("st_x");
    request.json(&json!({"label": "b"})).response().refused(401, "UNAUTHORIZED");
}

fn an_invite_holds_its_number_of_uses_on_every_node(database: &Database) {
    let servers = database.serve_on_every_node_with(&["--activation=invite"]);
    let invite = database.operate(&["invite", "create", "--uses", "3"])["invite"].clone();
    let responses = at_once(8, |nth| activate(&servers[nth % servers.len()], &invite));
    check_winners(&responses, 3, (403, "ACTIVATION_REFUSED"));
    assert_eq!((database.count("accounts"), database.count("api_keys")), (3, 3));
}

fn a_revoked_or_malformed_invite_is_refused(database: &Database) {
    let server = database.serve_with(&["--activation=invite"]);
    let created = database.operate(&["invite", "create"]);
    let id = text(&created, "invite_id");
    let revoked = database.operate(&["invite", "revoke", &id]);
    assert_eq!(revoked["status"], "revoked");
    database.operate_refused(1, &["invite", "revoke", &id]);
    let unknown = format!("inv_{}", "0".repeat(49));
    let refused = [&created["invite"], &json!(unknown), &json!("inv_"), &json!("x"), &json!(id)];
    for invite in refused {
        let problem = activate(&server, invite).refused(403, "ACTIVATION_REFUSED");
        assert_eq!(problem["field"], "invite");
    }
    assert_eq!(database.count("accounts"), 0);
}

fn closed_sign_up_refuses_everyone_without_a_session(database: &Database) {
    let alice = database.serve().new_identity();
    let invite = database.operate(&["invite", "create"])["invite"].clone();
    let server = database.serve_with(&["--activation=closed"]);
    for body in [json!({"label": "a"}), json!({"label": "a", "invite": invite})] {
        let problem = server.activate(&body).refused(403, "ACTIVATION_REFUSED");
        assert!(text(&problem, "detail").contains("closed"), "{problem}");
    }
    server.sibling(&alice);
    let page = server.get("/dashboard/open-account");
    assert_eq!(page.status, 200);
    assert!(!String::from_utf8(page.body).unwrap().contains("<form"), "the page has no form");
}

fn open_sign_up_ignores_invites(database: &Database) {
    let server = database.serve();
    let created = database.operate(&["invite", "create"]);
    activate(&server, &created["invite"]).ok();
    activate(&server, &json!("x")).ok();
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
    activate(&server, &noted["invite"]).ok();
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
    let trail = database.audit();
    let actions: Vec<_> = trail.iter().map(|entry| text(entry, "action")).collect();
    assert_eq!(actions, ["invite.create", "invite.create", "invite.revoke"]);
    for secret in [&plain, &noted].map(|created| text(created, "invite")) {
        for shown in listed.iter().chain(&trail) {
            assert!(!shown.to_string().contains(&secret));
        }
        assert!(!server.log().contains(&secret));
    }
}

#[test]
fn the_page_for_a_new_account_asks_for_an_invite() {
    let database = Database::embedded();
    let server = database.serve_with(&["--activation=invite"]);
    let invite = text(&database.operate(&["invite", "create"]), "invite");
    let page = server.get("/dashboard/open-account");
    let page = String::from_utf8(page.body).unwrap();
    assert!(page.contains(r#"name="invite""#));
    let (_, id) = page.split_once(r#"name="form_id" value=""#).unwrap();
    let id = id.split('"').next().unwrap();
    let submit = |form: &str| {
        let form = format!("{form}&form_id={id}");
        let form_type = "application/x-www-form-urlencoded";
        let request =
            server.post("/dashboard/open-account").header("Sec-Fetch-Site", "same-origin");
        request.body(form_type, form.as_bytes()).response()
    };
    let refused = submit("label=Alice&handle=&invite=");
    assert_eq!(refused.status, 403);
    assert!(String::from_utf8(refused.body).unwrap().contains("invite"));
    let opened = submit(&format!("label=Alice&handle=&invite={invite}"));
    assert_eq!(opened.status, 303, "{}", String::from_utf8_lossy(&opened.body));
    assert_eq!(database.count("accounts"), 1);
}
