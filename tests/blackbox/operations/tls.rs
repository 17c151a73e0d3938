//! Tests of the API over TLS, and of reloading the certificate while the server runs.

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
    Authority, Database, Issued, SOON, Server, binary, exchange, on_embedded, run, status_of, text,
    wait_until,
};

on_embedded!(a_file_without_certificate_authorities_is_rejected);

/// A certificate authority, and the files from which a server reads its certificate and private key.
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

    /// Overwrites the files with a new certificate and private key.
    fn replace(&self) -> Issued {
        let issued = self.authority.issue();
        issued.write(&self.chain(), &self.key());
        issued
    }

    /// Connects with one of these TLS versions, and offers these ALPN protocols.
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

    /// Opens a connection, and returns the certificate that the server presents.
    fn shown(&self, server: &Server) -> Vec<u8> {
        let connection = self.connect(server, &[&TLS13], &["http/1.1"]).unwrap();
        connection.conn.peer_certificates().unwrap()[0].to_vec()
    }
}

#[test]
fn the_api_serves_tls_with_strict_transport_security() {
    let scene = Scene::new();
    let server = scene.serve();
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    let sent = server.send(&alice, "bob", MESSAGE).ok();
    assert_eq!(server.open(&bob, &text(&sent, "envelope_id")).ok()["message"], MESSAGE);
    let response = server.get("/v1/nothing");
    // The type of the problem document is an https URL too.
    response.refused(404, "NOT_FOUND");
    assert_eq!(response.header("strict-transport-security"), Some("max-age=31536000"));
    server.stop();
}

#[test]
fn plain_http_on_the_tls_port_gets_a_problem_document() {
    let scene = Scene::new();
    let server = scene.serve();
    let url = server.url.replace("https://", "http://");
    let response = exchange(&url, "GET /v1/ping HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n");
    assert_eq!(status_of(&response), 400, "{response}");
    for part in ["application/problem+json", "x-request-id: mine", "INVALID_HTTP", "https://"] {
        assert!(response.contains(part), "{part}: {response}");
    }
    let mut secure = scene.connect(&server, &[&TLS13], &["http/1.1"]).unwrap();
    secure.write_all(b"GET /v1/ping HTTP/1.1\r\n\r\n").unwrap();
    let mut response = String::new();
    secure.read_to_string(&mut response).unwrap();
    assert!(response.contains("INVALID_HTTP") && response.contains("x-request-id"), "{response}");
}

#[test]
fn strict_transport_security_without_tls_is_sent_only_behind_a_proxy() {
    let database = Database::embedded();
    let hsts = |server: &Server| {
        let response = server.get("/v1/ping");
        response.header("strict-transport-security").map(str::to_owned)
    };
    assert_eq!(hsts(&database.serve()), None);
    let behind = Server::start(database.command(&["--behind-tls-proxy", "--trusted-proxy=none"]));
    assert_eq!(hsts(&behind).as_deref(), Some("max-age=31536000"));
}

/// Opens connections that send nothing. They stay open until the handshake times out, which takes longer than this
/// test.
#[test]
fn silent_connections_do_not_delay_a_handshake() {
    let scene = Scene::new();
    let silent_count = 600;
    let patient = ["--workers=1", "--tls-handshake-timeout=100s"];
    let server = Server::start_secure(scene.command(&patient), &scene.authority);
    let address = server.url.strip_prefix("https://").unwrap();
    let silent: Vec<_> = (0..silent_count).map(|_| TcpStream::connect(address).unwrap()).collect();
    server.get("/v1/ping").ok();
    assert!(server.metric("sealpost_anonymous_connections") >= silent_count);
    drop(silent);
}

#[test]
fn a_handshake_that_takes_too_long_is_closed() {
    let scene = Scene::new();
    let hasty = ["--tls-handshake-timeout=100ms"];
    let server = Server::start_secure(scene.command(&hasty), &scene.authority);
    let mut silent = TcpStream::connect(server.url.strip_prefix("https://").unwrap()).unwrap();
    silent.set_read_timeout(Some(SOON)).unwrap();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0);
    server.get("/v1/ping").ok();
}

#[test]
fn curl_is_served_over_http_1_1_even_if_it_asks_for_http_2() {
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
    assert_eq!(strange.status, Some(60), "an untrusted certificate must be rejected: {strange:?}");
}

#[test]
fn tls_1_2_and_1_3_offer_only_http_1_1() {
    let scene = Scene::new();
    let server = scene.serve();
    for version in [&TLS12, &TLS13] {
        let connection = scene.connect(&server, &[version], &["h2", "http/1.1"]).unwrap();
        assert_eq!(connection.conn.alpn_protocol(), Some(&b"http/1.1"[..]), "{version:?}");
        assert!(scene.connect(&server, &[version], &["h2"]).is_err(), "{version:?}");
    }
}

#[test]
fn a_stalled_connection_is_closed_over_tls() {
    let scene = Scene::new();
    let brief = scene.command(&["--body-timeout=500ms", "--connection-timeout=1s"]);
    let server = Server::start_secure(brief, &scene.authority);
    let mut connection = scene.connect(&server, &[&TLS13], &["http/1.1"]).unwrap();
    assert_eq!(ping(&mut connection), 200);
    // The head of a second request never ends. The connection ends with or without a TLS close message.
    connection.write_all(b"G").unwrap();
    let ended = connection.read_to_end(&mut Vec::new());
    let is_waiting = |kind| matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock);
    assert!(!ended.as_ref().is_err_and(|error| is_waiting(error.kind())), "{ended:?}");
}

#[test]
fn sighup_reloads_the_certificate_and_keeps_open_connections() {
    let scene = Scene::new();
    let server = scene.serve();
    let before = scene.shown(&server);
    let mut open = scene.connect(&server, &[&TLS13], &["http/1.1"]).unwrap();
    assert_eq!(ping(&mut open), 200);

    let issued = scene.replace();
    assert_eq!(scene.shown(&server), before, "no reload was requested yet");
    server.hang_up();
    wait_until("the new certificate is shown", || scene.shown(&server) == issued.der());
    assert_eq!(ping(&mut open), 200, "an open connection stays usable");
    assert!(server.log().contains("the certificate was reloaded"));
    server.stop();
}

#[test]
fn a_broken_certificate_pair_is_reported_and_not_used() {
    let scene = Scene::new();
    let server = scene.serve();
    let before = scene.shown(&server);
    let complaints = || server.log().matches("the certificate was not reloaded").count();
    for (number, (what, reported)) in broken_pairs(&scene).iter().enumerate() {
        what();
        server.hang_up();
        wait_until(reported, || complaints() > number);
        assert!(
            server.log().lines().last().unwrap().contains(reported),
            "{reported}: {}",
            server.log()
        );
        assert_eq!(scene.shown(&server), before, "{reported}");
    }
    let fixed = scene.replace();
    server.hang_up();
    wait_until("the fixed certificate is shown", || scene.shown(&server) == fixed.der());
}

#[test]
fn a_broken_certificate_pair_is_rejected_at_startup() {
    let scene = Scene::new();
    for (what, reported) in broken_pairs(&scene) {
        what();
        let stderr = run(scene.command(&[])).refused(1);
        assert!(stderr.contains(reported), "{reported}: {stderr}");
        scene.replace();
    }
    for half in ["--tls-cert", "--tls-key"] {
        let ended = run(scene.database.command(&[half, "x.pem"]));
        assert_eq!((ended.status, ended.stderr.lines().count()), (Some(2), 1), "{ended:?}");
    }
    assert!(!PathBuf::from(scene.database.data()).exists(), "nothing was made");
}

#[test]
fn with_tls_the_server_may_listen_on_any_address() {
    let scene = Scene::new();
    let mut command = binary(&["serve", "--listen=0.0.0.0:0", "--ops-listen=off", "--data-dir"]);
    command.arg(scene.database.data()).arg("--tls-cert").arg(scene.chain());
    command.arg("--tls-key").arg(scene.key());
    let server = Server::start(command);
    assert!(server.url.starts_with("https://0.0.0.0:"), "{}", server.url);
}

#[test]
fn an_idle_connection_does_not_delay_shutdown() {
    let scene = Scene::new();
    let mut server = scene.serve();
    let mut idle = scene.connect(&server, &[&TLS13], &["http/1.1"]).unwrap();
    assert_eq!(ping(&mut idle), 200);
    let began = Instant::now();
    server.terminate();
    assert_eq!(server.ended(SOON), Some(0));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

fn a_file_without_certificate_authorities_is_rejected(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    for text in ["", "rubbish"] {
        fs::write(&roots, text).unwrap();
        let ended = run(database.command(&["--webhook-extra-roots", roots.to_str().unwrap()]));
        assert_eq!(ended.status, Some(1));
        let reported = "contains no certificate";
        assert!(ended.stderr.contains(reported) && ended.stderr.lines().count() == 1, "{ended:?}");
    }
}

/// A change that damages the certificate files, and the expected error message.
type Breakage<'a> = (Box<dyn Fn() + 'a>, &'static str);

/// Returns the possible faults of the certificate file and the key file, each with the expected error message.
fn broken_pairs(scene: &Scene) -> [Breakage<'_>; 7] {
    [
        (
            Box::new(|| fs::write(scene.key(), scene.authority.issue().key_pem).unwrap()),
            "does not belong",
        ),
        (Box::new(|| fs::write(scene.key(), "rubbish").unwrap()), "contains no private key"),
        (Box::new(|| fs::write(scene.chain(), "rubbish").unwrap()), "contains no certificate"),
        (Box::new(|| fs::remove_file(scene.chain()).unwrap()), "cannot be read"),
        (
            Box::new(|| scene.authority.issue_until(2001).write(&scene.chain(), &scene.key())),
            "expired on 2001-01-01",
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

/// Sends one more request on this connection and returns the status.
fn ping(connection: &mut StreamOwned<ClientConnection, TcpStream>) -> u16 {
    connection.write_all(b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut response = vec![0; 4096];
    let length = connection.read(&mut response).unwrap();
    status_of(&String::from_utf8_lossy(&response[..length]))
}

const MESSAGE: &str = "Meet me at noon.";
