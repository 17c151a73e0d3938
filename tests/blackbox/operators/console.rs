//! Tests of the operator console, the web pages on the operations address.

use sealpost_wallet::FormId;
use serde_json::json;

use crate::support::{
    Database,
    console::{ConsoleServer, Desk, Staff, sign_in},
    has, on_embedded, run_in_browser, text, wait_until,
};

on_embedded!(
    each_form_performs_its_act,
    a_form_that_is_sent_twice_acts_once,
    a_wrong_form_changes_nothing,
    a_form_of_an_outdated_page_changes_nothing,
    a_rejected_form_shows_its_error_and_keeps_what_was_typed,
    each_tab_of_a_key_shows_its_forms,
    a_key_whose_rotation_was_interrupted_can_be_deactivated,
    a_key_is_found_by_its_names,
    a_wrong_parameter_in_an_address_shows_an_error_page,
    a_form_of_another_site_changes_nothing,
    a_viewer_sees_and_may_not_act,
    a_session_ends_with_sign_out_and_cannot_be_forged,
    hostile_text_is_escaped,
    the_lists_mark_blocked_keys,
    every_page_works_in_a_browser,
);

fn every_page_works_in_a_browser(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let client = server.server.client();
    let label = "<img src=x onerror=\"document.title='owned'\">";
    let activated = client.activate(&json!({"label": label, "handle": "w".repeat(32)})).ok();
    let staff = Staff::Alice;
    let known = json!({
        "key": activated["api_key_id"], "account": activated["account_id"], "label": label,
        "name": staff.name(), "password": staff.password(),
    });
    assert!(text(&known, "key").starts_with("ak_"));
    run_in_browser("console.mjs", &server.server.ops_url, &[&known.to_string(), ""]);
}

fn each_form_performs_its_act(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let client = server.server.client();
    let bob = client.new_identity_with_handle("bob");
    client.register(&bob, "https://93.184.216.34/");
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let (key, account) =
        (format!("/console/keys/{}", bob.key), format!("/console/accounts/{}", bob.account));
    let hook =
        server.act("/keys/show", &json!({"api_key_id": bob.key}))["webhooks"][0]["webhook_id"]
            .clone();
    let hook = format!("webhook_id={}&reason=r", hook.as_str().unwrap());
    let revoke = format!("do=revoke&typed={}&reason=r", bob.key);
    for (path, form, action) in [
        (format!("{key}/plan"), "plan=builder&reason=r", "plan.set"),
        (format!("{key}/plan"), "plan=enterprise&per_day=5&allow_overage=yes&reason=r", "plan.set"),
        (format!("{key}/state"), "do=deactivate&reason=r", "key.deactivate"),
        (format!("{key}/state"), "do=reactivate&reason=r", "key.reactivate"),
        (format!("{key}/state"), "do=rotate&reason=r", "key.finish_rotation"),
        (format!("{key}/governance"), "subject=key&do=propose&reason=r", "governance.propose"),
        (format!("{key}/governance"), "subject=account&do=enforce&reason=r", "governance.enforce"),
        (format!("{key}/governance"), "subject=account&do=lift&reason=r", "governance.lift"),
        (
            format!("{key}/assess"),
            "clarity=0.9&coherence=0.9&confidence=0.9&drift=0.1&reason=r",
            "assessment.record",
        ),
        (
            format!("{key}/attest"),
            "check=identity_verified&result=failed&valid_until=2099-01-31&reason=r",
            "attestation.record",
        ),
        (format!("{key}/webhook"), hook.as_str(), "webhook.disable"),
        (account.clone(), "do=assign&partner=acme&reason=r", "partner.assign"),
        (account.clone(), "do=suspend&reason=r", "partner.suspend"),
        (account.clone(), "do=restore&reason=r", "partner.restore"),
        (account.clone(), "do=propose&reason=r", "governance.propose"),
        (account.clone(), "do=lift&reason=r", "governance.lift"),
        (account.clone(), "do=end_sessions&reason=r", "session.end"),
        (format!("{key}/state"), &revoke, "key.revoke"),
    ] {
        let response = desk.submit(&path, form);
        assert_eq!(
            response.status,
            303,
            "{path} {form}: {}",
            String::from_utf8_lossy(&response.body)
        );
        let entry = server.act("/audit/list", &json!({"limit": 1}))["entries"][0].clone();
        has(&entry, &json!({"actor": "console:alice", "action": action}));
        assert!(entry["detail"].as_str().unwrap().contains("\"reason\":\"r\""), "{entry}");
    }
}

fn a_form_that_is_sent_twice_acts_once(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let path = format!("/console/keys/{}/attest", bob.key);
    let id = FormId::generate().unwrap();
    let submit = |check: &str| {
        let (token, id) = (desk.form_token(), id.expose());
        let form = format!("form_token={token}&form_id={id}&check={check}&result=passed&reason=r");
        desk.post_as_is(&path, &form, &[("Sec-Fetch-Site", "same-origin")])
    };
    assert_eq!(submit("A+B").status, 422, "a rejected form can be sent again");
    let [first, second] = [submit("identity_verified"), submit("identity_verified")];
    assert_eq!([first.status, second.status], [303, 303]);
    assert_eq!(first.header("set-cookie"), second.header("set-cookie"));
    assert_eq!(server.act("/audit/list", &json!({}))["entries"].as_array().unwrap().len(), 1);
}

fn a_wrong_form_changes_nothing(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let key = format!("/console/keys/{}", bob.key);
    for (path, form, status) in [
        (format!("{key}/state"), "do=reactivate&reason=r", 409),
        (format!("{key}/state"), "do=revoke&typed=x&reason=r", 422),
        (format!("{key}/state"), "do=deactivate&reason=", 422),
        (format!("{key}/plan"), "plan=gold&reason=r", 422),
        (format!("{key}/plan"), "plan=builder&per_day=x&reason=r", 422),
        (format!("{key}/assess"), "clarity=x&reason=r", 422),
        (format!("{key}/badge"), "badge_id=bdg_01m7ye92k0ejgs32r4n1j3x7m3&reason=r", 404),
        (
            "/console/keys/ak_01m7ye92k0ejgs32r4n1j3x7m3/plan".to_owned(),
            "plan=builder&reason=r",
            404,
        ),
        ("/console/keys/x/plan".to_owned(), "plan=builder&reason=r", 404),
    ] {
        assert_eq!(desk.submit(&path, form).status, status, "{path} {form}");
    }
    assert_eq!(server.act("/audit/list", &json!({}))["entries"], json!([]));
}

fn a_form_of_an_outdated_page_changes_nothing(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let (plan, account) =
        (format!("/console/keys/{}/plan", bob.key), format!("/console/accounts/{}", bob.account));
    let shown = |path: &str, field: &str| {
        let page = desk.page(path);
        let (_, rest) = page.split_once(&format!("name=\"{field}\" value=\"")).unwrap();
        format!("{field}={}&reason=r1", rest.split('"').next().unwrap().replace(' ', "+"))
    };
    let rejected = |path: &str, form: &str, text: &str| {
        let page = String::from_utf8(desk.submit(path, form).body).unwrap();
        assert!(page.contains(text) && page.contains("value=\"r1\""), "{form}: {page}");
        page
    };
    let assign = |partner: &str| {
        let body = json!({"account_id": bob.account, "partner": partner, "reason": "r"});
        server.act("/partners/assign", &body);
    };
    assign("acme");
    let outdated = shown(&account, "shown_partner");
    assign("globex");
    for act in ["suspend", "restore", "assign&partner=initech"] {
        let form = format!("form=partner&do={act}&{outdated}");
        let text = "The partner of the account was changed since this page was shown.";
        rejected(&account, &form, text);
    }
    let outdated = shown(&account, "shown_suspension");
    server.act("/partners/suspend", &json!({"partner": "globex", "reason": "r2"}));
    let text = "The suspension of the partner was changed since this page was shown.";
    let page = rejected(&account, &format!("form=partner&do=restore&{outdated}"), text);
    assert!(page.contains("<bdi>r2</bdi>"), "the page shows the suspension: {page}");
    let council = format!("/console/keys/{}/governance", bob.key);
    let [of_account, of_key] = [
        (&account, "shown_decision", "do=lift"),
        (&council, "shown_key_decision", "subject=key&do=lift"),
    ]
    .map(|(path, field, act)| (path, format!("form=governance&{act}&{}", shown(path, field))));
    for subject in [&bob.account, &bob.key] {
        server.act("/governance/propose", &json!({"subject": subject, "reason": "r3"}));
    }
    for (path, form) in [of_account, of_key] {
        let text = "The council action was changed since this page was shown.";
        let page = rejected(path, &form, text);
        assert!(page.contains("<bdi>r3</bdi>"), "the page shows the proposal: {page}");
    }
    let outdated = shown(&plan, "shown_plan");
    assert!(!desk.page(&plan).contains(r#"value="yes" checked"#), "the key has no overage yet");
    let agreed = json!({
        "api_key_id": bob.key, "plan": "enterprise", "allow_overage": true, "reason": "r",
    });
    server.act("/keys/plan", &agreed);
    let form = format!("form=plan&plan=enterprise&per_day=7&{outdated}");
    let text = "The plan was changed since this page was shown. Nothing was done.";
    let page = rejected(&plan, &form, text);
    assert!(page.contains(r#"value="yes" checked"#) && !page.contains(r#"value="7""#), "{page}");
    // The page checks the box of a key with overage in advance. This does not prevent another plan.
    let form = format!("plan=builder&allow_overage=yes&{}", shown(&plan, "shown_plan"));
    assert_eq!(desk.submit(&plan, &form).status, 303);
    assert_eq!(server.act("/audit/list", &json!({}))["entries"].as_array().unwrap().len(), 7);
}

fn a_rejected_form_shows_its_error_and_keeps_what_was_typed(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let (key, account) =
        (format!("/console/keys/{}", bob.key), format!("/console/accounts/{}", bob.account));
    for (path, form, field, typed) in [
        (format!("{key}/plan"), "form=plan&plan=builder&per_day=ten&reason=r1", "per_day", "ten"),
        (format!("{key}/plan"), "form=plan&plan=gold&reason=r1", "plan", "r1"),
        (format!("{key}/state"), "form=state&do=deactivate&reason=", "reason-state", ""),
        (format!("{key}/state"), "form=revoke&do=revoke&typed=ak_x&reason=r1", "typed", "ak_x"),
        (format!("{key}/assess"), "form=assess&clarity=much&reason=r1", "clarity", "much"),
        (format!("{key}/attest"), "form=attest&check=A+B&reason=r1", "check", "r1"),
        (
            format!("{key}/attest"),
            "form=attest&check=identity_verified&result=x&reason=r1",
            "result",
            "r1",
        ),
        (
            format!("{key}/governance"),
            "form=governance&subject=key&do=lift",
            "reason-governance",
            "",
        ),
        (account, "form=partner&do=assign&partner=A+B&reason=r1", "partner", "A B"),
    ] {
        let response = desk.submit(&path, form);
        let page = String::from_utf8(response.body).unwrap();
        assert_eq!(response.status, 422, "{path} {form}");
        for part in [
            format!("<a href=\"#{field}\">"),
            format!("id=\"{field}-error\""),
            format!("value=\"{typed}\""),
        ] {
            assert!(page.contains(&part), "{path} {form} lacks {part}: {page}");
        }
        let (_, error) = page.split_once(&format!("id=\"{field}-error\">")).unwrap();
        assert!(error.starts_with(char::is_uppercase), "{path} {form}: {error}");
    }
    // A refusal of the service is shown on the page of the form, too.
    let enforce = "form=governance&subject=key&do=enforce&reason=r1";
    let path = format!("{key}/governance");
    let enforced = desk.submit(&path, enforce);
    assert_eq!(enforced.header("location"), Some(&*path));
    let again = desk.submit(&path, enforce);
    let page = String::from_utf8(again.body).unwrap();
    assert_eq!(again.status, 409);
    assert!(page.contains("enforced already") && page.contains("value=\"r1\""), "{page}");
}

fn the_lists_mark_blocked_keys(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let account = format!("/console/accounts/{}", bob.account);
    let are_marked = || {
        let rows = &server.act("/keys/list", &json!({}))["entries"];
        assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
        let pages = ["/console", &account].map(|path| desk.page(path).contains("tag blocked"));
        (rows[0]["blocked"] == json!(true), pages)
    };
    assert_eq!(are_marked(), (false, [false; 2]));
    // Decisions on the key, on its account and on the partner of the account block alike.
    let on_key = json!({"subject": bob.key, "reason": "r"});
    server.act("/governance/enforce", &on_key);
    assert_eq!(are_marked(), (true, [true; 2]));
    server.act("/governance/lift", &on_key);
    assert_eq!(are_marked(), (false, [false; 2]));
    let on_account = json!({"subject": bob.account, "reason": "r"});
    server.act("/governance/enforce", &on_account);
    assert_eq!(are_marked(), (true, [true; 2]));
    server.act("/governance/lift", &on_account);
    server.act(
        "/partners/assign",
        &json!({"account_id": bob.account, "partner": "acme", "reason": "r"}),
    );
    server.act("/partners/suspend", &json!({"partner": "acme", "reason": "r"}));
    assert_eq!(are_marked(), (true, [true; 2]));
}

fn each_tab_of_a_key_shows_its_forms(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let client = server.server.client();
    let bob = client.new_identity();
    client.register(&bob, "https://93.184.216.34/");
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    for (tab, forms) in [
        ("", 0),
        ("/webhooks", 1),
        ("/plan", 1),
        ("/state", 2),
        ("/governance", 1),
        ("/evidence", 2),
    ] {
        let page = desk.page(&format!("/console/keys/{}{tab}", bob.key));
        assert_eq!(page.matches("name=\"reason\"").count(), forms, "{tab}: {page}");
    }
    let evidence = desk.page(&format!("/console/keys/{}/evidence", bob.key));
    assert!(evidence.contains("<option>identity_verified</option>"), "{evidence}");
    for (form, tab) in [
        ("assess", "evidence"),
        ("attest", "evidence"),
        ("badge", "evidence"),
        ("webhook", "webhooks"),
    ] {
        let tab = format!("/console/keys/{}/{tab}", bob.key);
        let form = desk.get(&format!("/console/keys/{}/{form}", bob.key));
        assert_eq!(form.header("location"), Some(&*tab));
    }
    // A disabled webhook shows its reason.
    let key = format!("/console/keys/{}", bob.key);
    let is_explained = || {
        desk.page(&format!("{key}/webhooks")).contains("An operator of the service disabled it.")
    };
    assert!(!is_explained());
    let shown = server.act("/keys/show", &json!({"api_key_id": bob.key}));
    let form = format!("webhook_id={}&reason=r", text(&shown["webhooks"][0], "webhook_id"));
    assert_eq!(desk.submit(&format!("{key}/webhook"), &form).status, 303);
    assert!(is_explained());
}

fn a_key_whose_rotation_was_interrupted_can_be_deactivated(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    database.by_hand(&format!("UPDATE api_keys SET status = 'rotating' WHERE id = '{}'", bob.key));
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let state = format!("/console/keys/{}/state", bob.key);
    let page = desk.page(&state);
    for act in ["deactivate", "rotate", "revoke"] {
        assert!(page.contains(&format!("name=\"do\" value=\"{act}\"")), "{act}: {page}");
    }
    assert_eq!(desk.submit(&state, "do=deactivate&reason=r").status, 303);
    assert!(desk.page(&state).contains("value=\"reactivate\""));
}

fn a_key_is_found_by_its_names(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity_with_handle("bob");
    server.act("/keys/deactivate", &json!({"api_key_id": bob.key, "reason": "r"}));
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let (key, account) =
        (format!("/console/keys/{}", bob.key), format!("/console/accounts/{}", bob.account));
    let audit = desk.page("/console/audit");
    assert!(audit.contains("console:alice") && audit.contains("key.deactivate"), "{audit}");
    for path in ["/console?q=@bob", "/console?q=somebody", &format!("/console?q={}", bob.account)] {
        assert!(desk.page(path).contains(&bob.key), "{path}");
    }
    assert_eq!(desk.get(&format!("/console?q={}", bob.key)).header("location"), Some(&*key));
    assert!(!desk.page("/console?q=@bob&status=active").contains(&bob.key));
    for path in [&key, &account, "/console/accounts", "/console/service"] {
        desk.page(path);
    }
    assert_eq!(desk.get("/console/nowhere").status, 404);
}

fn a_wrong_parameter_in_an_address_shows_an_error_page(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let (key, account) = ("ak_01m7ye92k0ejgs32r4n1j3x7m3", "acct_01m7ye92k0ejgs32r4n1j3x7m3");
    for path in [
        "/console/audit?before=abc",
        "/console?cursor=a&cursor=b",
        "/console?cursor=a",
        &format!("/console?cursor={account}"),
        "/console?status=asleep",
        "/console?plan=gold",
        &format!("/console/accounts?cursor={key}"),
    ] {
        let response = desk.get(path);
        let kind = response.header("content-type");
        assert_eq!((response.status, kind), (400, Some("text/html; charset=utf-8")), "{path}");
        let page = String::from_utf8(response.body).unwrap();
        assert!(page.contains("has a wrong parameter"), "{page}");
        assert!(page.contains("To the console"), "{page}");
    }
}

fn a_form_of_another_site_changes_nothing(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let alice = Desk::sign_in(&server.ops, Staff::Alice);
    let vera = Desk::sign_in(&server.ops, Staff::Vera);
    let path = format!("/console/keys/{}/state", bob.key);
    let form = |token: &str| format!("form_token={token}&do=deactivate&reason=r");
    let (own, foreign) = (alice.form_token(), vera.form_token());
    let same = ("Sec-Fetch-Site", "same-origin");
    for (token, headers) in [
        ("", &[same][..]),
        ("x", &[same]),
        (&foreign, &[same]),
        (&own, &[("Sec-Fetch-Site", "cross-site")]),
        (&own, &[("Sec-Fetch-Site", "same-site")]),
        (&own, &[("Origin", "https://evil.example")]),
        (&own, &[("Origin", "null")]),
    ] {
        assert_eq!(alice.post(&path, &form(token), headers).status, 403, "{token} {headers:?}");
    }
    let sign_in = server.ops.post("/console/sign-in").header("Sec-Fetch-Site", "cross-site");
    assert_eq!(
        sign_in.body("application/x-www-form-urlencoded", b"name=alice").response().status,
        403
    );
    assert_eq!(server.act("/audit/list", &json!({}))["entries"], json!([]));
    let origin = server.server.ops_url.clone();
    assert_eq!(alice.post(&path, &form(&own), &[("Origin", &origin)]).status, 303);
}

fn a_viewer_sees_and_may_not_act(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let desk = Desk::sign_in(&server.ops, Staff::Vera);
    let key = format!("/console/keys/{}", bob.key);
    let page = desk.page(&format!("{key}/state"));
    assert!(page.contains("Your role is viewer") && !page.contains("name=\"reason\""), "{page}");
    for act in ["state", "plan", "governance", "assess", "attest", "badge", "webhook"] {
        let response = desk.submit(&format!("{key}/{act}"), "do=deactivate&reason=r");
        assert_eq!(response.status, 403, "{act}");
    }
    let account = format!("/console/accounts/{}", bob.account);
    assert_eq!(desk.submit(&account, "do=end_sessions&reason=r").status, 403);
    assert!(desk.page("/console/audit").contains("There is no entry"));
    let page = desk.page("/console/service");
    for part in ["All nodes", env!("CARGO_PKG_VERSION"), "running", "No enabled webhook fails."] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

fn a_session_ends_with_sign_out_and_cannot_be_forged(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let (name, token) = desk.cookie.split_once('=').unwrap();
    assert_eq!(name, "sealpost-console");
    let is_in = |token: &str| {
        let cookie = format!("{name}={token}");
        server.ops.request("GET", "/console").header("Cookie", &cookie).response().status == 200
    };
    assert!(is_in(token));
    let vera = Desk::sign_in(&server.ops, Staff::Vera);
    for forged in [
        String::new(),
        token.replace("_alice", "_vera"),
        vera.cookie.split_once('=').unwrap().1.replace("_vera", "_alice"),
        token.replacen("_1", "_2", 1),
        format!("{token}x"),
    ] {
        assert!(!is_in(&forged), "{forged}");
    }
    let signed_out = desk.submit("/console/sign-out", "");
    assert_eq!(signed_out.header("location"), Some("/console/sign-in"));
    assert!(signed_out.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert!(!is_in(token), "the copy of a cookie");
    let late = desk.post("/console/accounts/x", "do=suspend&reason=r", &[]);
    let sign_in_page = late.header("location").unwrap();
    assert_eq!(sign_in_page, "/console/sign-in?ended=1");
    assert!(desk.page(sign_in_page).contains("Your session has ended. Nothing was done"));
    assert_eq!(vera.get("/console").status, 200);
    drop(server);
    let brief = ConsoleServer::start(database, &["--console-session-ttl", "1ms"]);
    let desk = Desk::sign_in(&brief.ops, Staff::Alice);
    wait_until("the session ends", || {
        desk.get("/console").header("location") == Some("/console/sign-in")
    });
}

fn hostile_text_is_escaped(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let hostile = "<img src=x onerror=alert(1)>'\"&";
    let client = server.server.client();
    let key = client.activate(&json!({"label": hostile})).ok()["api_key_id"].clone();
    let body = json!({"subject": key, "reason": hostile});
    server.act("/governance/propose", &body);
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let key = key.as_str().unwrap();
    for path in [
        "/console",
        &format!("/console/keys/{key}"),
        "/console/audit",
        "/console?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
        "/console?q=%40%3Cimg+src%3Dx%3E",
    ] {
        let response = desk.get(path);
        let page = String::from_utf8_lossy(&response.body);
        assert!(!page.contains("<img src=x") && page.contains("img src=x"), "{path}: {page}");
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
    let name = sign_in(&server.ops, "<img src=x>", "a wrong password");
    assert!(!String::from_utf8_lossy(&name.body).contains("<img src=x"));
}

#[test]
fn a_session_holds_on_every_node() {
    let database = Database::postgres();
    let nodes = [ConsoleServer::start(&database, &[]), ConsoleServer::start(&database, &[])];
    let bob = nodes[0].server.new_identity();
    let desk = Desk::sign_in(&nodes[0].ops, Staff::Alice);
    let other = Desk { ops: &nodes[1].ops, cookie: desk.cookie.clone() };
    let path = format!("/console/keys/{}/plan", bob.key);
    assert_eq!(other.submit(&path, "plan=builder&reason=r").status, 303);
    assert!(desk.page(&format!("/console/keys/{}", bob.key)).contains("builder"));
    assert_eq!(nodes[0].server.status(&bob).ok()["plan"], "builder");
}
