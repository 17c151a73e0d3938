//! A way to a private server on which the answers to commits get lost: the one thing that no server can be told to do.

use std::{
    fs,
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

/// Passes on what is said on connections to a server, for as long as the process lives.
#[derive(Debug)]
pub struct Proxy {
    folder: PathBuf,
    url: String,
    loses_answers: Arc<AtomicBool>,
}

impl Proxy {
    /// Before a database of a server that the tests have started, which this URL names.
    pub fn before(url: &str) -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = url.split_once("?host=").and_then(|(_, tail)| tail.split('&').next());
        let server = server.ok_or_else(|| io::Error::other("not a URL of a private server"))?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(server).join(format!("proxy{number}"));
        fs::create_dir(&folder)?;
        let listener = UnixListener::bind(folder.join(SOCKET))?;
        let loses_answers = Arc::new(AtomicBool::new(false));
        let (behind, losing) = (Path::new(server).join(SOCKET), Arc::clone(&loses_answers));
        thread::spawn(move || {
            for client in listener.incoming() {
                // Whoever comes while the server is away is hung up on, as by the server itself.
                drop(client.and_then(|client| join(client, &behind, &losing)));
            }
        });
        let through = folder.display().to_string();
        Ok(Self { url: url.replacen(server, &through, 1), folder, loses_answers })
    }

    /// The URL of the same database through here.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on the server carries out every commit, and the connection ends before it can say so; or no more.
    pub fn drop_commit_responses(&self, to_commits: bool) {
        self.loses_answers.store(to_commits, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    /// Nobody new comes through; the server's folder goes with the server.
    fn drop(&mut self) {
        drop(fs::remove_file(self.folder.join(SOCKET)));
    }
}

fn join(client: UnixStream, server: &Path, losing: &Arc<AtomicBool>) -> io::Result<()> {
    let server = UnixStream::connect(server)?;
    let is_lost = Arc::new(AtomicBool::new(false));
    let (asking, asked) = (client.try_clone()?, server.try_clone()?);
    let (losing, losing_this) = (Arc::clone(losing), Arc::clone(&is_lost));
    thread::spawn(move || {
        pass_on(asking, asked, |said| {
            let commits = said.windows(COMMIT.len()).any(|part| part == COMMIT);
            // Before the server can hear of it, and so before it can answer.
            losing_this.fetch_or(commits && losing.load(Ordering::SeqCst), Ordering::SeqCst);
            true
        });
    });
    thread::spawn(move || pass_on(server, client, |_| !is_lost.load(Ordering::SeqCst)));
    Ok(())
}

/// Until either side hangs up, or something comes that may not be passed on; then both are hung up on.
fn pass_on(mut from: UnixStream, mut to: UnixStream, may_pass: impl Fn(&[u8]) -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        let said = buffer.get(..len).unwrap_or_default();
        if !may_pass(said) || to.write_all(said).is_err() {
            break;
        }
    }
    for end in [from, to] {
        // It may have hung up by itself.
        drop(end.shutdown(Shutdown::Both));
    }
}

/// What libpq looks for in a folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// A simple query: its kind, its length, its text.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
