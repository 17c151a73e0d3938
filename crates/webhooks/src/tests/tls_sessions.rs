//! Tests of TLS sessions: trusted certificates, and the reasons of failures.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::Arc,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, IsCa, KeyPair};
use rustls::{
    ConfigBuilder, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::{WantsServerCert, WebPkiClientVerifier},
};
use sealpost_domain::{AttemptFailure, Outcome};

use super::{
    connections::{failure_at, outcome_at},
    fixture::{result_at, settings},
    test_receiver::{OK, Receiver},
};
use crate::Settings;

#[test]
fn a_certificate_needs_a_trusted_root() {
    let CertifiedKey { cert, signing_key } = self_signed("loopback.test");
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

/// Returns the reason of a failed TLS session, which must have the class `tls`.
#[track_caller]
fn tls_detail(settings: Settings, url: &str) -> String {
    let result = result_at(settings, url);
    let Outcome::Retry { failure, .. } = result.outcome else { panic!("{result:?}") };
    assert_eq!(failure, AttemptFailure::Tls, "{result:?}");
    result.error_detail.unwrap()
}

#[test]
fn a_failed_tls_session_has_the_reason_of_the_tls_library() {
    let trusted = |change: fn(&mut CertificateParams)| {
        let mut params = CertificateParams::new(["loopback.test".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let receiver = tls_receiver(certificate.der().clone(), &key);
        let extra_roots = vec![certificate.der().clone()];
        (receiver, Settings { extra_roots, ..settings() })
    };
    let url = |host: &str, receiver: &Receiver| format!("https://{host}:{}/", receiver.addr.port());
    // A self-signed certificate that is also a certificate authority, as `openssl req -x509` creates it.
    let (receiver, trusting) =
        trusted(|params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained));
    let detail = tls_detail(trusting, &url("loopback.test", &receiver));
    assert!(detail.contains("CaUsedAsEndEntity"), "{detail}");

    let (receiver, trusting) = trusted(|_| ());
    let detail = tls_detail(trusting, &url("127.0.0.1", &receiver));
    assert!(detail.contains("not valid for name \"127.0.0.1\""), "{detail}");
    let detail = tls_detail(settings(), &url("loopback.test", &receiver));
    assert!(detail.contains("UnknownIssuer"), "{detail}");

    let (receiver, trusting) =
        trusted(|params| params.not_after = rcgen::date_time_ymd(2001, 1, 1));
    let detail = tls_detail(trusting, &url("loopback.test", &receiver));
    assert!(detail.contains("expired"), "{detail}");

    for (bytes, reason) in [
        (&b"\x15\x03\x03\x00\x02\x02\x46"[..], "ProtocolVersion"),
        (b"\x15\x03\x03\x00\x02\x02\x28", "HandshakeFailure"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "InvalidContentType"),
        (b"", "eof"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                drop(stream.read(&mut [0; 4096]));
                drop(stream.write_all(bytes));
            }
        });
        let detail = tls_detail(settings(), &format!("https://loopback.test:{port}/"));
        assert!(detail.contains(reason), "{detail}");
    }
}

/// In TLS 1.3 the client considers the handshake complete before the receiver has checked its certificate.
#[test]
fn a_receiver_may_refuse_a_client_without_a_certificate() {
    let CertifiedKey { cert, signing_key } = self_signed("loopback.test");
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(clients.build().unwrap());
    let receiver = tls_receiver_with(config, cert.der().clone(), &signing_key);
    let settings = Settings { extra_roots: vec![cert.der().clone()], ..settings() };
    let url = format!("https://loopback.test:{}/", receiver.addr.port());
    let detail = tls_detail(settings, &url);
    assert!(detail.contains("CertificateRequired"), "{detail}");
}

#[test]
fn a_name_with_underscores_is_reached_over_tls() {
    let CertifiedKey { cert, signing_key } = self_signed("_my_host_.test");
    let receiver = tls_receiver(cert.der().clone(), &signing_key);
    let settings = Settings { extra_roots: vec![cert.der().clone()], ..settings() };
    let url = format!("https://_MY_host_.test:{}/", receiver.addr.port());
    assert_eq!(outcome_at(settings, &url), Outcome::Succeeded);
}

fn self_signed(host: &str) -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed([host.to_owned()]).unwrap()
}

fn tls_receiver(certificate: CertificateDer<'static>, key: &KeyPair) -> Receiver {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth();
    tls_receiver_with(config, certificate, key)
}

fn tls_receiver_with(
    config: ConfigBuilder<ServerConfig, WantsServerCert>,
    certificate: CertificateDer<'static>,
    key: &KeyPair,
) -> Receiver {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    let wrap =
        move |stream| StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
    Receiver::start_wrapped(Arc::new(wrap), |_| OK)
}
