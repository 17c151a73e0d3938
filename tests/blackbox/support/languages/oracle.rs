//! Independent implementations that check results of the service: `PyJWT`, jose, status lists by Digital Bazaar, and a
//! real browser.

use std::{path::PathBuf, process::Command};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::support::{python, root, run_node};

/// A verifier of credentials from a third party.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verifier {
    /// The Node library jose, with status lists by Digital Bazaar.
    Node,
    /// The Python library `PyJWT`.
    Python,
}

impl Verifier {
    pub(crate) const ALL: [Self; 2] = [Self::Node, Self::Python];

    /// Verifies a credential and returns its claims. `None` if the verifier rejects it.
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

    /// Decodes the claims of a credential without verification.
    pub(crate) fn claims_of(credential: &str) -> Value {
        let payload = credential.split('.').nth(1).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
    }
}

/// Loads a page in a browser. Returns its visible content in a light, a dark and a narrow window, as the fields
/// `light`, `dark` and `narrow`.
#[track_caller]
pub(crate) fn browse(url: &str) -> Value {
    let output = run_node(&oracle("page.mjs"), &[url, &chromium()]);
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {reported}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Searches the documentation in a browser. Returns the found links, and whether there is a search field without
/// JavaScript, as the fields `found` and `without_script`.
#[track_caller]
pub(crate) fn search_documentation(url: &str, words: &str) -> Value {
    let output = run_node(&oracle("search.mjs"), &[url, &chromium(), words]);
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {reported}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the path of the browser Chromium. The name of its program depends on the Linux distribution.
pub(crate) fn chromium() -> String {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let mut programs =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = programs.find(|program| program.is_file());
    found.expect("Chromium is missing: install it, or run tests/run").display().to_string()
}

fn oracle(name: &str) -> PathBuf {
    root().join("tests/blackbox/oracles").join(name)
}
