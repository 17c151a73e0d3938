//! How connections fail, and which are never made.

use std::{net::TcpListener, sync::Arc};

use actix_service::Service as _;
use actix_tls::connect::{ConnectError, ConnectInfo};
use awc::http::Uri;
use rcgen::{CertifiedKey, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use sealpost_domain::{AttemptFailure, Outcome};

use super::{
    names::fixed,
    receiver::{Answer, OK, Receiver},
    rig::{Rig, SECRET, settings, target},
};
use crate::{
    AddressPolicy, Settings,
    connector::{GuardedConnector, NoConnection},
};

fn outcome_at(settings: Settings, url: &str) -> Outcome {
    let rig = Rig::start(settings);
    rig.submit(&target(1, url, SECRET), 0);
    rig.outbox.wait_for_settled(1)[0].outcome
}

fn failure_at(settings: Settings, url: &str) -> AttemptFailure {
    match outcome_at(settings, url) {
        Outcome::Retry { failure, .. } => failure,
        other => panic!("{url}: {other:?}"),
    }
}

fn production() -> Settings {
    Settings { policy: AddressPolicy::default(), ..settings() }
}

#[test]
fn a_closed_address_is_blocked_however_it_is_named() {
    let receiver = Receiver::start(|_| OK);
    let port = receiver.addr.port();
    for url in [
        format!("https://127.0.0.1:{port}/"),
        format!("https://loopback.test:{port}/"),
        format!("https://mixed.test:{port}/"),
        "https://private.test/".to_owned(),
        "https://metadata.test/".to_owned(),
        // Allowed in development, when it was registered.
        format!("http://127.0.0.1:{port}/"),
    ] {
        assert_eq!(failure_at(production(), &url), AttemptFailure::BlockedAddress, "{url}");
    }
    for url in ["http://private.test/", "http://10.0.0.1/", "http://[fe80::1]/"] {
        assert_eq!(failure_at(settings(), url), AttemptFailure::BlockedAddress, "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

/// What is judged here comes past every check of the URL.
#[test]
fn the_connector_itself_refuses_closed_addresses() {
    let receiver = Receiver::start(|_| OK);
    let connector = GuardedConnector::new(AddressPolicy::default(), fixed());
    let runtime = actix_rt::Runtime::new().unwrap();
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "loopback.test", "mixed.test"] {
        let uri: Uri = format!("http://{host}:{}/", receiver.addr.port()).parse().unwrap();
        let refused = runtime.block_on(connector.call(ConnectInfo::new(uri)));
        let Err(ConnectError::Resolver(fault)) = refused else { panic!("{host}: {refused:?}") };
        assert!(matches!(fault.downcast_ref(), Some(NoConnection::Blocked)), "{host}: {fault}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[test]
fn the_systems_own_names_lead_to_receivers() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start_with(settings(), Arc::default(), crate::names::system);
    rig.submit(&target(1, &format!("http://localhost:{}/", receiver.addr.port()), SECRET), 0);
    assert_eq!(rig.outbox.wait_for_settled(1)[0].outcome, Outcome::Succeeded);
}

#[test]
fn failures_have_their_classes() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(failure_at(settings(), &format!("http://{closed}/")), AttemptFailure::Connect);
    assert_eq!(failure_at(settings(), "http://later.test/"), AttemptFailure::Dns);

    let closing = Receiver::start(|_| Answer::Close);
    assert_eq!(failure_at(settings(), &closing.url()), AttemptFailure::Protocol);
    let garbling = Receiver::start(|_| Answer::Bytes(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"));
    assert_eq!(failure_at(settings(), &garbling.url()), AttemptFailure::Protocol);

    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf_url = format!("https://{}/", deaf.local_addr().unwrap());
    std::thread::spawn(move || deaf.incoming().for_each(drop));
    assert_eq!(failure_at(settings(), &deaf_url), AttemptFailure::Tls);
}

#[test]
fn a_certificate_must_lead_to_a_trusted_root() {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["loopback.test".to_owned()]).unwrap();
    let receiver = tls_receiver(cert.der().clone(), &signing_key);
    let url = format!("https://loopback.test:{}/", receiver.addr.port());
    assert_eq!(failure_at(settings(), &url), AttemptFailure::Tls);
    assert!(receiver.requests().is_empty());

    let extra_roots = vec![cert.der().clone()];
    let trusting = || Settings { extra_roots: extra_roots.clone(), ..settings() };
    assert_eq!(outcome_at(trusting(), &url), Outcome::Succeeded);
    let other_name = format!("https://127.0.0.1:{}/", receiver.addr.port());
    assert_eq!(failure_at(trusting(), &other_name), AttemptFailure::Tls);
}

fn tls_receiver(certificate: CertificateDer<'static>, key: &KeyPair) -> Receiver {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let wrap =
        move |stream| StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
    Receiver::start_wrapped(Arc::new(wrap), |_| OK)
}
