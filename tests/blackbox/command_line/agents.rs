//! Tests of `sealpost mcp`, the tools of agents.

use std::{
    fs,
    io::{BufRead as _, BufReader, Lines, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use serde_json::{Value, json};

use super::service::Shell;
use crate::support::{binary, text};

#[test]
fn five_calls_lead_from_nothing_to_a_reply() {
    let (server, shell) = Shell::with_server();
    let bob = server.new_identity_with_handle("bob");
    let began = Instant::now();
    let mut agent = Agent::start(&shell, &["--url", &shell.url]);
    let alice = agent.call("activate", &json!({"label": "Alice", "handle": "alice"}));
    agent.call("send_message", &json!({"to": "bob", "message": "When do we meet?"}));
    server.send(&bob, "alice", "At noon.").ok();
    let arrived = agent.call("wait_for_message", &json!({}));
    assert_eq!(arrived["received"], true);
    assert_eq!(arrived["message"]["sender"], bob.key);
    let id = &arrived["message"]["envelope_id"];
    let opened = agent.call("open_message", &json!({"envelope_id": id}));
    assert_eq!(opened["message"]["text"], "At noon.");
    assert_eq!(opened["message"]["sender_handle"], "bob");
    let reply = agent.call("reply", &json!({"envelope_id": id, "message": "Good."}));
    assert_eq!(reply["recipient"], bob.key);
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    agent.end();

    let profile = shell.profile("default");
    assert_eq!(profile["api_key_id"], alice["api_key_id"]);
    for (member, prefix) in [("login_secret", "ls_"), ("recovery_code", "rc_"), ("token", "st_")] {
        assert!(text(&profile, member).starts_with(prefix), "{member}");
    }
    assert!(shell.succeed(&["sent"], "").contains(reply["envelope_id"].as_str().unwrap()));
}

#[test]
fn a_message_between_two_waits_is_not_lost() {
    let (server, shell) = Shell::with_server();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    shell.log_in("default", &alice);
    let mut sent = Vec::new();
    for _ in 0..2 {
        let mut agent = Agent::start(&shell, &["--allow", "wait"]);
        sent.push(server.send(&bob, &alice.key, "x").ok()["envelope_id"].clone());
        sent.push(server.send(&bob, &alice.key, "y").ok()["envelope_id"].clone());
        let arrived = agent.call("wait_for_message", &json!({"timeout_s": 10}));
        assert_eq!(arrived["message"]["envelope_id"], sent.remove(0));
        // The process ends without warning, as clients often end it.
        agent.process.kill().unwrap();
        agent.process.wait().unwrap();
    }
    let mut agent = Agent::start(&shell, &["--allow", "wait"]);
    for envelope in sent {
        let arrived = agent.call("wait_for_message", &json!({"timeout_s": 10}));
        assert_eq!(arrived["message"]["envelope_id"], envelope);
    }
    let nothing = agent.call("wait_for_message", &json!({"timeout_s": 1}));
    assert_eq!(nothing, json!({"received": false, "message": null}));
    agent.end();
}

#[test]
fn a_signal_ends_the_command_after_it_has_stored_the_session() {
    let (_server, shell) = Shell::with_server();
    let mut agent = Agent::start(&shell, &["--url", &shell.url]);
    agent.call("activate", &json!({"label": "Alice"}));
    agent.call("whoami", &json!({}));
    assert_eq!(shell.profile("default")["token"], Value::Null);
    let terminate = format!("kill -TERM {}", agent.process.id());
    assert!(Command::new("sh").args(["-c", &terminate]).status().unwrap().success());
    assert!(agent.process.wait().unwrap().success());
    assert!(text(&shell.profile("default"), "token").starts_with("st_"));
}

#[test]
fn two_processes_do_not_overwrite_the_secrets_of_an_account() {
    let (_server, shell) = Shell::with_server();
    let [mut first, mut second] = [(); 2].map(|()| Agent::start(&shell, &["--url", &shell.url]));
    let alice = first.call("activate", &json!({"label": "Alice"}));
    let profile = shell.profile("default");
    let params = json!({"name": "activate", "arguments": {"label": "Bob"}});
    let refused = second.request("tools/call", &params);
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused.to_string().contains("STORE_UNUSABLE"), "{refused}");
    second.end();
    assert_eq!(shell.profile("default"), profile);
    first.end();
    assert_eq!(shell.profile("default")["api_key_id"], alice["api_key_id"]);
}

#[test]
fn the_session_of_an_agent_is_not_stored_in_the_profile_of_another_account() {
    let (server, shell) = Shell::with_server();
    let mut agent = Agent::start(&shell, &["--url", &shell.url]);
    agent.call("activate", &json!({"label": "Alice"}));
    agent.call("whoami", &json!({}));
    fs::remove_file(shell.config.path().join("sealpost/default.json")).unwrap();
    shell.log_in("default", &server.new_identity());
    let profile = shell.profile("default");
    agent.end();
    assert_eq!(shell.profile("default"), profile);
}

#[test]
fn the_command_refuses_what_would_be_unsafe_or_unclear() {
    let (server, shell) = Shell::with_server();
    let refused = shell.run(&["mcp"], "");
    assert!(refused.stderr.contains("there is no profile default"), "{}", refused.stderr);
    shell.log_in("default", &server.new_identity());
    for (arguments, advice, status) in [
        (&["mcp", "--url", "https://other.example"][..], "the profile default is for", 1),
        (&["mcp", "--allow", "delete"], "give one of activate, find,", 2),
        (&["mcp", "--listen", "0.0.0.0:0"], "is not loopback", 1),
    ] {
        let refused = shell.run(arguments, "");
        assert_eq!(refused.status, Some(status), "{}", refused.stderr);
        assert!(refused.stderr.contains(advice), "{}", refused.stderr);
    }
}

/// A running `sealpost mcp`, and its client.
struct Agent {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    requests: u64,
}

impl Agent {
    #[track_caller]
    fn start(shell: &Shell, arguments: &[&str]) -> Self {
        let mut command = binary(&[&["mcp"], arguments].concat());
        command.env("XDG_CONFIG_HOME", shell.config.path());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut agent =
            Self { process, input, output: BufReader::new(output).lines(), requests: 0 };
        let client = json!({"name": "test", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        assert_eq!(agent.request("initialize", &hello)["serverInfo"]["name"], "sealpost");
        agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    /// Calls a tool, and returns its structured result.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let mut result = self.request("tools/call", &params);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].take()
    }

    #[track_caller]
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let line = self.output.next().unwrap().unwrap();
        let mut response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["id"], id, "{line}");
        response["result"].take()
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// Closes standard input, and waits until the process ends.
    #[track_caller]
    fn end(self) {
        let Self { mut process, input, .. } = self;
        drop(input);
        assert!(process.wait().unwrap().success());
    }
}
