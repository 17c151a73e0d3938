//! Other people's software as a judge: `PyJWT`, jose, Digital Bazaar's status lists, and a real browser. It is installed
//! once, into the target folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

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
        let mut command = match self {
            Self::Node => node("verify.mjs"),
            Self::Python => {
                let mut command = Command::new(python());
                command.arg(oracles().join("verify.py"));
                command
            }
        };
        let output = command.arg(credential).output().unwrap();
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
    let output = node("page.mjs").args([url, &chromium()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let folder = folder("python");
        let python = folder.join("bin/python");
        install(&folder.join(PYTHON_PACKAGE), || {
            must(Command::new("python3").args(["-m", "venv"]).arg(&folder));
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            must(pip.arg(PYTHON_PACKAGE));
        });
        python
    })
}

/// The script beside the packages that it imports.
fn node(script: &str) -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = folder("node");
        install(&folder.join(NODE_PACKAGES.join(" ").replace('/', "-")), || {
            fs::create_dir_all(&folder).unwrap();
            let mut npm = Command::new("npm");
            npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
            must(npm.args(NODE_PACKAGES));
        });
        for script in ["page.mjs", "verify.mjs"] {
            fs::copy(oracles().join(script), folder.join(script)).unwrap();
        }
        folder
    });
    let mut command = Command::new("node");
    command.arg(folder.join(script));
    command
}

/// Debian calls it so, others otherwise.
fn chromium() -> String {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let mut programs =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = programs.find(|program| program.is_file());
    found.expect("the browser chromium is installed; tests/run sees to it").display().to_string()
}

/// Does it unless the mark says that it was done.
fn install(mark: &Path, work: impl FnOnce()) {
    if !mark.exists() {
        work();
        fs::write(mark, "").unwrap();
    }
}

#[track_caller]
fn must(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracles").join(name)
}

fn oracles() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/blackbox/oracles")
}

const PYTHON_PACKAGE: &str = "pyjwt[crypto]==2.15.1";
const NODE_PACKAGES: [&str; 3] =
    ["jose@6.2.17", "@digitalbazaar/vc-bitstring-status-list@2.0.1", "playwright-core@1.65.1"];
