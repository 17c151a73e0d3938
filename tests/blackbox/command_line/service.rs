//! Tests of the commands that call a service with the credentials of a profile: login, send, open, keys, webhooks and
//! listen.

use std::{
    fs::{self, File},
    io::{Seek as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    process::Command,
    time::Duration,
};

use sealpost_domain::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Browser, CommandResult, Database, Identity, Listener, Reaction, Receiver, SOON, Server, binary,
    run, text, within,
};

/// A user of the shell with a folder for profiles.
pub(super) struct Shell {
    pub(super) config: TempDir,
    pub(super) url: String,
}

impl Shell {
    /// Starts a server on the embedded database, and returns it with a shell that uses it.
    pub(super) fn with_server() -> (Server, Self) {
        let server = Database::embedded().serve();
        let shell = Self::of(&server);
        (server, shell)
    }

    pub(super) fn of(server: &Server) -> Self {
        Self { config: tempfile::tempdir().unwrap(), url: server.url.clone() }
    }

    /// Runs a command with a text as standard input.
    #[track_caller]
    pub(super) fn run(&self, arguments: &[&str], input: &str) -> CommandResult {
        let mut stdin: File = tempfile::tempfile().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        stdin.rewind().unwrap();
        let mut command = binary(arguments);
        command.env("XDG_CONFIG_HOME", self.config.path()).stdin(stdin);
        let output = command.output().unwrap();
        CommandResult {
            command: format!("{command:?}"),
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(super) fn succeed(&self, arguments: &[&str], input: &str) -> String {
        let result = self.run(arguments, input);
        assert_eq!(result.status, Some(0), "{arguments:?}: {}", result.stderr);
        result.stdout
    }

    /// Logs in with the login secret of an identity, in a profile with this name.
    #[track_caller]
    pub(super) fn log_in(&self, profile: &str, identity: &Identity) {
        let (account, key) = (&identity.account, &identity.key);
        let line = ["login", "--url", &self.url, "--profile", profile, "--account", account];
        let line = [&line[..], &["--api-key", key]].concat();
        self.succeed(&line, &format!("{}\n", identity.secret()));
    }

    pub(super) fn profile(&self, name: &str) -> Value {
        let file = self.config.path().join("sealpost").join(format!("{name}.json"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }
}

/// Runs the commands that the page "Sent" shows for an identity that sent nothing yet.
#[test]
fn the_commands_of_the_dashboard_send_a_first_message() {
    let (server, shell) = Shell::with_server();
    let identity = server.new_identity();
    let browser = Browser::sign_in(&server, &identity);
    let to = format!("/dashboard/keys/{}/sent", identity.key);
    assert!(browser.page("/dashboard").contains(&format!("href=\"{to}\">Send the first message")));
    let secret = format!("{}\n", identity.secret());
    for path in [to.as_str(), "/dashboard/sent"] {
        let page = browser.page(path);
        let commands = page.split("<code>").nth(1).and_then(|code| code.split("</code>").next());
        // A long command continues in the next line after a backslash.
        let commands = commands.unwrap().replace("\\\n", " ");
        let (log_in, send) = commands.split_once('\n').unwrap();
        let words = |line: &str| -> Vec<_> {
            let (_, command) = line.split_once("sealpost ").unwrap();
            command.split_whitespace().map(str::to_owned).collect()
        };
        let run = |line: &str, input: &str| {
            let words = words(line);
            shell.succeed(&words.iter().map(String::as_str).collect::<Vec<_>>(), input)
        };
        run(log_in, &secret);
        assert!(send.starts_with("echo 'Meet me at noon.' |"), "{send}");
        if path != to {
            assert!(run(send, "Meet me at noon.").starts_with("env_"));
        }
    }
}

#[test]
fn an_interrupted_question_leaves_a_terminal_that_shows_typed_characters() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("python3");
    command.args(["-c", INTERRUPTION, env!("CARGO_BIN_EXE_sealpost"), "login"]);
    command.args(["--url", "http://127.0.0.1:1"]).env("XDG_CONFIG_HOME", folder.path());
    let ended = run(command);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("sealpost: interrupted"), "{ended:?}");
    assert!(ended.stdout.contains(" echo "), "{ended:?}");
}

/// Runs a command on a terminal, types Ctrl-C when the terminal hides typed characters, and prints the text on the
/// terminal with its settings at the end.
const INTERRUPTION: &str = r#"
import os, pty, sys, termios, time
child, terminal = pty.fork()
if child == 0:
    os.execvp("sh", ["sh", "-c", 'trap : INT; "$@"; stty -a', "sh", *sys.argv[1:]])
while termios.tcgetattr(terminal)[3] & termios.ECHO:
    time.sleep(0.01)
os.write(terminal, b"\x03")
shown = b""
try:
    while part := os.read(terminal, 4096):
        shown += part
except OSError:
    pass
print(shown.decode())
"#;

#[test]
fn a_recovery_code_replaces_the_login_secret_of_a_profile() {
    let (_server, shell) = Shell::with_server();
    let new = ["login", "--url", &shell.url, "--new", "Alice", "--json"];
    let created: Value = serde_json::from_str(&shell.succeed(&new, "")).unwrap();
    let before = shell.profile("default");
    let member = |name: &str| created[name].as_str().unwrap();

    let (account, key) = (member("account_id"), member("api_key_id"));
    let recover = ["login", "--url", &shell.url, "--account", account, "--api-key", key];
    let recover = [&recover[..], &["--recover"]].concat();
    let printed = shell.succeed(&recover, &format!("{}\n", member("recovery_code")));
    assert!(printed.contains("recovery code of acct_"), "{printed}");
    assert_ne!(shell.profile("default")["login_secret"], before["login_secret"]);
    shell.succeed(&["keys", "show"], "");
    let again = shell.run(&recover, &format!("{}\n", member("recovery_code")));
    assert!(again.stderr.contains("UNAUTHORIZED"), "{}", again.stderr);
}

#[test]
fn a_message_is_sent_and_opened_from_the_shell() {
    let (server, shell) = Shell::with_server();
    let new = ["login", "--url", &shell.url, "--new", "Alice", "--handle", "alice"];
    let printed = shell.succeed(&new, "");
    assert!(printed.starts_with("logged in as alice (ak_"), "{printed}");
    assert!(printed.contains("\nrecovery code of acct_"), "{printed}");
    let other = ["login", "--url", &shell.url, "--new", "Carol"];
    let refused = shell.run(&other, "");
    assert!(refused.stderr.contains("has the login secret of acct_"), "{}", refused.stderr);
    shell.log_in("bob", &server.new_identity_with_handle("bob"));

    let envelope = shell.succeed(&["send", "bob"], "Two\nlines\n");
    let open = ["open", envelope.trim(), "--profile", "bob"];
    assert_eq!(shell.succeed(&open, ""), "Two\nlines\n");
    // A message is no argument, because other users of the machine can list arguments.
    let argument = shell.run(&["send", "bob", "hello", "world"], "");
    assert_eq!(argument.status, Some(2));
    assert!(argument.stderr.contains("echo Hello | sealpost send bob"), "{}", argument.stderr);
    let foreign = shell.run(&["open", envelope.trim()], "");
    assert_eq!(foreign.status, Some(1));
    assert!(foreign.stderr.contains("ENVELOPE_NOT_FOUND"), "{}", foreign.stderr);
}

#[test]
fn a_profile_keeps_its_session_and_logs_in_again_when_it_ends() {
    let (server, shell) = Shell::with_server();
    let bob = server.new_identity();
    shell.log_in("default", &bob);
    let first = shell.profile("default");
    shell.succeed(&["keys", "show"], "");
    assert_eq!(shell.profile("default"), first);

    let token = text(&first, "token");
    server.post("/v1/auth/logout").token(&token).json(&json!({})).response().ok();
    // The command succeeds, although the new session cannot be stored.
    let mut unstored = within("ulimit -f 0", &binary(&["keys", "show"]));
    let unstored = unstored.env("XDG_CONFIG_HOME", shell.config.path()).output().unwrap();
    assert!(unstored.status.success() && !unstored.stdout.is_empty(), "{unstored:?}");
    let warning = String::from_utf8(unstored.stderr).unwrap();
    assert!(warning.contains("sealpost: the next command logs in again: "), "{warning}");
    assert_eq!(shell.profile("default"), first);
    shell.succeed(&["keys", "show"], "");
    assert_ne!(text(&shell.profile("default"), "token"), token);
}

#[test]
fn a_token_of_the_shell_is_a_profile_of_its_own() {
    let (server, shell) = Shell::with_server();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    shell.log_in("default", &alice);
    let create = ["tokens", "create", "job", "--scope", "send", "--expires-in-days", "2"];
    let created = shell.succeed(&[&create[..], &["--json"]].concat(), "");
    let created: Value = serde_json::from_str(&created).unwrap();
    let [from, until] =
        ["created_at", "expires_at"].map(|name| text(&created, name).parse::<Timestamp>().unwrap());
    assert_eq!(until.since(from), Duration::from_hours(2 * 24), "{created}");
    let too_long =
        shell.run(&["tokens", "create", "x", "--scope=send", "--expires-in-days=367"], "");
    assert_eq!(too_long.status, Some(2), "{}", too_long.stderr);
    let login = ["login", "--url", &shell.url, "--api-key", &alice.key, "--profile", "job"];
    shell.succeed(&login, &text(&created, "token"));
    let reader = shell.succeed(&["tokens", "create", "x", "--scope=read", "--json"], "");
    let reader: Value = serde_json::from_str(&reader).unwrap();
    let of_other = [&login[..5], &["--profile=x", "--account", &bob.account]].concat();
    let refused = shell.run(&of_other, &text(&reader, "token"));
    assert!(refused.stderr.contains(&format!("belongs to {}", alice.account)), "{refused:?}");
    shell.succeed(&["send", &bob.key, "--profile", "job"], "x");
    shell.succeed(&["tokens", "revoke", &text(&created, "token_id")], "");
    let revoked = shell.run(&["send", &bob.key, "--profile", "job"], "x");
    assert!(revoked.stderr.contains("UNAUTHORIZED"), "{}", revoked.stderr);
}

#[test]
fn sent_envelopes_are_listed_with_their_context_and_filtered() {
    let (server, shell) = Shell::with_server();
    let bob = server.new_identity_with_handle("bob");
    let carol = server.new_identity_with_handle("carol");
    shell.log_in("default", &server.new_identity());
    shell.log_in("bob", &bob);
    let send = |arguments: &[&str], message: &str| {
        shell.succeed(&[&["send"], arguments].concat(), message).trim().to_owned()
    };
    let order = send(&["bob", "--thread", "order:7", "--type", "order.created"], "first");
    let other = send(&["carol"], "second");
    let reply = ["--reply-to", &order, "--idempotency-key", "once"];
    let reply = [&["@bob"][..], &reply].concat();
    let answer = send(&reply, "third");
    assert_eq!(send(&reply, "third"), answer, "a repeated send is stored once");

    let opened = shell.succeed(&["open", &answer, "--profile", "bob", "--json"], "");
    let opened: Value = serde_json::from_str(&opened).unwrap();
    assert_eq!((&opened["thread"], &opened["reply_to"]), (&json!("order:7"), &json!(order)));

    let lines = shell.succeed(&["sent"], "");
    let lines: Vec<_> = lines.lines().map(|line| line.split(' ').collect::<Vec<_>>()).collect();
    let shown: Vec<_> = lines.iter().map(|line| (line[1], line[2], line[3], line[4])).collect();
    let (bob, carol) = (bob.key.as_str(), carol.key.as_str());
    assert_eq!(
        shown,
        [
            (&*answer, bob, "sent", "order:7"),
            (&*other, carol, "waiting", "-"),
            (&*order, bob, "waiting", "order:7"),
        ]
    );
    let ids = |filter: &[&str]| -> Vec<String> {
        let listed = shell.succeed(&[&["sent"], filter, &["--json"]].concat(), "");
        let entries = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.map(|entry| text(&entry, "envelope_id")).collect()
    };
    assert_eq!(ids(&["--recipient", "carol"]), [&*other]);
    assert_eq!(ids(&["--thread", "order:7"]), [&*answer, &*order]);
    assert_eq!(ids(&["--limit", "2"]), [&*answer, &*other]);
    assert_eq!(ids(&["--since", lines[1][0]]), [&*answer, &*other]);
    assert_eq!(ids(&["--until", lines[1][0]]), [&*order]);
    let listed = shell.succeed(&["sent", "--thread", "order:7", "--limit", "1", "--json"], "");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed["reply_to"], &listed["type"]), (&json!(order), &Value::Null));

    for (arguments, status, advice) in [
        (&["send", "bob", "--thread", "a b"][..], 1, "thread"),
        (&["send", "bob", "--type", "Order"], 1, "type"),
        (&["send", "bob", "--reply-to", "env_x"], 2, "--reply-to"),
        (&["send", "bob", "--reply-to", "env_01h455vb4pex5vsknk084sn02q"], 1, "reply_to"),
        (&["sent", "--recipient", "nobody"], 1, "KEY_NOT_FOUND"),
        (&["sent", "--since", "yesterday"], 2, "--since"),
    ] {
        let refused = shell.run(arguments, "x");
        assert_eq!(refused.status, Some(status), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(advice), "{arguments:?}: {}", refused.stderr);
    }
}

#[test]
fn the_webhook_of_listen_is_deleted_at_the_end() {
    let (server, shell) = Shell::with_server();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    shell.log_in("default", &bob);
    let mut listener = Listener::registered(shell.config.path());
    assert!(shell.succeed(&["webhooks", "list"], "").contains(&listener.url));
    let sent = server.send(&alice, &bob.key, "x").ok();
    let printed = listener.next();
    assert_eq!(printed["valid"], true);
    assert_eq!(printed["notice"]["envelope_id"], sent["envelope_id"]);
    listener.terminate();
    assert_eq!(listener.ended(SOON), Some(0));
    assert_eq!(shell.succeed(&["webhooks", "list"], ""), "");
}

#[test]
fn a_failed_test_of_a_webhook_fails() {
    let (server, shell) = Shell::with_server();
    let bob = server.new_identity();
    shell.log_in("default", &bob);
    let receiver =
        Receiver::reacting(|number| Reaction::Status(if number == 0 { 204 } else { 500 }));
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let test = ["webhooks", "test", &id, "--json"];
    shell.succeed(&test, "");
    let failed = shell.run(&test, "");
    assert_eq!(failed.status, Some(1), "{}", failed.stderr);
    let tested: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!((&tested["outcome"], &tested["status_code"]), (&json!("failed"), &json!(500)));
    assert!(failed.stderr.contains("http_status"), "{}", failed.stderr);
}

#[test]
fn webhooks_are_changed_with_commands() {
    let (server, shell) = Shell::with_server();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    shell.log_in("default", &bob);
    let (old, new) = (Receiver::start(), Receiver::start());
    let one = |arguments: &[&str]| -> Value {
        let arguments = [&["webhooks"], arguments, &["--json"]].concat();
        serde_json::from_str(&shell.succeed(&arguments, "")).unwrap()
    };
    let registered = one(&["register", &old.url, "--description", "orders"]);
    assert_eq!(registered["description"], "orders");
    let id = text(&registered, "webhook_id");
    let changed = one(&["update", &id, "--url", &new.url, "--description", "", "--pause"]);
    assert_eq!((&changed["url"], &changed["description"]), (&json!(new.url), &Value::Null));
    assert_eq!(changed["paused"], true);
    let printed = shell.succeed(&["webhooks", "list"], "");
    assert_eq!(printed, format!("{id} enabled,paused {} envelope.received\n", new.url));
    let sent = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    assert_eq!(one(&["update", &id, "--resume"])["paused"], false);
    new.await_requests(1);
    assert_eq!(one(&["redeliver", &id, &sent])["outcome"], "pending");
    new.await_requests(2);
    assert!(old.requests().is_empty());
    assert_eq!(one(&["recover", &id, "--since", "2026-01-01", "--dry-run"])["matched"], 0);
    let enabled = one(&["enable", &id]);
    assert_eq!((&enabled["status"], &enabled["due_now"]), (&json!("enabled"), &json!(0)));
    let file = shell.config.path().join("secret");
    let rotated = one(&["rotate-secret", &id, "--secret-file", file.to_str().unwrap()]);
    let secret = fs::read_to_string(&file).unwrap();
    assert!(secret.starts_with("whsec_") && text(&rotated, "secret").starts_with("in "));
    // A file that exists is found before the secret changes, and a failed call leaves no file.
    let (other, unknown) = (shell.config.path().join("other"), "wh_01h455vb4pex5vsknk084sn02q");
    for (id, file, advice) in [(&*id, &file, "cannot be created"), (unknown, &other, "NOT_FOUND")] {
        let rotate = ["webhooks", "rotate-secret", id, "--secret-file", file.to_str().unwrap()];
        let refused = shell.run(&rotate, "");
        assert_eq!((refused.status, &*refused.stdout), (Some(1), ""));
        assert!(refused.stderr.contains(advice), "{}", refused.stderr);
    }
    assert!(!other.exists() && fs::read_to_string(&file).unwrap() == secret);
    let nothing = shell.run(&["webhooks", "update", &id], "");
    assert_eq!(nothing.status, Some(2), "{}", nothing.stderr);
}
