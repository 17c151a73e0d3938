//! Tests of invalid variables of the environment: no command runs as if such a variable were missing.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::Path,
    process::Command,
};

use super::doctor;
use crate::support::{Database, binary, is_empty, run};

/// Variables of all kinds of values, which are refused by name.
const COMMON: [&str; 7] =
    ["BASE_URL", "CONSOLE_URL", "DATABASE_URL", "DATA_DIR", "DEV", "KEK_FILE", "RETENTION"];

/// Returns the names of the variables that the help of `sealpost serve` shows.
fn variables() -> Vec<String> {
    let help = run(binary(&["serve", "--help-all"])).stdout;
    let names = help.split("[env: ").skip(1).filter_map(|text| text.split(['=', ']']).next());
    let mut names: Vec<_> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    assert!(names.len() > 60, "{names:?}");
    names
}

/// Runs a command that must refuse a variable, and returns its error.
#[track_caller]
fn refused(mut command: Command, name: &str, value: &[u8]) -> String {
    command.env(name, OsStr::from_bytes(value));
    let ended = run(command);
    assert!(matches!(ended.status, Some(1 | 2)), "{name}: {ended:?}");
    assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{name}: {ended:?}");
    let flag = name.trim_start_matches("SEALPOST_").to_lowercase().replace('_', "-");
    let is_named = ended.stderr.contains(name) || ended.stderr.contains(&format!("--{flag}"));
    assert!(is_named, "{name}: {ended:?}");
    ended.stderr
}

#[test]
fn an_empty_variable_is_refused() {
    let (folder, names) = (tempfile::tempdir().unwrap(), variables());
    assert!(COMMON.iter().all(|name| names.contains(&format!("SEALPOST_{name}"))), "{names:?}");
    for name in names {
        let mut serve = binary(&["serve"]);
        serve.current_dir(folder.path());
        let said = refused(serve, &name, b"");
        let is_common = COMMON.contains(&name.trim_start_matches("SEALPOST_"));
        assert!(!is_common || said.contains(&format!("the variable {name} is empty")), "{said}");
    }
    assert!(is_empty(folder.path()));
    // The variable is to blame only if it is set.
    let ended = run(binary(&["serve", "--database-url="]));
    let (names_variable, names_flag) =
        (ended.stderr.contains("variable"), ended.stderr.contains("--database-url"));
    assert!(!names_variable && names_flag, "{ended:?}");
}

/// A server would create the file or folder, and begin with an empty database, new keys or an empty journal.
#[test]
fn the_path_of_a_created_file_with_a_line_break_at_its_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["SEALPOST_DATA_DIR", "SEALPOST_KEK_FILE", "SEALPOST_REVOCATION_JOURNAL"] {
        let mut serve = binary(&["serve", "--listen=127.0.0.1:0", "--ops-listen=off"]);
        serve.current_dir(folder.path());
        refused(serve, name, b"new\n");
    }
    assert!(is_empty(folder.path()));
}

#[test]
fn keys_that_are_empty_or_no_text_are_refused_and_no_key_file_is_created() {
    let line = run(binary(&["kek", "new"])).stdout;
    let latin = [line.trim().as_bytes(), b"\n# M\xfcller"].concat();
    for value in [&b""[..], b"\xff", &latin] {
        let database = Database::embedded();
        for command in [database.command(&["--dev"]), doctor(&database, &[])] {
            refused(command, "SEALPOST_KEK", value);
        }
        assert!(!Path::new(&database.data()).exists());
        database.serve().stop();
        for command in [["kek", "rotate"], ["issuer", "rotate"]] {
            refused(database.admin_command(&command), "SEALPOST_KEK", value);
        }
        refused(database.command(&["--dev"]), "SEALPOST_KEK", value);
        assert_eq!(database.count("kek_marks"), 1);
    }
}

#[test]
fn a_webhook_secret_that_is_no_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    for arguments in [&["listen"][..], &["verify", "--headers=h", "--body=b"]] {
        let mut command = binary(arguments);
        command.arg("--secret-file").arg(&secret);
        refused(command, "SEALPOST_WEBHOOK_SECRET", b"whsec_\xff");
    }
}
