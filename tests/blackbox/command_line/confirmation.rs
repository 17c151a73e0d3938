//! Tests that operator commands that destroy data ask on a terminal, and need `--yes` without one.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::support::{Database, binary, on_embedded, run};

on_embedded!(a_script_needs_the_option, a_terminal_asks_for_the_verb,);

/// Returns the commands that destroy data, without `--yes`, each with its verb.
fn commands<'a>(key: &'a str, account: &'a str) -> [(&'static str, [&'a str; 3]); 4] {
    [
        ("retire", ["kek", "retire", "1"]),
        ("revoke", ["key", "revoke", key]),
        ("close", ["account", "close", account]),
        ("erase", ["account", "erase", account]),
    ]
}

fn unconfirmed(database: &Database, arguments: &[&str]) -> Command {
    let mut command = binary(&["admin"]);
    command.args(arguments).args(["--data-dir", &database.data()]);
    command
}

fn a_script_needs_the_option(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    for (verb, command) in commands(&alice.key, &alice.account) {
        let refused = run(unconfirmed(database, &command));
        assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        let expected = format!("sealpost: nothing was changed: {verb} cannot be undone");
        assert!(refused.stderr.starts_with(&expected), "{refused:?}");
        assert!(refused.stderr.contains("--yes") && refused.stderr.lines().count() == 1);
    }
    assert_eq!(database.operate(&["audit", "list"]), json!({"entries": []}));
    assert_eq!(server.status(&alice).ok()["status"], "active");
    for (verb, command) in &commands(&alice.key, &alice.account)[1..] {
        let done = run(unconfirmed(database, &[&command[..], &["--yes"]].concat()));
        assert_eq!(done.status, Some(0), "{verb}: {done:?}");
    }
}

fn a_terminal_asks_for_the_verb(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    for (verb, command) in commands(&alice.key, &alice.account) {
        // One function asks for all verbs, so one verb tries each answer.
        let answers: &[&str] =
            if verb == "revoke" { &["", "y", "yes", "REVOKE"] } else { &["yes"] };
        for answer in answers {
            let (status, shown) = on_terminal(&unconfirmed(database, &command), answer);
            assert_eq!(status, Some(1), "{shown}");
            assert!(shown.contains(&format!("Type {verb} to go on: ")), "{shown}");
            assert!(shown.contains("nothing was changed"), "{shown}");
        }
    }
    assert_eq!(database.operate(&["audit", "list"]), json!({"entries": []}));
    let (_, revoke) = commands(&alice.key, &alice.account)[1];
    let (status, shown) = on_terminal(&unconfirmed(database, &revoke), "revoke");
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("can never be opened again"), "{shown}");
    server.status(&alice).refused(403, "KEY_INACTIVE");
}

/// Runs a command on a terminal of its own, types a line, and returns the exit status with the text on the screen.
fn on_terminal(command: &Command, line: &str) -> (Option<i32>, String) {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words = words.map(|word| format!("'{}'", word.to_str().unwrap()));
    let words: Vec<_> = words.collect();
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stdout).into_owned())
}
