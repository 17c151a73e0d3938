//! Tests of the files that the program reads: anything but a regular file is refused, and text files may have a byte
//! order mark.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::support::{Authority, Database, Server, binary, console, run};

/// Paths that lead to anything but a regular file, each with its word in the error.
fn special_files(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let pipe = folder.join("pipe");
    make_pipe(&pipe);
    let (socket, link, sub) = (folder.join("socket"), folder.join("link"), folder.join("folder"));
    drop(UnixListener::bind(&socket).unwrap());
    symlink(&pipe, &link).unwrap();
    fs::create_dir(&sub).unwrap();
    let device = PathBuf::from("/dev/zero");
    vec![(pipe, "pipe"), (link, "pipe"), (socket, "socket"), (sub, "folder"), (device, "device")]
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg("-m600").arg(path).status().unwrap().success());
}

/// Runs a command that must fail, and checks that the error names the path and the kind of the file.
#[track_caller]
fn refused(command: Command, path: &Path, word: &str) {
    let shown = format!("{command:?}");
    let ended = run(command);
    assert!(matches!(ended.status, Some(1 | 2)), "{shown}: {ended:?}");
    let error = &ended.stderr;
    assert!(
        error.contains(&path.display().to_string()) && error.contains(word),
        "{shown}: {error}"
    );
}

#[test]
fn each_setting_with_a_file_needs_a_regular_file() {
    let folder = tempfile::tempdir().unwrap();
    let files = special_files(folder.path());
    let help = run(binary(&["serve", "--help-all"])).stdout;
    let lines = help.lines().map(str::trim).filter(|line| line.contains(" <FILE"));
    let flags: Vec<_> = lines.filter_map(|line| line.split(' ').next()).collect();
    assert!(flags.len() >= 8, "{flags:?}");
    let database = Database::embedded();
    let pair = folder.path().join("pair.pem");
    Authority::new().issue().write(&pair, &folder.path().join("pair.key"));
    // One function opens the files of all settings, so the first setting tries each kind.
    for (number, flag) in flags.into_iter().enumerate() {
        for (path, word) in &files[..if number == 0 { files.len() } else { 1 }] {
            let mut command = database.command(&["--dev"]);
            match flag {
                "--tls-cert" => command.arg("--tls-key").arg(folder.path().join("pair.key")),
                "--tls-key" => command.arg("--tls-cert").arg(&pair),
                _ => &mut command,
            };
            command.arg(flag).arg(path);
            refused(command, path, word);
        }
    }
}

#[test]
fn the_files_of_the_data_folder_must_be_regular() {
    for name in ["kek", "sealpost.db", "sealpost.db-wal", "sealpost.db.lock"] {
        let database = Database::embedded();
        database.serve().stop();
        let path = database.file().with_file_name(name);
        drop(fs::remove_file(&path));
        make_pipe(&path);
        for command in [database.command(&["--dev"]), database.command(&[])] {
            refused(command, &path, "regular file");
        }
    }
    let database = Database::embedded();
    database.serve().stop();
    let folder = fs::read_dir(database.file().parent().unwrap()).unwrap();
    let mut names = folder.map(|entry| entry.unwrap().path());
    let journal = names.find(|path| path.extension().is_some_and(|end| end == "log")).unwrap();
    fs::remove_file(&journal).unwrap();
    make_pipe(&journal);
    refused(database.command(&["--dev"]), &journal, "pipe");
}

#[test]
fn each_command_with_a_file_needs_a_regular_file() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::embedded();
    database.serve().stop();
    let data = database.file().parent().unwrap().display().to_string();
    let good = write(&folder, "good", b"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n");
    for (path, word) in special_files(folder.path()) {
        let with = |arguments: &[&str], path: &Path| {
            let mut command = binary(arguments);
            command.arg(path);
            command
        };
        refused(with(&["restore", "--data-dir", &data], &path), &path, word);
        refused(with(&["admin", "recover", "--data-dir", &data, "--journal"], &path), &path, word);
        refused(with(&["listen", "--secret-file"], &path), &path, word);
        refused(with(&["listen", "--did-json"], &path), &path, word);
        for flag in ["--headers", "--body", "--secret-file", "--did-json"] {
            let others = ["--headers", "--body", "--secret-file"];
            let mut command = binary(&["verify"]);
            for other in others.iter().filter(|other| **other != flag) {
                command.arg(other).arg(&good);
            }
            command.arg(flag).arg(&path);
            refused(command, &path, word);
        }
    }
    let profiles = folder.path().join("config/sealpost");
    fs::create_dir_all(&profiles).unwrap();
    make_pipe(&profiles.join("default.json"));
    let mut command = binary(&["webhooks", "list"]);
    command.env("XDG_CONFIG_HOME", folder.path().join("config"));
    refused(command, &profiles.join("default.json"), "regular file");
}

/// The text files of `sealpost serve`, each with a valid text. The files of TLS belong to `authority`.
fn text_files(authority: &Authority) -> Vec<(&'static str, String)> {
    let issued = authority.issue();
    vec![
        ("--kek-file", run(binary(&["kek", "new"])).stdout),
        ("--console-password-file", console::LINES.to_owned()),
        ("--reserved-handles", "root\nfounder\n".to_owned()),
        (
            "--circuits",
            include_str!("../../../crates/service/src/compliance/circuits.toml").to_owned(),
        ),
        ("--webhook-extra-roots", authority.pem.clone()),
        ("--tls-cert", issued.chain_pem.clone()),
        ("--tls-key", issued.key_pem.clone()),
    ]
}

/// Writes the text of a flag into a private file, and returns its path.
fn write(folder: &TempDir, flag: &str, bytes: &[u8]) -> PathBuf {
    let file = folder.path().join(flag.trim_start_matches('-'));
    fs::write(&file, bytes).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    file
}

#[test]
fn a_text_file_may_have_a_byte_order_mark_and_other_line_ends() {
    let variants: [fn(&str) -> String; 4] = [
        |text| format!("\u{feff}{text}"),
        |text| text.replace('\n', "\r\n"),
        |text| format!("\u{feff}{}", text.replace('\n', "\r\n")),
        |text| format!("{}\n\n", text.replace('\n', " \n")),
    ];
    for variant in variants {
        let (folder, database) = (tempfile::tempdir().unwrap(), Database::embedded());
        let authority = Authority::new();
        let mut command = database.command(&[]);
        for (flag, text) in text_files(&authority) {
            command.arg(flag).arg(write(&folder, flag, variant(&text).as_bytes()));
        }
        let server = Server::start_secure(command, &authority);
        server.get("/v1/ping").ok();
    }
    let with_mark = format!("\u{feff}{}", run(binary(&["kek", "new"])).stdout);
    let mut command = Database::embedded().command(&["--dev"]);
    command.env("SEALPOST_KEK", with_mark);
    Server::start(command);
}

#[test]
fn a_text_file_in_another_encoding_is_refused_with_the_reason() {
    let (folder, database) = (tempfile::tempdir().unwrap(), Database::embedded());
    let authority = Authority::new();
    let texts = text_files(&authority);
    // One function decodes the texts of all settings, so the first setting tries each encoding.
    for (number, (flag, text)) in texts.iter().enumerate() {
        let utf_16 = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("{mark}{text}").encode_utf16().flat_map(bytes).collect()
        };
        let encodings = [
            (utf_16("\u{feff}", u16::to_le_bytes), "UTF-16"),
            (utf_16("\u{feff}", u16::to_be_bytes), "UTF-16"),
            (utf_16("", u16::to_le_bytes), "UTF-16"),
            ([text.as_bytes(), b"\0"].concat(), "UTF-16 or no text"),
            ([text.as_bytes(), b"# \xe9\n"].concat(), "not in UTF-8"),
        ];
        let count = if number == 0 { encodings.len() } else { 1 };
        for (bytes, word) in encodings.into_iter().take(count) {
            let mut command = database.command(&["--dev"]);
            let other = match *flag {
                "--tls-cert" => Some("--tls-key"),
                "--tls-key" => Some("--tls-cert"),
                _ => None,
            };
            for (other, text) in texts.iter().filter(|(name, _)| Some(*name) == other) {
                command.arg(other).arg(write(&folder, other, text.as_bytes()));
            }
            let file = write(&folder, flag, &bytes);
            command.arg(flag).arg(&file);
            refused(command, &file, word);
        }
    }
}

#[test]
fn a_database_path_that_leads_to_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "not a database").unwrap();
    for (path, word, of_commands) in [
        (folder.path(), "leads to a folder", "leads to a folder"),
        (&text, "no SQLite database", "not a database"),
    ] {
        let url = format!("sqlite:{}", path.display());
        let data = folder.path().join("data").display().to_string();
        let with_url = |command: &[&str]| {
            let mut command = binary(command);
            command.args(["--database-url", &url, "--data-dir", &data]);
            command
        };
        refused(with_url(&["serve", "--ops-listen=off", "--listen=127.0.0.1:0"]), path, word);
        for command in [&["migrate"][..], &["admin", "stats"]] {
            let ended = run(with_url(command));
            assert!(ended.stderr.contains(of_commands), "{ended:?}");
        }
        let found = run(with_url(&["doctor", "--ops-listen=off", "--listen=127.0.0.1:0"]));
        assert!(found.stdout.contains(of_commands), "{found:?}");
        assert!(!found.stdout.contains("key file"), "{found:?}");
    }
    assert_eq!(fs::read(&text).unwrap(), b"not a database");
}
