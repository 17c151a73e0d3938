//! Other people's software as a judge: `PyJWT`, jose, Digital Bazaar's status lists, and a real browser.

use std::{path::PathBuf, process::Command};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::support::{python, root, run_node};

/// What verifies credentials.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verifier {
    /// jose, and Digital Bazaar's status lists.
    Node,
    /// `PyJWT`.
    Python,
}

impl Verifier {
    pub(crate) const ALL: [Self; 2] = [Self::Node, Self::Python];

    /// What it says of a credential; `None` where it refuses it.
    pub(crate) fn verify(self, credential: &str) -> Option<Value> {
        let output = match self {
            Self::Node => run_node(&oracle("credential.mjs"), &[credential]),
            Self::Python => {
                let mut command = Command::new(python());
                command.arg(oracle("credential.py")).arg(credential).output().unwrap()
            }
        };
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// What a credential claims, unverified.
    pub(crate) fn claims_of(credential: &str) -> Value {
        let payload = credential.split('.').nth(1).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
    }
}

/// What a reader sees of a page in a browser, by look: `light`, `dark` and `narrow`.
#[track_caller]
pub(crate) fn browse(url: &str) -> Value {
    let output = run_node(&oracle("page.mjs"), &[url, &chromium()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Debian calls it so, others otherwise.
pub(crate) fn chromium() -> String {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let mut programs =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = programs.find(|program| program.is_file());
    found.expect("the browser chromium is installed; tests/run sees to it").display().to_string()
}

fn oracle(name: &str) -> PathBuf {
    root().join("tests/blackbox/oracles").join(name)
}
