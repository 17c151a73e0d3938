//! Independent implementations that check results of the service: verifiers of credentials, readers of DID documents,
//! and a real browser.

use std::{
    ffi::OsStr,
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::support::{node_folder, python, root};

/// A verifier of credentials from a third party.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verifier {
    /// A Node library, with status lists by Digital Bazaar.
    Node(&'static str),
    /// A Python library.
    Python(&'static str),
}

impl Verifier {
    pub(crate) const ALL: [Self; 5] = [
        Self::Node("jose"),
        Self::Node("did-jwt"),
        Self::Python("pyjwt"),
        Self::Python("joserfc"),
        Self::Python("openbadgeslib"),
    ];

    /// Verifies a credential and returns its claims. `None` if the verifier rejects it.
    pub(crate) fn verify(self, credential: &str) -> Option<Value> {
        let output = match self {
            Self::Node(library) => run_node("credential.mjs", &[library, credential]),
            Self::Python(library) => run_python("credential.py", [library, credential]),
        };
        if !output.status.success() {
            eprintln!("{self:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Decodes the claims of a credential without verification.
    pub(crate) fn claims_of(credential: &str) -> Value {
        let payload = credential.split('.').nth(1).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
    }
}

/// The content of a DID document, as two third-party libraries read it.
pub(crate) struct ReadDocument {
    /// The ids of the keys whose type the library pydid knows.
    pub(crate) by_pydid: Vec<String>,
    /// The document after a strict expansion by the library jsonld. The expansion fails for a member that the JSON-LD
    /// contexts do not define.
    pub(crate) by_jsonld: Value,
}

/// Reads a DID document with two third-party libraries.
#[track_caller]
pub(crate) fn read_did_document(document: &Value) -> ReadDocument {
    let document = document.to_string();
    let by_pydid = ask_python("did_document.py", [&document]);
    let by_jsonld = ask_node("did_document.mjs", &[&document]);
    ReadDocument { by_pydid: serde_json::from_value(by_pydid).unwrap(), by_jsonld }
}

/// Loads a page in a browser. Returns its visible content in a light, a dark and a narrow window, as the fields
/// `light`, `dark` and `narrow`.
#[track_caller]
pub(crate) fn browse(url: &str) -> Value {
    ask_node("page.mjs", &[url, &chromium()])
}

/// Searches the documentation in a browser. Returns the JSON that the program `search.mjs` prints: the results of the
/// searches, and observations such as the visibility of the results.
#[track_caller]
pub(crate) fn search_documentation(url: &str, searches: &[&str]) -> Value {
    let searches = serde_json::to_string(searches).unwrap();
    ask_node("search.mjs", &[url, &chromium(), &searches])
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

/// Runs a Node program of the oracles, and returns the JSON that it prints.
#[track_caller]
pub(crate) fn ask_node(program: &str, arguments: &[&str]) -> Value {
    serde_json::from_slice(&succeeded(program, run_node(program, arguments))).unwrap()
}

/// Runs a Node program of the oracles that uses the pages at `url` in a browser.
#[track_caller]
pub(crate) fn run_in_browser(program: &str, url: &str, more: &[&str]) {
    let chromium = chromium();
    succeeded(url, run_node(program, &[&[url, chromium.as_str()][..], more].concat()));
}

/// Runs a Python program of the oracles, and returns the JSON that it prints.
#[track_caller]
pub(crate) fn ask_python(
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Value {
    serde_json::from_slice(&succeeded(program, run_python(program, arguments))).unwrap()
}

#[track_caller]
fn succeeded(what: &str, output: Output) -> Vec<u8> {
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Runs a Node program with access to the packages.
fn run_node(program: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir_in(node_folder()).unwrap();
    let copy = folder.path().join("program.mjs");
    fs::copy(oracle(program), &copy).unwrap();
    fs::copy(oracle("browser.mjs"), folder.path().join("browser.mjs")).unwrap();
    Command::new("node").arg(copy).args(arguments).output().unwrap()
}

fn run_python(program: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    Command::new(python()).arg("-B").arg(oracle(program)).args(arguments).output().unwrap()
}

fn oracle(name: &str) -> PathBuf {
    root().join("tests/blackbox/oracles").join(name)
}
