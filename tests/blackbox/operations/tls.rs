//! The API over TLS, and what becomes of a certificate that is replaced while the server runs.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
    version::{TLS12, TLS13},
};
use tempfile::TempDir;

use crate::support::{
    Authority, Database, Issued, SOON, Server, binary, eventually, on_both, run, status_of, text,
};

on_both!(a_file_without_authorities_is_refused);

/// An authority, and files that a server reads its certificate from.
struct Scene {
    authority: Authority,
    folder: TempDir,
    database: Database,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            authority: Authority::new(),
            folder: tempfile::tempdir().unwrap(),
            database: Database::embedded(),
        };
        scene.authority.issue().write(&scene.chain(), &scene.key());
        scene
    }

    fn chain(&self) -> PathBuf {
        self.folder.path().join("chain.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = self.database.command(more);
        command.arg("--tls-cert").arg(self.chain()).arg("--tls-key").arg(self.key());
        command
    }

    fn serve(&self) -> Server {
        Server::start_secure(self.command(&[]), &self.authority)
    }

    /// Puts another certificate in the place of the first.
    fn replace(&self) -> Issued {
        let issued = self.authority.issue();
        issued.write(&self.chain(), &self.key());
        issued
    }

    /// A connection by a client with these versions that asks for these protocols.
    fn connect(
        &self,
        server: &Server,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&str],
    ) -> Result<StreamOwned<ClientConnection, TcpStream>, std::io::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.authority.der.clone())).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_protocol_versions(versions).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        let socket = TcpStream::connect(server.url.strip_prefix("https://").unwrap()).unwrap();
        socket.set_read_timeout(Some(SOON)).unwrap();
        let mut connection = StreamOwned::new(session, socket);
        connection.conn.complete_io(&mut connection.sock)?;
        Ok(connection)
    }

    /// The certificate that a new connection is shown.
    fn shown(&self, server: &Server) -> Vec<u8> {
        let connection = self.connect(server, &[&TLS13], &["http/1.1"]).unwrap();
        connection.conn.peer_certificates().unwrap()[0].to_vec()
    }
}

#[test]
fn the_api_speaks_tls_and_asks_browsers_to_insist_on_it() {
    let scene = Scene::new();
    let server = scene.serve();
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer_named("bob"));
    let sent = client.send(&alice, "bob", MESSAGE).ok();
    assert_eq!(client.open(&bob, &text(&sent, "envelope_id")).ok()["message"], MESSAGE);
    let answer = client.request("GET", "/v1/nothing").answer();
    // The type of the problem leads to https too.
    answer.refused(404, "NOT_FOUND");
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"));
    server.stop();
}

#[test]
fn who_serves_in_the_clear_speaks_of_tls_only_behind_a_proxy() {
    let database = Database::embedded();
    let hsts = |server: &Server| {
        let answer = server.client().request("GET", "/v1/ping").answer();
        answer.header("strict-transport-security").map(str::to_owned)
    };
    assert_eq!(hsts(&database.serve()), None);
    let behind = Server::start(database.command(&["--behind-tls-proxy"]));
    assert_eq!(hsts(&behind).as_deref(), Some("max-age=31536000"));
}

#[test]
fn curl_is_served_over_http_1_1_even_where_it_asks_for_2() {
    let scene = Scene::new();
    let server = scene.serve();
    let authority = scene.folder.path().join("authority.pem");
    fs::write(&authority, &scene.authority.pem).unwrap();
    let curl = |more: &[&str]| {
        let mut command = Command::new("curl");
        command.args(["-sS", "--noproxy", "*", "--http2", "-w", " %{http_version}"]).args(more);
        run(command)
    };
    let trusting =
        curl(&["--cacert", authority.to_str().unwrap(), &format!("{}/v1/ping", server.url)]);
    assert_eq!(trusting.status, Some(0), "{trusting:?}");
    assert!(trusting.stdout.ends_with(" 1.1") && trusting.stdout.starts_with('{'), "{trusting:?}");
    let strange = curl(&[&format!("{}/v1/ping", server.url)]);
    assert_eq!(strange.status, Some(60), "a certificate of nobody's is not believed: {strange:?}");
}

#[test]
fn nothing_but_http_1_1_is_offered_by_tls_1_2_and_1_3() {
    let scene = Scene::new();
    let server = scene.serve();
    for version in [&TLS12, &TLS13] {
        let connection = scene.connect(&server, &[version], &["h2", "http/1.1"]).unwrap();
        assert_eq!(connection.conn.alpn_protocol(), Some(&b"http/1.1"[..]), "{version:?}");
        assert!(scene.connect(&server, &[version], &["h2"]).is_err(), "{version:?}");
    }
    // In the clear nothing is served on this address.
    let mut clear = TcpStream::connect(server.url.strip_prefix("https://").unwrap()).unwrap();
    clear.write_all(b"GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    drop(clear.read_to_end(&mut answer));
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/"));
}

#[test]
fn a_connection_that_does_not_get_on_is_closed_over_tls_too() {
    let scene = Scene::new();
    let brief = scene.command(&["--body-timeout=500ms", "--connection-timeout=1s"]);
    let server = Server::start_secure(brief, &scene.authority);
    let mut connection = scene.connect(&server, &[&TLS13], &["http/1.1"]).unwrap();
    assert_eq!(ping(&mut connection), 200);
    // The head of a second request never ends. What is read is the end, however that is said.
    connection.write_all(b"G").unwrap();
    let ended = connection.read_to_end(&mut Vec::new());
    let is_waiting = |kind| matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock);
    assert!(!ended.as_ref().is_err_and(|error| is_waiting(error.kind())), "{ended:?}");
}

#[test]
fn a_hangup_brings_the_new_certificate_and_drops_nobody() {
    let scene = Scene::new();
    let server = scene.serve();
    let before = scene.shown(&server);
    let mut open = scene.connect(&server, &[&TLS13], &["http/1.1"]).unwrap();
    assert_eq!(ping(&mut open), 200);

    let issued = scene.replace();
    assert_eq!(scene.shown(&server), before, "nobody has asked for the new one yet");
    server.hang_up();
    eventually("the new certificate is shown", SOON, || {
        (scene.shown(&server) == issued.der()).then_some(())
    });
    assert_eq!(ping(&mut open), 200, "a connection that was open goes on");
    assert!(server.log().contains("the certificate was read again"));
    server.stop();
}

#[test]
fn a_broken_pair_replaces_nothing_and_is_said() {
    let scene = Scene::new();
    let server = scene.serve();
    let before = scene.shown(&server);
    let complaints = || server.log().matches("the certificate was not read again").count();
    for (number, (what, said)) in broken_pairs(&scene).iter().enumerate() {
        what();
        server.hang_up();
        eventually(said, SOON, || (complaints() > number).then_some(()));
        assert!(server.log().lines().last().unwrap().contains(said), "{said}: {}", server.log());
        assert_eq!(scene.shown(&server), before, "{said}");
    }
    let mended = scene.replace();
    server.hang_up();
    eventually("it is mended", SOON, || (scene.shown(&server) == mended.der()).then_some(()));
}

#[test]
fn a_broken_pair_is_refused_at_the_start() {
    let scene = Scene::new();
    for (what, said) in broken_pairs(&scene) {
        what();
        let ended = run(scene.command(&[]));
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""), "{said}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        scene.replace();
    }
    for half in ["--tls-cert", "--tls-key"] {
        let ended = run(scene.database.command(&[half, "x.pem"]));
        assert_eq!((ended.status, ended.stderr.lines().count()), (Some(2), 1), "{ended:?}");
    }
    assert!(!PathBuf::from(scene.database.data()).exists(), "nothing was made");
}

#[test]
fn with_tls_any_address_may_be_listened_on() {
    let scene = Scene::new();
    let mut command = binary(&["serve", "--listen=0.0.0.0:0", "--ops-listen=off", "--data-dir"]);
    command.arg(scene.database.data()).arg("--tls-cert").arg(scene.chain());
    command.arg("--tls-key").arg(scene.key());
    let server = Server::start(command);
    assert!(server.url.starts_with("https://0.0.0.0:"), "{}", server.url);
}

#[test]
fn an_idle_connection_does_not_hold_up_a_stop() {
    let scene = Scene::new();
    let mut server = scene.serve();
    let mut idle = scene.connect(&server, &[&TLS13], &["http/1.1"]).unwrap();
    assert_eq!(ping(&mut idle), 200);
    let began = Instant::now();
    server.terminate();
    assert_eq!(server.ended(SOON), Some(0));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

fn a_file_without_authorities_is_refused(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    for text in ["", "rubbish"] {
        fs::write(&roots, text).unwrap();
        let ended = run(database.command(&["--webhook-extra-roots", roots.to_str().unwrap()]));
        assert_eq!(ended.status, Some(1));
        let said = "there is no certificate in it";
        assert!(ended.stderr.contains(said) && ended.stderr.lines().count() == 1, "{ended:?}");
    }
}

/// Something that is done to the files, and what is said of it.
type Breakage<'a> = (Box<dyn Fn() + 'a>, &'static str);

/// What may be wrong with the two files, and what is said of it.
fn broken_pairs(scene: &Scene) -> [Breakage<'_>; 7] {
    [
        (
            Box::new(|| fs::write(scene.key(), scene.authority.issue().key_pem).unwrap()),
            "does not belong",
        ),
        (Box::new(|| fs::write(scene.key(), "rubbish").unwrap()), "holds no private key"),
        (Box::new(|| fs::write(scene.chain(), "rubbish").unwrap()), "holds no certificate"),
        (Box::new(|| fs::remove_file(scene.chain()).unwrap()), "cannot be read"),
        (
            Box::new(|| scene.authority.issue_until(2001).write(&scene.chain(), &scene.key())),
            "ended on 2001-01-01",
        ),
        (
            Box::new(|| {
                scene.replace();
                fs::set_permissions(scene.key(), fs::Permissions::from_mode(0o644)).unwrap();
            }),
            "chmod 600",
        ),
        (Box::new(|| fs::remove_file(scene.key()).unwrap()), "cannot be read"),
    ]
}

/// The status of one more request on this connection.
fn ping(connection: &mut StreamOwned<ClientConnection, TcpStream>) -> u16 {
    connection.write_all(b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = vec![0; 4096];
    let length = connection.read(&mut answer).unwrap();
    status_of(&String::from_utf8_lossy(&answer[..length]))
}

const MESSAGE: &str = "Meet me at noon.";
