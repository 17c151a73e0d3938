//! Python and Node with the packages that `tests/verifiers` pins, installed once into the target folder and kept there.

pub(crate) mod oracle;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

/// Python's interpreter, which finds the packages.
pub(crate) fn python() -> PathBuf {
    static READY: OnceLock<PathBuf> = OnceLock::new();
    let folder = READY.get_or_init(|| {
        installed("python", &["requirements.txt"], |folder| {
            succeed(Command::new("python3").args(["-m", "venv"]).arg(folder));
            let mut pip = Command::new(folder.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"]);
            succeed(pip.arg(pinned("requirements.txt")));
        })
    });
    folder.join("bin/python")
}

/// The folder whose programs find Node's packages: Node looks for them beside a program and above it.
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

/// Runs a program among the packages.
pub(crate) fn run_node(program: &Path, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir_in(node_folder()).unwrap();
    let copy = folder.path().join("program.mjs");
    fs::copy(program, &copy).unwrap();
    Command::new("node").arg(copy).args(arguments).output().unwrap()
}

/// Go's tool, where the machine has it.
pub(crate) fn go() -> Option<Command> {
    let has_go = Command::new("go").arg("version").output().is_ok_and(|ran| ran.status.success());
    let mut command = Command::new("go");
    // The examples need nothing but what Go brings.
    command.env("GOCACHE", target().join("receivers/go")).env("GOFLAGS", "").env("GOPROXY", "off");
    command.env("GOTOOLCHAIN", "local");
    has_go.then_some(command)
}

/// A program that `cargo test` builds beside the binary.
pub(crate) fn rust_example(name: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_sealpost"));
    let program = binary.with_file_name("examples").join(name);
    assert!(
        program.exists(),
        "{name} is not built; run: cargo build --package sealpost --examples"
    );
    program
}

/// A file of `tests/verifiers`.
pub(crate) fn pinned(file: &str) -> PathBuf {
    root().join("tests/verifiers").join(file)
}

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where this folder is complete and of these pins it is used as it is. One process installs while others wait.
fn installed(name: &str, pins: &[&str], install: impl FnOnce(&Path)) -> PathBuf {
    let cache = target().join("receivers");
    fs::create_dir_all(&cache).unwrap();
    let lock = File::create(cache.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let (folder, mark) = (cache.join(name), cache.join(name).join("installed"));
    let pinned: String = pins.iter().map(|pin| fs::read_to_string(pinned(pin)).unwrap()).collect();
    if fs::read_to_string(&mark).ok().as_ref() != Some(&pinned) {
        // Left over from other pins, or from an installation that was broken off.
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

/// The target folder.
fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_sealpost")).ancestors().nth(2).unwrap().to_owned()
}
