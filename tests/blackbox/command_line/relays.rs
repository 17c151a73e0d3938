//! Tests of `sealpost listen --relay`, which receives events over an outgoing connection.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt as _, process::Stdio};

use serde_json::{Value, json};

use super::service::Shell;
use crate::support::{
    Database, Listener, Process, Reaction, Receiver, SOON, binary, eventually, private_file, text,
};

#[test]
fn an_event_is_verified_printed_and_forwarded_unchanged() {
    let database = Database::embedded();
    let server = database.serve();
    let shell = Shell::of(&server);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    shell.log_in("default", &bob);
    database.operate(&["plan", "set", &bob.key, "builder"]);
    let application = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 422 } else { 200 }));
    let forward = ["--forward-to", &application.url];
    let mut listener = Listener::relayed(shell.config.path(), "", &forward);
    assert_eq!(listener.url, "relay:");
    // Nothing can connect to the process, so a network without any way in suffices.
    assert_eq!(listener.listening_sockets(), Vec::<String>::new());
    let sent = server.send(&alice, &bob.key, "x").ok();
    let printed = listener.next();
    assert_eq!((&printed["valid"], &printed["answered"]), (&true.into(), &422.into()));
    assert_eq!(printed["notice"]["envelope_id"], sent["envelope_id"]);
    let request = application.await_requests(1).remove(0);
    assert_eq!(printed["notice"], request.json());
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.header("webhook-id"), text(&sent, "envelope_id"));
    // The status of the application is the outcome of the attempt.
    let webhooks = || server.manage(&bob, &json!({"action": "list"})).ok()["webhooks"].take();
    let webhook = webhooks()[0].take();
    assert_eq!(webhook["connected"], 1);
    // The newest entry is the next attempt, which is pending.
    let id = &webhook["webhook_id"];
    let attempts = json!({"action": "deliveries", "webhook_id": id, "state": "failed"});
    let status = eventually("the attempt is recorded", SOON, || {
        server.manage(&bob, &attempts).ok()["deliveries"][0]["status_code"].as_u64()
    });
    assert_eq!(status, 422);

    listener.terminate();
    assert_eq!(listener.ended(SOON), Some(0));
    assert_eq!(listener.stderr(), "");
    assert_eq!(webhooks(), json!([]));
}

#[test]
fn a_given_webhook_gets_what_waited_and_stays() {
    let (server, shell) = Shell::with_server();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    shell.log_in("default", &bob);
    let registered = shell.succeed(&["webhooks", "register", "--relay", "--json"], "");
    let registered: Value = serde_json::from_str(&registered).unwrap();
    let sent = server.send(&alice, &bob.key, "x").ok();
    let webhook = ["--webhook", &text(&registered, "webhook_id")].map(str::to_owned);
    let webhook: Vec<_> = webhook.iter().map(String::as_str).collect();
    let mut listener =
        Listener::relayed(shell.config.path(), &text(&registered, "secret"), &webhook);
    let printed = listener.next();
    assert_eq!(printed["notice"]["envelope_id"], sent["envelope_id"]);
    assert_eq!(printed["signatures"][0]["made_with"], "secret 1 of SEALPOST_WEBHOOK_SECRET");
    listener.terminate();
    assert_eq!(listener.ended(SOON), Some(0));
    let left = server.manage(&bob, &json!({"action": "list"})).ok();
    assert_eq!(left["webhooks"][0]["url"], "relay:");
}

#[test]
fn a_signal_ends_a_registration_without_a_response() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("sealpost/default.json");
    fs::create_dir(profile.parent().unwrap()).unwrap();
    fs::write(&profile, json!({"url": url, "token": "kt_1"}).to_string()).unwrap();
    fs::set_permissions(&profile, fs::Permissions::from_mode(0o600)).unwrap();
    for way in ["--relay", "--register"] {
        let mut command = binary(&["listen", way]);
        command.env("XDG_CONFIG_HOME", folder.path()).stdout(Stdio::null());
        if way == "--register" {
            command.arg("--listen=127.0.0.1:0");
        }
        let mut process = Process::start(command);
        let _connection = silent.accept().unwrap();
        process.terminate();
        assert_eq!(process.ended(SOON), Some(1));
        assert!(process.stderr().contains("created_at in sealpost webhooks list --json"), "{way}");
    }
}

#[test]
fn a_refused_relay_ends_the_command() {
    let (server, shell) = Shell::with_server();
    shell.log_in("default", &server.new_identity());
    let secret = private_file("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
    let unknown = "wh_01h455vb4pex5vsknk084sn02q";
    let listen = ["listen", "--relay", "--webhook", unknown, "--secret-file"];
    let listen = [&listen[..], &[secret.path().to_str().unwrap()]].concat();
    let refused = shell.run(&listen, "");
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("WEBHOOK_NOT_FOUND"), "{}", refused.stderr);
    // The command prints where it listens after it has registered a webhook.
    let elsewhere = ["listen", "--relay", "--forward-to", "http://example.org/"];
    let elsewhere = shell.run(&elsewhere, "");
    assert_eq!((elsewhere.status, &*elsewhere.stdout), (Some(2), ""));
    assert!(elsewhere.stderr.contains("is no URL of this machine"), "{}", elsewhere.stderr);
    let contradiction = shell.run(&["listen", "--relay", "--register"], "");
    assert_eq!(contradiction.status, Some(2));
}
