//! Tests of the API for operators on the operations address.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use sealpost_wallet::FormId;
use serde_json::{Value, json};

use crate::support::{
    Client, Database, Server, binary, connect,
    console::{ConsoleServer, Desk, LINES, Staff, authorization, denied, hash, rewrite},
    on_both, on_embedded, private_file, response_on, run, status_of, text, wait_until,
};

on_both!(each_act_is_performed_and_recorded_under_the_name_of_the_operator,);
on_embedded!(
    each_act_has_its_refusals,
    a_viewer_reads_and_may_not_act,
    wrong_credentials_are_refused_and_throttled,
    a_removed_operator_is_refused_after_a_reload,
    an_operator_who_is_removed_while_the_body_is_received_changes_nothing,
);

/// Returns the newest entry of the audit trail, with its details as JSON.
#[track_caller]
fn newest(server: &ConsoleServer) -> (Value, Value) {
    let page = server.act("/audit/list", &json!({"limit": 1}));
    let entry = page["entries"][0].clone();
    let detail = serde_json::from_str(entry["detail"].as_str().unwrap()).unwrap();
    (entry, detail)
}

/// A change by an operator: the path and body of the request, the expected audit entry (`action` and `subject`), and an
/// expected member of the response.
struct Act<'a> {
    path: &'a str,
    body: Value,
    action: &'a str,
    subject: &'a str,
    result: (&'a str, &'a str),
}

/// Returns changes of an API key and its webhook, in an order in which each is possible.
fn acts_on_key<'a>(key: &'a str, hook: &'a str) -> Vec<Act<'a>> {
    let of_key = json!({"api_key_id": key, "reason": "because"});
    let with = |name: &str, value: &str| {
        let mut body = of_key.clone();
        body[name] = value.into();
        body
    };
    let scores = json!({
        "api_key_id": key, "clarity": "0.9", "coherence": "0.9", "confidence": "0.95", "drift": "0.01",
        "reason": "because",
    });
    let hook_body = json!({"webhook_id": hook, "reason": "because"});
    let act = |path, body, action, result| Act { path, body, action, subject: key, result };
    let by = "console:alice";
    vec![
        act("/keys/plan", with("plan", "builder"), "plan.set", ("plan", "builder")),
        act("/keys/deactivate", of_key.clone(), "key.deactivate", ("status", "deactivated")),
        act("/keys/reactivate", of_key.clone(), "key.reactivate", ("status", "active")),
        act("/keys/rotate", of_key.clone(), "key.finish_rotation", ("status", "active")),
        act("/assessments/record", scores, "assessment.record", ("assessor", by)),
        act(
            "/attestations/record",
            with("check", "identity_verified"),
            "attestation.record",
            ("attester", by),
        ),
        Act {
            subject: hook,
            ..act("/webhooks/disable", hook_body, "webhook.disable", ("status", "disabled"))
        },
        act("/keys/revoke", of_key.clone(), "key.revoke", ("status", "revoked")),
    ]
}

/// Returns governance changes on a key and on its account, in an order in which each is possible.
fn acts_of_governance<'a>(key: &'a str, account: &'a str) -> Vec<Act<'a>> {
    let council = |path, action, status| Act {
        path,
        body: json!({"subject": key, "reason": "because"}),
        action,
        subject: key,
        result: ("status", status),
    };
    let partner = |path, action, status| Act {
        path,
        body: json!({"partner": "acme", "reason": "because"}),
        action,
        subject: "acme",
        result: ("status", status),
    };
    let of_account =
        |path, body, action, result| Act { path, body, action, subject: account, result };
    let assign = json!({"account_id": account, "partner": "acme", "reason": "because"});
    let end = json!({"account_id": account, "reason": "because"});
    vec![
        council("/governance/propose", "governance.propose", "proposed"),
        council("/governance/enforce", "governance.enforce", "enforced"),
        council("/governance/lift", "governance.lift", "lifted"),
        of_account("/partners/assign", assign, "partner.assign", ("partner", "acme")),
        partner("/partners/suspend", "partner.suspend", "enforced"),
        partner("/partners/restore", "partner.restore", "lifted"),
        of_account("/accounts/end-sessions", end, "session.end", ("account_id", account)),
    ]
}

fn each_act_is_performed_and_recorded_under_the_name_of_the_operator(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let client = server.server.client();
    let bob = client.new_identity_with_handle("bob");
    let hook = text(&client.register(&bob, "https://93.184.216.34/"), "webhook_id");
    let governance = acts_of_governance(&bob.key, &bob.account);
    for act in governance.iter().chain(&acts_on_key(&bob.key, &hook)) {
        let Act { path, body, action, subject, result: (member, value) } = act;
        let done = server.act(path, body);
        assert_eq!(done[member], *value, "{path}: {done}");
        let (entry, detail) = newest(&server);
        assert_eq!((&entry["actor"], &entry["action"]), (&json!("console:alice"), &json!(action)));
        assert!(text(&entry, "subject").ends_with(subject), "{path}: {entry}");
        assert_eq!(detail["reason"], "because", "{path}: {entry}");
        assert_eq!(detail["operator"], json!({"client_address": "127.0.0.1"}), "{path}: {entry}");
    }
    assert_eq!(database.operate(&["audit", "verify"])["verdict"], "whole");
    let shown = server.act("/keys/show", &json!({"api_key_id": bob.key}));
    assert_eq!((&shown["status"], &shown["plan"]), (&json!("revoked"), &json!("builder")));
    let account = server.act("/accounts/show", &json!({"account_id": bob.account}));
    assert_eq!((&account["partner"], &account["session_count"]), (&json!("acme"), &json!(0)));
    assert_eq!(server.act("/stats", &json!({}))["keys"]["revoked"], 1);
}

fn each_act_has_its_refusals(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let key = bob.key.as_str();
    let nobody = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let invalid = (400, "INVALID_FIELD");
    let missing = (400, "MISSING_FIELD");
    let unknown = (404, "SUBJECT_NOT_FOUND");
    let long = "x".repeat(1001);
    let (badge, account) = ("bdg_01m7ye92k0ejgs32r4n1j3x7m3", "acct_01m7ye92k0ejgs32r4n1j3x7m3");
    let plan = |key: &str, plan: &str| json!({"api_key_id": key, "plan": plan, "reason": "x"});
    let scores = json!({
        "api_key_id": key, "clarity": "2", "coherence": "0.9", "confidence": "0.9", "drift": "0", "reason": "x",
    });
    for (path, body, (status, code)) in [
        ("/keys/plan", plan(nobody, "builder"), unknown),
        ("/keys/plan", plan(key, "gold"), invalid),
        (
            "/keys/plan",
            json!({"api_key_id": key, "plan": "builder", "per_day": 5, "reason": "x"}),
            invalid,
        ),
        ("/keys/deactivate", json!({"api_key_id": key}), missing),
        ("/keys/deactivate", json!({"api_key_id": key, "reason": ""}), missing),
        ("/keys/deactivate", json!({"api_key_id": key, "reason": long}), invalid),
        ("/keys/deactivate", json!({"api_key_id": key, "reason": "\u{200b}"}), invalid),
        ("/keys/deactivate", json!({"api_key_id": key, "reason": "a\u{202e}b"}), invalid),
        ("/keys/deactivate", json!({"api_key_id": key, "reason": "a\u{7}b"}), invalid),
        ("/keys/reactivate", json!({"api_key_id": key, "reason": "x"}), (409, "ACTION_REFUSED")),
        ("/keys/show", json!({"api_key_id": "bob"}), invalid),
        ("/keys/list", json!({"status": "asleep"}), invalid),
        ("/keys/list", json!({"lable": "x"}), invalid),
        ("/keys/list", json!({"api_key_id": key}), invalid),
        ("/governance/lift", json!({"subject": key, "reason": "x"}), unknown),
        ("/governance/enforce", json!({"subject": "bob", "reason": "x"}), invalid),
        ("/partners/suspend", json!({"partner": "nobody", "reason": "x"}), unknown),
        ("/badges/revoke", json!({"badge_id": badge, "reason": "x"}), unknown),
        ("/accounts/show", json!({"account_id": account}), unknown),
        ("/assessments/record", scores, invalid),
        (
            "/attestations/record",
            json!({"api_key_id": key, "check": "no name", "reason": "x"}),
            invalid,
        ),
    ] {
        server.refused(path, &body, status, code);
    }
    let of_account = json!({"subject": bob.account, "reason": "x"});
    server.act("/governance/enforce", &of_account);
    server.refused("/governance/enforce", &of_account, 409, "ACTION_REFUSED");
    assert_eq!(server.act("/audit/list", &json!({}))["entries"].as_array().unwrap().len(), 1);
    let problem = denied(&server.ops.post("/admin/v1/nothing").response(), 404, "NOT_FOUND");
    assert!(text(&problem, "detail").ends_with(" /admin/v1/openapi.json"), "{problem}");
    denied(&server.ops.get("/admin/v1/keys/list"), 405, "METHOD_NOT_ALLOWED");
}

fn a_viewer_reads_and_may_not_act(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    let listed = server.post(Staff::Vera, "/keys/list", &json!({})).ok();
    assert_eq!(listed["entries"][0]["api_key_id"], bob.key.as_str());
    for path in ["/accounts/list", "/audit/list", "/stats"] {
        server.post(Staff::Vera, path, &json!({})).ok();
    }
    let document = server.ops.get("/admin/v1/openapi.json").ok_cached();
    let mut acts = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let forbidden = &item["post"]["responses"]["403"];
        if forbidden.is_object() {
            let path = path.strip_prefix("/admin/v1").unwrap();
            let body = json!({"api_key_id": bob.key, "subject": bob.key, "reason": "x"});
            denied(&server.post(Staff::Vera, path, &body), 403, "INSUFFICIENT_ROLE");
            acts += 1;
        }
    }
    assert_eq!(acts, 16, "the acts of the document");
    assert_eq!(server.act("/audit/list", &json!({}))["entries"], json!([]));
}

fn wrong_credentials_are_refused_and_throttled(database: &Database) {
    let server = ConsoleServer::start(database, &["--console-sign-ins-per-minute", "4"]);
    server.act("/keys/list", &json!({}));
    let list = |authorization: Option<&str>| {
        let mut request = server.ops.post("/admin/v1/keys/list");
        if let Some(authorization) = authorization {
            request = request.header("Authorization", authorization);
        }
        request.json(&json!({})).response()
    };
    denied(&list(None), 401, "UNAUTHORIZED");
    denied(&list(Some(&authorization("alice", "wrong password"))), 401, "UNAUTHORIZED");
    denied(&list(Some(&authorization("nobody", "wrong password"))), 401, "UNAUTHORIZED");
    let names = ["alice", "nobody"].repeat(5);
    let guesses: Vec<_> = names.iter().map(|name| authorization(name, "another guess")).collect();
    let refused: Vec<_> = guesses.iter().map(|guess| list(Some(guess)).status).collect();
    assert!(refused.iter().all(|status| [401, 429].contains(status)), "{refused:?}");
    assert!(refused.contains(&429), "{refused:?}");
    let throttled =
        guesses.iter().map(|guess| list(Some(guess))).find(|r| r.status == 429).unwrap();
    denied(&throttled, 429, "RATE_LIMIT_EXCEEDED");
    assert!(throttled.header("retry-after").is_some());
    server.act("/keys/list", &json!({}));
    assert!(!server.server.log().contains("wrong password"), "{}", server.server.log());
}

#[test]
fn without_a_password_file_there_is_no_console() {
    let server = Server::shared();
    let ops = Client::new(&server.ops_url);
    for path in ["/console", "/console/sign-in", "/admin/v1/openapi.json", "/assets/x"] {
        assert_eq!(ops.get(path).status, 404, "{path}");
    }
    let body = |path: &str, status| {
        let response = ops.get(path);
        assert_eq!(response.status, status, "{path}");
        String::from_utf8(response.body.clone()).unwrap()
    };
    let paths = body("/", 200);
    for path in ["/livez", "/readyz", "/metrics", "--console-password-file"] {
        assert!(paths.contains(path), "{paths}");
    }
    assert_eq!(body("/nope", 404), format!("no such path\n\n{paths}"));
    assert_eq!(ops.post("/admin/v1/keys/list").json(&json!({})).response().status, 404);
}

fn a_removed_operator_is_refused_after_a_reload(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    server.act("/keys/list", &json!({}));
    rewrite(&server.file, "nonsense");
    server.server.hang_up();
    wait_until("the error in the log", || {
        server.server.log().contains("the previous operators stay")
    });
    server.act("/keys/list", &json!({}));
    let password = format!("{}\n", Staff::Vera.password());
    rewrite(&server.file, &hash(&[Staff::Vera.name(), "--role", "viewer"], &password).1);
    server.server.hang_up();
    wait_until("the removal", || {
        let response = server.post(Staff::Alice, "/keys/list", &json!({}));
        response.status == 401
    });
    server.post(Staff::Vera, "/keys/list", &json!({})).ok();
}

fn an_operator_who_is_removed_while_the_body_is_received_changes_nothing(database: &Database) {
    let server = ConsoleServer::start(database, &[]);
    let bob = server.server.new_identity();
    server.act("/keys/list", &json!({}));
    let desk = Desk::sign_in(&server.ops, Staff::Alice);
    let id = FormId::generate().unwrap();
    let form =
        format!("form_token={}&form_id={}&do=deactivate&reason=r", desk.form_token(), id.expose());
    let body = json!({"api_key_id": bob.key, "reason": "r"}).to_string();
    let (authorization, cookie) = (Staff::Alice.authorization(), &desk.cookie);
    let head = |path: &str, kind: &str, more: &str, body: &str| {
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n\r\n"
        )
    };
    let of_api = format!("Expect: 100-continue\r\nAuthorization: {authorization}");
    let of_page =
        format!("Expect: 100-continue\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin");
    let api = head("/admin/v1/keys/deactivate", "application/json", &of_api, &body);
    let page = format!("/console/keys/{}/state", bob.key);
    let page = head(&page, "application/x-www-form-urlencoded", &of_page, &form);
    let mut sockets = [api, page].map(|head| begin(&server.server.ops_url, &head));
    rewrite(&server.file, LINES.lines().last().unwrap());
    server.server.hang_up();
    wait_until("the removal", || server.post(Staff::Alice, "/keys/list", &json!({})).status == 401);
    for ((socket, rest), status) in sockets.iter_mut().zip([&body, &form]).zip([401, 303]) {
        socket.write_all(rest.as_bytes()).unwrap();
        let response = response_on(socket);
        assert_eq!(status_of(&response), status, "{response}");
        assert!(status == 401 || response.contains("/console/sign-in?ended=1"), "{response}");
    }
    let entries = server.post(Staff::Vera, "/audit/list", &json!({})).ok()["entries"].clone();
    assert_eq!(entries, json!([]));
}

/// Sends the head of a request, and waits until the server asks for the body.
fn begin(url: &str, head: &str) -> TcpStream {
    let mut socket = connect(url);
    socket.write_all(head.as_bytes()).unwrap();
    let mut asked = [0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    socket.read_exact(&mut asked).unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    socket
}

#[test]
fn the_password_file_is_checked_at_start() {
    let database = Database::embedded();
    let line = LINES.lines().next().unwrap();
    let hash = line.rsplit(':').next().unwrap();
    for (content, mode, problem) in [
        ("alice".to_owned(), 0o600, "line 1: write NAME:ROLE:HASH"),
        (format!("{line}\n{line}"), 0o600, "line 2: the name is used twice"),
        (line.replace("operator", "admin"), 0o600, "line 1: the role must be viewer or operator"),
        (line.replace("$argon2id", "$argon2i"), 0o600, "line 1: the hash is not argon2id"),
        (line.to_owned(), 0o644, "run chmod 600"),
    ] {
        use std::os::unix::fs::PermissionsExt as _;
        let file = private_file(&content);
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        let path = file.path().display().to_string();
        let ended = run(database.command(&["--dev", "--console-password-file", &path]));
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(problem), "{problem}: {}", ended.stderr);
        assert!(!ended.stderr.contains(hash), "{}", ended.stderr);
    }
    let file = private_file(line);
    let path = file.path().display().to_string();
    for (more, problem) in [
        (&["--ops-listen", "off"][..], "--console-password-file needs the operations address"),
        (&["--ops-listen", "0.0.0.0:0"], "would be served without TLS"),
        (&["--console-url", "http://ops.example"], "--console-url must be an HTTPS URL"),
    ] {
        let mut command =
            binary(&["serve", "--listen=127.0.0.1:0", "--data-dir", &database.data()]);
        command.args(["--console-password-file", &path]).args(more);
        let ended = run(command);
        assert!(ended.stderr.contains(problem), "{problem}: {ended:?}");
    }
}

#[test]
fn a_line_is_hashed_from_standard_input() {
    let (status, line, error) = hash(&["bob"], "a long password\r\nmore\n");
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert!(line.starts_with("bob:viewer:$argon2id$v=19$") && line.ends_with('\n'), "{line}");
    for (name, input, problem) in [
        ("bob", "short\n", "the password must have 12 to 256 bytes"),
        ("bob", "", "the password must have 12 to 256 bytes"),
        ("b:b", "a long password\n", "the name must have 1 to 32"),
    ] {
        let (status, line, error) = hash(&[name], input);
        assert_eq!((status, line.as_str()), (Some(2), ""));
        assert!(error.contains(problem) && !error.contains("a long password"), "{error}");
    }
}
