//! A proxy in front of a private test server. The proxy can drop the responses to commits, which no server setting can
//! simulate.

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

/// Forwards connections to a test server. Accepts connections until this value is dropped.
#[derive(Debug)]
pub struct Proxy {
    folder: PathBuf,
    url: String,
    drops_responses: Arc<AtomicBool>,
}

impl Proxy {
    /// Creates a proxy for the database `url` on a private server, which the tests have started. Fails if the URL has
    /// no `host` parameter, which every private server has.
    pub fn before(url: &str) -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = url.split_once("?host=").and_then(|(_, tail)| tail.split('&').next());
        let server = server.ok_or_else(|| io::Error::other("not the URL of a private server"))?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(server).join(format!("proxy{number}"));
        fs::create_dir(&folder)?;
        let listener = UnixListener::bind(folder.join(SOCKET))?;
        let drops_responses = Arc::new(AtomicBool::new(false));
        let (behind, losing) = (Path::new(server).join(SOCKET), Arc::clone(&drops_responses));
        thread::spawn(move || {
            for client in listener.incoming() {
                // If the server is down, `join` fails and the client is disconnected, as it would be without the proxy.
                drop(client.and_then(|client| join(client, &behind, &losing)));
            }
        });
        let through = folder.display().to_string();
        Ok(Self { url: url.replacen(server, &through, 1), folder, drops_responses })
    }

    /// Returns the URL of the database through the proxy.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets whether the proxy drops the responses to commits. If responses are dropped, the server still executes each
    /// commit, but the proxy closes the connection before it forwards the response.
    pub fn drop_commit_responses(&self, to_commits: bool) {
        self.drops_responses.store(to_commits, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    /// Removes the socket, so that no further client can connect. The folder of the proxy is deleted later, with the
    /// folder of the server.
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
            // Sets the flag before the server receives the commit, so that the flag is already set when the response
            // arrives.
            losing_this.fetch_or(commits && losing.load(Ordering::SeqCst), Ordering::SeqCst);
            true
        });
    });
    thread::spawn(move || pass_on(server, client, |_| !is_lost.load(Ordering::SeqCst)));
    Ok(())
}

/// Copies bytes from one connection to the other. When one connection closes, or `may_pass` returns `false`, closes
/// both.
fn pass_on(mut from: UnixStream, mut to: UnixStream, may_pass: impl Fn(&[u8]) -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        let said = buffer.get(..len).unwrap_or_default();
        if !may_pass(said) || to.write_all(said).is_err() {
            break;
        }
    }
    for end in [from, to] {
        // An error only means that the connection is already closed.
        drop(end.shutdown(Shutdown::Both));
    }
}

/// The file name of a server's socket. The client library libpq expects a socket with this name in the server's folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// COMMIT as a simple query message of the PostgreSQL protocol: type, length and text.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
