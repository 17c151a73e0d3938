//! Running witnesses: `sealpost witness`, and the third-party program aics-witness.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::Receiver,
};

use super::{Database, Process, SOON, Server, binary, lines_of, python, root};

/// A running witness, with the keys of the witness that the service knows.
pub(crate) struct Witness {
    pub(crate) keys: Vec<String>,
    pub(crate) url: String,
    pub(crate) process: Process,
    _lines: Receiver<String>,
}

impl Witness {
    /// Starts `sealpost witness`. `keys` is the number of its keys that the service knows: 1 for the Ed25519 key, or 2
    /// for the ML-DSA-44 key too.
    pub(crate) fn own(name: &str, folder: &Path, log: &str, keys: usize) -> Self {
        let mut command = binary(&["witness", "--name", name, "--listen=127.0.0.1:0"]);
        command.args(["--log", log]).arg("--folder").arg(folder.join(name));
        let mut witness = Self::start(command);
        assert_eq!(witness.keys.len(), 2);
        witness.keys.truncate(keys);
        witness
    }

    /// Starts the third-party program aics-witness.
    pub(crate) fn of_other_authors(folder: &Path, log: &str) -> Self {
        let mut command = Command::new(python());
        command.arg("-B").arg(root().join("tests/blackbox/oracles/witness.py"));
        command.arg(folder).arg(log);
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = Process::start(command);
        let lines = lines_of(&mut process);
        let mut keys = Vec::new();
        loop {
            let line = match lines.recv_timeout(SOON) {
                Ok(line) => line,
                Err(error) => panic!("no output ({error}): {}", process.stderr()),
            };
            match line.trim().rsplit_once(' ') {
                Some(("witness", key)) => keys.push(key.to_owned()),
                Some(("listening at", url)) => {
                    return Self { keys, url: url.to_owned(), process, _lines: lines };
                }
                _ => panic!("{line}"),
            }
        }
    }

    /// Returns the key that a verifier's policy names for this witness: the last key that the service knows.
    pub(crate) fn key(&self) -> &str {
        self.keys.last().unwrap()
    }

    /// Starts a service that requests cosignatures from these witnesses.
    #[track_caller]
    pub(crate) fn serve(database: &Database, witnesses: &[&Self]) -> Server {
        let settings = witnesses.iter().flat_map(|witness| {
            witness.keys.iter().map(|key| format!("--log-witness={key} {}", witness.url))
        });
        let settings: Vec<_> = settings.collect();
        database.serve_with(&settings.iter().map(String::as_str).collect::<Vec<_>>())
    }
}
