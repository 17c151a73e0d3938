//! Tests that junk of one client leaves the limits of its address, and the bounds of the node, to other clients.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use sealpost_wallet::InviteSecret;
use serde_json::json;

use crate::support::{
    Browser, Database, Identity, Server, connect,
    console::{ConsoleServer, Desk, Staff, authorization, denied, sign_in},
    on_embedded, status_of,
};

on_embedded!(
    junk_credentials_use_up_no_sign_ins_of_operators,
    wrong_passwords_of_one_operator_use_up_no_sign_ins_of_another,
    wrong_invites_use_up_no_activations,
    an_account_without_a_live_log_always_gets_one,
);

fn junk_credentials_use_up_no_sign_ins_of_operators(database: &Database) {
    let server = ConsoleServer::start(database, &["--console-sign-ins-per-minute", "3"]);
    let list = |authorization: &str| {
        let request = server.ops.post("/admin/v1/keys/list");
        request.header("Authorization", authorization).json(&json!({})).response()
    };
    let malformed =
        ["Basic YTpi", "Bearer", "Bearer ???", "Bearer st_x", "Bearer YWxpY2U6", "Bearer OmFsaWNl"];
    for junk in malformed.repeat(3) {
        denied(&list(junk), 401, "UNAUTHORIZED");
    }
    let unknown = |nth: u32| list(&authorization(&format!("nobody{nth}"), "a long password"));
    let statuses: Vec<_> = (0..5).map(|nth| unknown(nth).status).collect();
    assert_eq!(statuses, [401, 401, 401, 429, 429]);
    assert_eq!(sign_in(&server.ops, "nobody", "a long password").status, 429);
    let throttled = server.server.log().matches("has reached a limit").count();
    assert_eq!(throttled, 1, "once a minute: {}", server.server.log());
    let refused = "sealpost_limits_refused_total{limit=\"address\"}";
    assert!(server.server.metric(refused) >= 2);
    server.act("/keys/list", &json!({}));
    Desk::sign_in(&server.ops, Staff::Vera);
    // The status must not show that this name exists.
    let wrong = list(&authorization(Staff::Vera.name(), "a wrong password"));
    denied(&wrong, 429, "RATE_LIMIT_EXCEEDED");
}

fn wrong_passwords_of_one_operator_use_up_no_sign_ins_of_another(database: &Database) {
    let server = ConsoleServer::start(database, &["--console-sign-ins-per-minute", "2"]);
    let guesses = [(); 4].map(|()| sign_in(&server.ops, "alice", "a wrong password"));
    assert_eq!(guesses.each_ref().map(|guess| guess.status), [401, 401, 429, 429]);
    assert!(guesses[3].header("retry-after").is_some());
    let log = server.server.log();
    assert!(!log.contains("a wrong password"), "{log}");
    assert!(log.contains("a sign-in of an operator failed"), "{log}");
    let right = sign_in(&server.ops, "alice", Staff::Alice.password());
    assert_eq!(right.status, 429, "the limit bounds the guesses of this password");
    Desk::sign_in(&server.ops, Staff::Vera);
    server.post(Staff::Vera, "/keys/list", &json!({})).ok();
}

fn wrong_invites_use_up_no_activations(database: &Database) {
    let limits = ["--activation=invite", "--activations-per-minute=1", "--logins-per-minute=2"];
    let server = database.serve_with(&limits);
    let invite = database.operate(&["invite", "create", "--uses", "3"])["invite"].clone();
    let activate = |invite: &str| server.activate(&json!({"label": "a", "invite": invite}));
    for malformed in ["", "inv_x", "ls_x"].repeat(3) {
        activate(malformed).refused(403, "ACTIVATION_REFUSED");
    }
    let wrong = |_| activate(InviteSecret::generate().unwrap().expose()).status;
    assert_eq!((0..4).map(wrong).collect::<Vec<_>>(), [403, 403, 429, 429]);
    let right = invite.as_str().unwrap();
    activate(right).ok();
    activate(right).refused(429, "RATE_LIMIT_EXCEEDED");
}

fn an_account_without_a_live_log_always_gets_one(database: &Database) {
    let server = database.serve_with(&["--live-logs=3", "--live-logs-per-account=2"]);
    let accounts = [(); 4].map(|()| server.new_identity());
    let [one, other, third, owner] = &accounts;
    let attackers = [one, one, other].map(|identity| follow(&server, identity));
    let status = |(_, head): &(TcpStream, String)| status_of(head);
    assert_eq!(attackers.each_ref().map(status), [200; 3]);
    // All places are taken: the account with two logs yields one, and then the oldest log ends.
    let late = [third, owner].map(|identity| follow(&server, identity));
    assert_eq!(late.each_ref().map(status), [200; 2]);
    let (_, head) = follow(&server, owner);
    assert_eq!(status_of(&head), 503, "no account has more logs than this one: {head}");
}

/// Opens the live log of an identity. Returns the connection and the head of the response.
fn follow(server: &Server, identity: &Identity) -> (TcpStream, String) {
    let browser = Browser::sign_in(server, identity);
    let mut socket = connect(&server.url);
    let request = format!(
        "GET /dashboard/keys/{}/events/live HTTP/1.1\r\nHost: x\r\nCookie: {}\r\n\r\n",
        identity.key, browser.cookie
    );
    socket.write_all(request.as_bytes()).unwrap();
    let (mut head, mut buffer) = (String::new(), [0; 4096]);
    while !head.contains("\r\n\r\n") {
        let length = socket.read(&mut buffer).unwrap();
        assert_ne!(length, 0, "closed after {head:?}");
        head.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    (socket, head)
}
