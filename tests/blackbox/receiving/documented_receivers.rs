//! Tests the webhook receivers of `docs/receiving.md` with requests of a real server. Each program runs unchanged.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::Receiver as Lines,
};

use crate::support::{
    Client, Database, PUBLIC_KEY, Process, Receiver, SOON, Signed, go, lines_of, node_folder,
    python, root, rust_example, text,
};

#[test]
fn the_python_receivers_work() {
    let run = |file: &str| {
        let mut command = Command::new(python());
        command.arg(examples().join("python").join(file));
        command
    };
    check_with_secret(&mut [run("with_library.py"), run("by_hand.py")]);
    check_with_public_key(&mut [run("public_key.py")]);
}

#[test]
fn the_node_receivers_work() {
    let folder = tempfile::tempdir_in(node_folder()).unwrap();
    let run = |file: &str| {
        let program = folder.path().join(file);
        fs::copy(examples().join("node").join(file), &program).unwrap();
        let mut command = Command::new("node");
        command.arg(program);
        command
    };
    check_with_secret(&mut [run("with_library.mjs"), run("by_hand.mjs")]);
    check_with_public_key(&mut [run("public_key.mjs")]);
}

#[test]
fn the_rust_receivers_work() {
    check_with_secret(&mut [Command::new(rust_example("receive_with_library"))]);
    check_with_public_key(&mut [Command::new(rust_example("receive_public_key"))]);
}

#[test]
fn the_go_receivers_work() {
    let folder = tempfile::tempdir().unwrap();
    let run = |file: &str| {
        let (mut build, program) = (go()?, folder.path().join(file).with_extension(""));
        build.arg("build").arg("-o").arg(&program).arg(examples().join("go").join(file));
        assert!(build.status().unwrap().success());
        Some(Command::new(program))
    };
    let (Some(by_hand), Some(public_key)) = (run("by_hand.go"), run("public_key.go")) else {
        eprintln!("Go is not installed: its receivers are not tested");
        return;
    };
    check_with_secret(&mut [by_hand]);
    check_with_public_key(&mut [public_key]);
}

#[test]
fn the_page_quotes_the_code_of_every_receiver() {
    let page = fs::read_to_string(root().join("docs/receiving.md")).unwrap();
    let mut quoted = 0;
    let opening = fs::read_dir(root().join("docs/examples/opening")).unwrap();
    for folder in fs::read_dir(examples()).unwrap().chain(opening).map(Result::unwrap) {
        let language = match folder.file_name().to_str().unwrap() {
            "node" => "js".to_owned(),
            language => language.to_owned(),
        };
        for file in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            let program = fs::read_to_string(file.path()).unwrap();
            let is_quoted = page.contains(&format!("```{language}\n{program}```\n"));
            assert!(is_quoted, "docs/receiving.md does not quote {}", file.path().display());
            quoted += 1;
        }
    }
    let blocks = page.matches("\n```").count() / 2;
    let others = |language| page.matches(&format!("\n```{language}\n")).count();
    let others = others("sh") + others("sh untested") + others("text") + others("json");
    // `tests/quickstart` compares the programs of the clients with their source.
    let of_clients =
        page.matches("\n<!-- clients/").count() + page.matches("\n<!-- crates/").count();
    assert_eq!(blocks - others - of_clients, quoted);
}

/// Sends two webhook requests of a real server to each program.
fn check_with_secret(programs: &mut [Command]) {
    let (server, receiver) = (Database::embedded().serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let secret = text(&server.register(&bob, &receiver.url), "secret");
    for message in ["one", "two"] {
        server.send(&alice, &bob.key, message).ok();
    }
    let requests = receiver.await_requests(2);
    let requests = [&requests[0], &requests[1]].map(Signed::from);
    let other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let rotating = Signed::with(&[other, &secret], 0);
    let refused = [Signed::with(&[&secret], 301), Signed::with(&[other], 0), Signed::asymmetric(0)];
    for program in programs {
        program.env("WEBHOOK_SECRET", &secret);
        let running = Running::start(program);
        running.hold(&requests, &refused);
        assert_eq!(rotating.post(&running.url).status, 204);
        running.prints(&rotating.id);
    }
}

fn check_with_public_key(programs: &mut [Command]) {
    let requests = ["env_01h455vb4pex5vsknk084sn02q", "env_01h455vb4pex5vsknk084sn02r"]
        .map(|id| Signed::asymmetric_as(id, 0));
    let symmetric = Signed::with(&["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"], 0);
    let refused = [Signed::asymmetric(301), Signed::asymmetric(-1000), symmetric];
    for program in programs {
        program.env("WEBHOOK_PUBLIC_KEY", PUBLIC_KEY);
        Running::start(program).hold(&requests, &refused);
    }
}

struct Running {
    url: String,
    lines: Lines<String>,
    _process: Process,
}

impl Running {
    /// Starts the program on a free port.
    #[track_caller]
    fn start(program: &mut Command) -> Self {
        program.env("PORT", "0").stdout(Stdio::piped());
        let mut process = Process::start(program);
        let lines = lines_of(&mut process);
        let line = lines.recv_timeout(SOON).unwrap_or_else(|_| panic!("{}", process.stderr()));
        let url = line.strip_prefix("listening on ").unwrap().to_owned();
        Self { url, lines, _process: process }
    }

    /// Checks that both requests are accepted, that the repeated first request is reported once, and that all
    /// others are rejected.
    #[track_caller]
    fn hold(&self, [first, second]: &[Signed; 2], refused: &[Signed]) {
        for _ in 0..2 {
            assert_eq!(first.post(&self.url).status, 204);
        }
        self.prints(&first.id);
        for request in first.flipped().iter().chain(refused) {
            assert_eq!(request.post(&self.url).status, 401, "{request:?}");
        }
        let bare = Client::new(&self.url).post("").body("application/json", b"{}").response();
        assert_eq!(bare.status, 401);
        assert_eq!(second.post(&self.url).status, 204);
        self.prints(&second.id);
    }

    #[track_caller]
    fn prints(&self, envelope_id: &str) {
        let line = self.lines.recv_timeout(SOON).unwrap();
        assert_eq!(line, format!("new envelope {envelope_id}"));
    }
}

fn examples() -> PathBuf {
    Path::new(&root()).join("docs/examples/receiving")
}
