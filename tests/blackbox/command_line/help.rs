//! Tests of help texts, colours and progress on terminals, shell completions, and manual pages.

use std::{fs, process::Command};

use crate::support::{Database, binary, is_empty, run};

/// Returns the output of a command on a terminal.
fn on_a_terminal(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = Command::new("python3");
    command.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_sealpost")]).args(arguments);
    command.env("TERM", "xterm").env_remove("NO_COLOR").envs(environment.iter().copied());
    let ended = run(command);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    ended.stdout
}

fn page(arguments: &[&str]) -> String {
    run(binary(arguments)).ok()
}

#[test]
fn help_ends_with_examples_and_shows_every_default() {
    for arguments in [
        &["--help"][..],
        &["serve", "--help"],
        &["doctor", "--help"],
        &["admin", "plan", "set", "--help"],
        &["admin", "key", "rotate", "-h"],
        &["kek", "new", "-h"],
    ] {
        let help = page(arguments);
        let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{help}"));
        assert!(examples.starts_with("  sealpost"), "{help}");
    }
    let help = page(&["serve", "--help-all"]);
    for expected in ["[default: 127.0.0.1:8080]", "[env: SEALPOST_TLS_CERT=]", "Possible values:"] {
        assert!(help.contains(expected), "{expected}: {help}");
    }
}

#[test]
fn the_help_of_a_server_shows_ten_settings_first() {
    // The help wraps long lines.
    let on_one_line = |help: &str| help.split_whitespace().collect::<Vec<_>>().join(" ");
    let settings = |help: &str| on_one_line(help).matches("[env: SEALPOST_").count();
    for command in ["serve", "doctor"] {
        let help = page(&[command, "--help"]);
        assert_eq!(settings(&help), 10, "{help}");
        assert!(help.contains("--help-all"), "{help}");
        assert_eq!(settings(&page(&[command, "-h"])), 10);
        assert!(settings(&page(&[command, "--help-all"])) > 70);
    }
}

#[test]
fn colours_are_used_only_on_terminals_or_on_request() {
    assert!(!page(&["--help"]).contains('\u{1b}'));
    assert!(on_a_terminal(&["--help"], &[]).contains("\u{1b}["));
    assert!(!on_a_terminal(&["--help"], &[("NO_COLOR", "1")]).contains('\u{1b}'));
    let folder = tempfile::tempdir().unwrap();
    let nothing_there = folder.path().join("data").display().to_string();
    let doctor =
        ["doctor", "--listen=127.0.0.1:0", "--ops-listen=off", "--data-dir", &nothing_there];
    assert!(!page(&doctor).contains('\u{1b}'));
    assert!(on_a_terminal(&doctor, &[]).contains("\u{1b}[32mok"));
    assert!(!on_a_terminal(&doctor, &[("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn lists_have_a_header_only_on_terminals() {
    let database = Database::embedded();
    let alice = database.serve().new_identity();
    let list = ["admin", "--data-dir", &database.data(), "key", "list"];
    let shown = on_a_terminal(&list, &[]);
    let lines: Vec<_> = shown.lines().map(|line| line.split_whitespace().next()).collect();
    assert_eq!(lines, [Some("API_KEY_ID"), Some(&*alice.key)], "{shown}");
    let script = page(&list);
    assert!(script.starts_with(&alice.key) && script.lines().count() == 1, "{script}");
}

#[test]
fn progress_is_shown_only_on_terminals_and_cleared_at_the_end() {
    let (watched, unwatched) = (Database::empty_postgres(), Database::empty_postgres());
    let reported = on_a_terminal(&["migrate", "--database-url", watched.url()], &[]);
    assert!(reported.contains("sealpost: applying 0001_schema"), "{reported:?}");
    let last = reported.lines().last().unwrap();
    assert!(last.contains("\r\u{1b}[Kapplied 0001_schema"), "{reported:?}");
    let silent = page(&["migrate", "--database-url", unwatched.url()]);
    assert_eq!(silent, "applied 0001_schema\n");
}

#[test]
fn a_shell_completes_commands_and_flags() {
    let script = tempfile::NamedTempFile::new().unwrap();
    fs::write(script.path(), page(&["completions", "bash"])).unwrap();
    let complete = |words: &str| {
        let asked = format!(
            ". {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _sealpost sealpost \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.path().display()
        );
        let mut command = Command::new("bash");
        command.args(["--norc", "-c", &asked]);
        let ended = run(command);
        assert_eq!(ended.status, Some(0), "{ended:?}");
        ended.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete("sealpost doc"), ["doctor"]);
    assert_eq!(complete("sealpost admin key re"), ["reactivate", "revoke"]);
    assert!(complete("sealpost serve --tls").contains(&"--tls-key".to_owned()));
    assert!(page(&["completions", "zsh"]).starts_with("#compdef sealpost"));
    assert!(page(&["completions", "fish"]).contains("complete -c sealpost"));
}

#[test]
fn each_command_has_a_manual_page() {
    let manual = page(&["man"]);
    for expected in [".TH sealpost 1", ".SH NAME", "serve", "Examples:"] {
        assert!(manual.contains(expected), "{expected}: {manual}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(page(&["man", "--dir", folder.path().to_str().unwrap()]), "");
    for (name, expected) in [
        ("sealpost.1", ".TH"),
        ("sealpost-serve.1", "SEALPOST_LISTEN"),
        ("sealpost-doctor.1", ".TH"),
        ("sealpost-admin-key-rotate.1", ".TH"),
    ] {
        let page = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(page.contains(expected), "{name}: {page}");
    }
}

#[test]
fn a_command_without_a_subcommand_prints_its_help_and_creates_nothing() {
    for (arguments, listed) in [
        (&[][..], &["serve", "doctor", "admin"][..]),
        (&["admin"], &["assess", "key", "plan"]),
        (&["admin", "key"], &["deactivate", "rotate", "show"]),
        (&["kek"], &["new"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = binary(arguments);
        command.current_dir(&folder);
        let ended = run(command);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        let usage = format!("Usage: {}", [&["sealpost"], arguments].concat().join(" "));
        assert!(ended.stderr.contains(&usage), "{usage}: {}", ended.stderr);
        for name in listed {
            let is_listed = |line: &str| line.split_whitespace().next() == Some(name);
            assert!(ended.stderr.lines().any(is_listed), "{name}: {}", ended.stderr);
        }
        assert!(is_empty(folder.path()));
    }
}

#[test]
fn a_misspelled_name_gets_a_suggestion_and_the_help_of_its_command() {
    for (arguments, suggestion, help) in [
        (&["serv"][..], "serve", "sealpost --help"),
        (&["admin", "partnr"], "partner", "sealpost admin --help"),
        (&["admin", "key", "shw", "ak_1"], "show", "sealpost admin key --help"),
        (&["serve", "--lissten", "127.0.0.1:0"], "--listen", "sealpost serve --help-all"),
        (&["doctor", "--suite", "hybridd"], "hybrid", "sealpost doctor --help-all"),
    ] {
        let stderr = run(binary(arguments)).refused(2);
        let end = format!(" (did you mean '{suggestion}'?); see {help}\n");
        assert!(stderr.ends_with(&end), "{end}: {stderr}");
    }
}

#[test]
fn errors_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere").display().to_string();
    for (status, arguments) in [
        (1, &["man", "--dir", &nowhere][..]),
        (2, &["completions", "tcl"]),
        (2, &["completions"]),
        (2, &["backup"]),
        (2, &["doctor", "--listen", "nowhere"]),
        (2, &["serve", "--log-format", "xml"]),
        (1, &["backup", "copy.db", "--data-dir", &nowhere]),
        (1, &["backup", "copy.db", "--database-url", "postgres://localhost:1/x"]),
    ] {
        run(binary(arguments)).refused(status);
    }
}

/// A Python program that runs its arguments as a command on a new terminal.
const TERMINAL: &str =
    "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
