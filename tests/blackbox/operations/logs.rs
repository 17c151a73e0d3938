//! Tests of the log formats and the access log.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    process::Command,
};

use serde_json::Value;

use crate::support::{Client, Database, SOON, Server, eventually, text, within};

/// Returns the access log lines as JSON.
fn access_lines(server: &Server) -> Vec<Value> {
    let lines = server.log();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["target"] == "access").collect()
}

fn serve(more: &[&str]) -> (Database, Server) {
    let database = Database::embedded();
    let server = Server::start(database.command(more));
    (database, server)
}

#[test]
fn the_access_log_has_one_line_for_each_request() {
    let (_database, server) = serve(&["--log", "info,access=debug,actix_server=info"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let before = access_lines(&server).len();
    let sent = server.send(&alice, &bob.key, MESSAGE);
    let refused = server.get(&format!("/v1/{}?to={}", bob.did, bob.key));
    let named =
        server.post("/v1/did/status").by(&alice).header("X-Request-Id", "mine-7").response();
    let lines = eventually("the log has three lines", SOON, || {
        Some(access_lines(&server)).filter(|lines| lines.len() == before + 3)
    });
    let expected = [
        (&sent, "POST", "/v1/channel/send", 200),
        (&refused, "GET", "unmatched", 404),
        (&named, "POST", "/v1/did/status", 200),
    ];
    for (line, (response, method, route, status)) in lines[before..].iter().zip(expected) {
        assert_eq!(line["request.id"].as_str(), response.header("x-request-id"), "{line}");
        assert_eq!((&line["method"], &line["route"]), (&method.into(), &route.into()), "{line}");
        assert_eq!((&line["status"], &line["client"]), (&status.into(), &"127.0.0.1".into()));
        assert!(line["duration_us"].is_u64() && line["level"] == "DEBUG", "{line}");
    }
    for word in [&alice.key, &bob.key, &bob.did, &alice.token, MESSAGE] {
        assert!(!server.log().contains(word), "{word}");
    }
    assert!(server.log().contains("actix_server"), "the default level hides these lines");
}

#[test]
fn a_reader_of_the_log_that_stands_still_stops_no_request() {
    let database = Database::embedded();
    let pipe = database.folder().join("log");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Opened in both directions, because an opening in one direction waits for the other.
    let reader = File::options().read(true).write(true).open(&pipe).unwrap();
    let command = database.command(&["--log", "info,access=debug"]);
    let server = Server::start(within(&format!("exec 2>'{}'", pipe.display()), &command));
    // A pipe holds 64 KiB, which is less than a thousand lines.
    for _ in 0..1_000 {
        assert_eq!(server.get("/v1/nothing").status, 404);
    }

    let mut lines = BufReader::new(reader).lines().map(|line| line.unwrap());
    let report = lines.find(|line| line.contains("lines of the log were lost")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["lines"].as_u64().is_some_and(|lines| (1..1_000).contains(&lines)), "{report}");
    assert_eq!(server.get("/v1/nothing").status, 404);
    assert!(lines.any(|line| line.contains("\"access\"")), "the log continues");
    server.stop();
}

#[test]
fn a_start_in_development_ends_with_the_addresses_for_a_browser() {
    let (_database, server) = serve(&["--dev"]);
    let log = eventually("the addresses are printed", SOON, || {
        Some(server.log()).filter(|log| log.contains("/dashboard"))
    });
    for (name, path) in [("API", "/v1"), ("Docs", "/docs"), ("Dashboard", "/dashboard")] {
        let address = format!("{}{path}", server.url);
        let is_address = |line: &str| line.split_whitespace().eq([name, &address]);
        assert!(log.lines().any(is_address), "{name}: {log}");
    }
}

#[test]
fn the_logged_client_address_comes_only_from_a_trusted_proxy() {
    let address = |more: &[&str]| {
        let asked = ["--log", "info,access=debug"];
        let (_database, server) = serve(&[&asked[..], more].concat());
        let request = server.request("GET", "/v1/ping");
        request.header("X-Forwarded-For", "192.0.2.9, 198.51.100.7").response();
        let lines = eventually("the log has a line", SOON, || {
            Some(access_lines(&server)).filter(|lines| !lines.is_empty())
        });
        text(&lines[0], "client")
    };
    assert_eq!(address(&[]), "127.0.0.1");
    assert_eq!(address(&["--trusted-proxy", "127.0.0.0/8"]), "198.51.100.7");
}

#[test]
fn the_default_log_format_is_json_except_in_development() {
    for (flags, is_json) in [
        (&[][..], true),
        (&["--dev"], false),
        (&["--log-format", "text"], false),
        (&["--dev", "--log-format", "json"], true),
    ] {
        let (_database, server) = serve(flags);
        Client::new(&server.url).get("/v1/ping");
        let log = server.log();
        let reads = |line: &str| serde_json::from_str::<Value>(line).is_ok();
        assert!(!log.is_empty() && log.lines().all(|line| reads(line) == is_json), "{log}");
        assert!(!log.contains('\u{1b}'), "colours are for terminals: {log}");
        for hidden in ["actix_server", "/v1/ping"] {
            assert!(!log.contains(hidden), "{flags:?} {hidden}: {log}");
        }
    }
}

const MESSAGE: &str = "nobody-but-bob-may-read-this";
