//! The machine of the measurement.

use std::{fs, path::Path, process::Command, thread};

use serde::Serialize;

#[derive(Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) processor: String,
    pub(crate) kernel: String,
    /// Load averages of one, five and fifteen minutes.
    pub(crate) load_before: String,
    pub(crate) data_folder: String,
    /// Type and device of the file system with the databases.
    pub(crate) file_system: String,
    pub(crate) sealpost: &'static str,
    pub(crate) revision: String,
    pub(crate) build: &'static str,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let folder = std::env::temp_dir();
        Self {
            cores: thread::available_parallelism().map_or(1, usize::from),
            processor: processor().unwrap_or_else(|| "unknown".to_owned()),
            kernel: read("/proc/sys/kernel/osrelease"),
            load_before: read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" "),
            file_system: file_system(&folder).unwrap_or_else(|| "unknown".to_owned()),
            data_folder: folder.display().to_string(),
            sealpost: env!("CARGO_PKG_VERSION"),
            revision: revision().unwrap_or_else(|| "unknown".to_owned()),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
        }
    }

    /// Prints the machine as text.
    pub(crate) fn print(&self) {
        println!("sealpost {} at {}, {} build", self.sealpost, self.revision, self.build);
        println!("{} cores, {}, Linux {}", self.cores, self.processor, self.kernel);
        println!("load average before: {}", self.load_before);
        println!("data in {} on {}", self.data_folder, self.file_system);
        if self.file_system.starts_with("tmpfs") {
            println!(
                "WARNING: the data folder is in memory, so a sync costs nothing: set TMPDIR to a folder on a disk"
            );
        }
        if cfg!(debug_assertions) {
            println!("WARNING: this is a debug build: its results are not valid");
        }
    }
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(line.trim_start_matches([' ', '\t', ':']).to_owned())
}

/// Returns the mount of the folder: the last one with the longest path.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (device, point, kind) = (words.next()?, words.next()?, words.next()?);
        folder.starts_with(point).then(|| (point.len(), format!("{kind} ({device})")))
    });
    mounts.max_by_key(|(length, _)| *length).map(|(_, name)| name)
}

fn revision() -> Option<String> {
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).output().ok()?;
        done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
    };
    let revision = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { revision } else { format!("{revision}, changed") })
}

fn read(file: &str) -> String {
    fs::read_to_string(file).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}
