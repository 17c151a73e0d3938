//! Python and Node for verifiers in other languages, with the packages of `tests/verifiers`. Packages are installed
//! once, into the target folder.

pub(crate) mod oracle;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Returns the path of the Python interpreter. Installs the packages of `tests/verifiers` if necessary.
pub(crate) fn python() -> PathBuf {
    static READY: OnceLock<PathBuf> = OnceLock::new();
    let folder = READY.get_or_init(|| {
        installed("python", &["requirements.txt"], |folder| {
            succeed(Command::new("python3").args(["-m", "venv"]).arg(folder));
            let mut pip = Command::new(folder.join("bin/python"));
            // The package aics-tlog asks for a newer Python than Debian has, but does not need one.
            pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--ignore-requires-python"]);
            pip.arg("--requirement");
            succeed(pip.arg(pinned("requirements.txt")));
        })
    });
    folder.join("bin/python")
}

/// Returns the folder for Node programs. Node finds packages beside a program and in the folders above.
pub(crate) fn node_folder() -> &'static Path {
    static READY: OnceLock<PathBuf> = OnceLock::new();
    READY.get_or_init(|| {
        installed("node", &["package.json", "package-lock.json"], |folder| {
            fs::create_dir_all(folder).unwrap();
            for file in ["package.json", "package-lock.json"] {
                fs::copy(pinned(file), folder.join(file)).unwrap();
            }
            let mut npm = Command::new("npm");
            npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]);
            succeed(npm.current_dir(folder));
        })
    })
}

/// Returns the command `go`. `None` if Go is not installed.
pub(crate) fn go() -> Option<Command> {
    let has_go = Command::new("go").arg("version").output().is_ok_and(|ran| ran.status.success());
    let mut command = Command::new("go");
    // No module proxy is needed, because the examples use only the standard library of Go.
    command.env("GOCACHE", target().join("receivers/go")).env("GOFLAGS", "").env("GOPROXY", "off");
    command.env("GOTOOLCHAIN", "local");
    has_go.then_some(command)
}

/// Returns the path of a Rust example program, which `cargo test` builds beside the binary.
pub(crate) fn rust_example(name: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_sealpost"));
    let program = binary.with_file_name("examples").join(name);
    assert!(
        program.exists(),
        "{name} is not built; run: cargo build --package sealpost --examples"
    );
    program
}

/// Returns the path of a file in `tests/verifiers`, such as a list of pinned packages.
pub(crate) fn pinned(file: &str) -> PathBuf {
    root().join("tests/verifiers").join(file)
}

/// Returns the root folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a folder with the packages of `pins`, files with pinned versions. Installs the packages if the folder is
/// incomplete or has other versions. A lock makes other processes wait for the installation.
fn installed(name: &str, pins: &[&str], install: impl FnOnce(&Path)) -> PathBuf {
    let cache = target().join("receivers");
    fs::create_dir_all(&cache).unwrap();
    let lock = File::create(cache.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let (folder, mark) = (cache.join(name), cache.join(name).join("installed"));
    let pinned: String = pins.iter().map(|pin| fs::read_to_string(pinned(pin)).unwrap()).collect();
    if fs::read_to_string(&mark).ok().as_ref() != Some(&pinned) {
        // The folder may contain other versions, or the remains of an interrupted installation.
        drop(fs::remove_dir_all(&folder));
        install(&folder);
        fs::write(mark, pinned).unwrap();
    }
    folder
}

#[track_caller]
fn succeed(command: &mut Command) {
    let ran = command.output().unwrap_or_else(|error| panic!("{command:?} does not run: {error}"));
    assert!(
        ran.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_sealpost")).ancestors().nth(2).unwrap().to_owned()
}
