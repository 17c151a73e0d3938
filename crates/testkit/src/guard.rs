//! The guard: a shell that cleans up when the pipe to it closes, which happens however the test process ends.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// Ends what it guards when dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Child,
    folder: PathBuf,
}

impl Guard {
    /// Where the newest PostgreSQL's programs are.
    pub(crate) fn binaries() -> Result<PathBuf, String> {
        let root = Path::new("/usr/lib/postgresql");
        let versions =
            fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))?;
        versions
            .filter_map(|entry| version(&entry.ok()?.path()))
            .map(|version| (version, root.join(version.to_string()).join("bin")))
            .filter(|(_, folder)| folder.join("initdb").exists())
            .max()
            .map(|(_, folder)| folder)
            .ok_or_else(|| format!("no initdb below {}", root.display()))
    }

    /// Starts a server in a temporary folder, with its socket in that folder.
    pub(crate) fn serving(binaries: &Path, fsync: bool) -> Result<Self, String> {
        let folder = make_folder().map_err(|error| format!("no temporary folder: {error}"))?;
        let mut shell = shell(SERVE);
        shell.arg(binaries).arg(&folder).arg(if fsync { "on" } else { "off" }).current_dir(&folder);
        if let Some((user, group)) = unprivileged() {
            chown(&folder, Some(user), Some(group)).map_err(|error| error.to_string())?;
            shell.uid(user).gid(group);
        }
        Self::start(shell, folder.clone()).map_err(|error| {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            drop(fs::remove_dir_all(&folder));
            format!("{error}\n{log}")
        })
    }

    /// Drops the databases whose names begin with `prefix` on a server that is there already.
    pub(crate) fn dropping(psql: &Path, url: &str, prefix: &str) -> Result<Self, String> {
        let mut shell = shell(DROP);
        shell.arg(psql).arg(url).arg(prefix);
        Self::start(shell, PathBuf::new())
    }

    /// The folder that the server lives in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits for the word that all is ready.
    fn start(mut command: Command, folder: PathBuf) -> Result<Self, String> {
        let mut shell = command.spawn().map_err(|error| format!("no shell: {error}"))?;
        let mut word = String::new();
        if let Some(output) = shell.stdout.take() {
            BufReader::new(output).read_line(&mut word).map_err(|error| error.to_string())?;
        }
        if word.trim() == "ready" {
            return Ok(Self { shell, folder });
        }
        drop(shell.stdin.take());
        drop(shell.wait());
        Err("the server does not start".to_owned())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        drop(self.shell.wait());
    }
}

/// A shell in a process group of its own, so that Ctrl-C at the tests does not end it before it has cleaned up.
fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-euc", script, "guard"]).process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    shell
}

fn version(folder: &Path) -> Option<u32> {
    folder.file_name()?.to_str()?.parse().ok()
}

/// Short, because the path of a Unix socket may have no more than 107 bytes.
fn make_folder() -> std::io::Result<PathBuf> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("sealpost-pg-{}-{number}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Whom to become, where the tests run as root: PostgreSQL refuses to.
fn unprivileged() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").ok()?.uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &str| {
        let mut fields = users.lines().find(|line| line.starts_with(name))?.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres:").or_else(|| find("nobody:"))
}

/// `$1` programs, `$2` folder, `$3` whether to force commits to the disk.
const SERVE: &str = r#"
trap '' HUP INT TERM
"$1/initdb" --pgdata="$2/data" --auth=trust --username=postgres --encoding=UTF8 --locale=C --no-sync \
    </dev/null >"$2/log" 2>&1
"$1/pg_ctl" --pgdata="$2/data" --log="$2/log" --wait --silent --options="-k $2 -c listen_addresses='' \
    -c max_connections=300 -c shared_buffers=128MB -c fsync=$3 -c full_page_writes=$3" start </dev/null >>"$2/log" 2>&1
echo ready
cat >/dev/null
"$1/pg_ctl" --pgdata="$2/data" --mode=immediate --silent stop </dev/null >/dev/null 2>&1 || true
cd /
rm -rf "$2"
"#;

/// `$1` psql, `$2` URL, `$3` prefix.
const DROP: &str = r#"
trap '' HUP INT TERM
echo ready
cat >/dev/null
"$1" --no-psqlrc --quiet --tuples-only --no-align --dbname="$2" \
    --command="SELECT format('DROP DATABASE %I WITH (FORCE);', datname) FROM pg_database
               WHERE starts_with(datname, '$3')" </dev/null |
    "$1" --no-psqlrc --quiet --dbname="$2" >/dev/null
"#;
