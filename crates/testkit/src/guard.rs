//! Stops test servers and drops test databases when a test process ends, even after a crash. A shell waits on a pipe
//! from the test process, and cleans up when the pipe closes.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// A shell process that cleans up when this value is dropped: the shell stops a test server or `PgBouncer`, or drops
/// test databases.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Child,
    folder: PathBuf,
}

impl Guard {
    /// Finds the folder with the programs of the newest PostgreSQL in `/usr/lib/postgresql`. Fails if there is none.
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
            .ok_or_else(|| format!("no initdb found under {}", root.display()))
    }

    /// Starts a PostgreSQL server in a temporary folder, which also contains its Unix socket. `options` are arguments
    /// of the server. If `primary` (the connection string of another server) is given, the new server starts from a
    /// copy of the primary's data and runs as its standby.
    pub(crate) fn serving(
        binaries: &Path,
        options: &[String],
        primary: Option<&str>,
    ) -> Result<Self, String> {
        let folder =
            make_folder().map_err(|error| format!("cannot create a temporary folder: {error}"))?;
        let mut shell = shell(SERVE);
        shell.arg(binaries).arg(&folder).arg(server_options(&folder, options));
        shell.arg(primary.unwrap_or_default()).current_dir(&folder);
        own(&folder).map_err(|error| error.to_string())?;
        run_as_owner(&mut shell);
        Self::start(shell, folder.clone()).map_err(|error| {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            drop(fs::remove_dir_all(&folder));
            format!("{error}\n{log}")
        })
    }

    /// Starts `PgBouncer` with a settings file, and waits until its socket exists in `folder`.
    pub(crate) fn pooling(
        program: &Path,
        folder: &Path,
        settings: &Path,
        port: u16,
    ) -> Result<Self, String> {
        let mut shell = shell(POOL);
        shell.arg(program).arg(settings).arg(folder.join(format!(".s.PGSQL.{port}")));
        shell.current_dir(folder);
        run_as_owner(&mut shell);
        Self::start(shell, PathBuf::new())
    }

    /// Returns a guard for an existing server. When the guard is dropped, it deletes all databases whose names begin
    /// with `prefix`.
    pub(crate) fn dropping(psql: &Path, url: &str, prefix: &str) -> Result<Self, String> {
        let mut shell = shell(DROP);
        shell.arg(psql).arg(url).arg(prefix);
        Self::start(shell, PathBuf::new())
    }

    /// Returns the folder of the PostgreSQL server that [`serving`](Self::serving) started. The path is empty for other
    /// guards.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the shell, and waits until its script prints `ready`. Fails if the script ends before that.
    fn start(mut command: Command, folder: PathBuf) -> Result<Self, String> {
        let mut shell = command.spawn().map_err(|error| format!("cannot start sh: {error}"))?;
        let mut word = String::new();
        if let Some(output) = shell.stdout.take() {
            BufReader::new(output).read_line(&mut word).map_err(|error| error.to_string())?;
        }
        if word.trim() == "ready" {
            return Ok(Self { shell, folder });
        }
        drop(shell.stdin.take());
        drop(shell.wait());
        Err("the server did not start".to_owned())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        drop(self.shell.wait());
    }
}

/// Prepares a shell in its own process group, so that Ctrl-C does not kill the shell before its cleanup.
fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-euc", script, "guard"]).process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    shell
}

fn version(folder: &Path) -> Option<u32> {
    folder.file_name()?.to_str()?.parse().ok()
}

/// Returns the options of a server in `folder` as one text, the form in which `pg_ctl` takes them.
pub(crate) fn server_options(folder: &Path, options: &[String]) -> String {
    let base = "-c listen_addresses='' -c max_connections=300 -c shared_buffers=128MB";
    format!("-k {} {base} {}", folder.display(), options.join(" "))
}

/// Changes the owner of a file to the user under which the test servers run. Does nothing unless the tests run as root.
pub(crate) fn own(file: &Path) -> io::Result<()> {
    match unprivileged() {
        Some((user, group)) => chown(file, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// Makes a command run as the user under which the test servers run.
pub(crate) fn run_as_owner(command: &mut Command) {
    if let Some((user, group)) = unprivileged() {
        command.uid(user).gid(group);
    }
}

/// Creates a temporary folder. Its name is short, because the path of a Unix socket in the folder may have at most 107
/// bytes.
fn make_folder() -> io::Result<PathBuf> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("sealpost-pg-{}-{number}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Returns the user and the group under which a test server runs if the tests run as root, because PostgreSQL refuses
/// to run as root. Returns `None` if the tests run as another user, or if the users `postgres` and `nobody` are
/// missing.
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

/// The script that starts a server and stops it when standard input closes. Arguments: `$1` folder of the programs,
/// `$2` folder of the server, `$3` arguments of the server, `$4` the primary of a standby.
const SERVE: &str = r#"
trap '' HUP INT TERM
if [ -n "$4" ]; then
    "$1/pg_basebackup" --pgdata="$2/data" --dbname="$4" --write-recovery-conf --checkpoint=fast --no-sync \
        </dev/null >"$2/log" 2>&1
else
    "$1/initdb" --pgdata="$2/data" --auth=trust --username=postgres --encoding=UTF8 --locale=C --no-sync \
        </dev/null >"$2/log" 2>&1
fi
"$1/pg_ctl" --pgdata="$2/data" --log="$2/log" --wait --silent --options="$3" start </dev/null >>"$2/log" 2>&1
echo ready
cat >/dev/null
"$1/pg_ctl" --pgdata="$2/data" --mode=immediate --silent stop </dev/null >/dev/null 2>&1 || true
cd /
rm -rf "$2"
"#;

/// The script that starts `PgBouncer` and kills it when standard input closes. Arguments: `$1` program, `$2` settings,
/// `$3` socket.
const POOL: &str = r#"
trap '' HUP INT TERM
"$1" --quiet "$2" </dev/null >"$2.log" 2>&1 &
process=$!
until [ -S "$3" ]; do
    kill -0 "$process"
    sleep 0.05
done
echo ready
cat >/dev/null
kill -9 "$process"
# A later pooler can use the port only after the end of this one.
wait "$process" || true
rm -f "$3"
"#;

/// The script that drops databases when standard input closes. Arguments: `$1` psql, `$2` URL, `$3` name prefix.
const DROP: &str = r#"
trap '' HUP INT TERM
echo ready
cat >/dev/null
"$1" --no-psqlrc --quiet --tuples-only --no-align --dbname="$2" \
    --command="SELECT format('DROP DATABASE %I WITH (FORCE);', datname) FROM pg_database
               WHERE starts_with(datname, '$3')" </dev/null |
    "$1" --no-psqlrc --quiet --dbname="$2" >/dev/null
"#;
