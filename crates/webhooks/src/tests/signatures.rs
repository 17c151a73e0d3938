//! Tests of requests with several signatures: during a rotation of the secret, and with the key of the service.

use std::{sync::Arc, time::Duration};

use ring::signature::{ED25519, KeyPair as _, UnparsedPublicKey};
use sealpost_domain::{Outcome, RetiringSecret, Target, Wrapped, ports::EventSigner};
use sealpost_wallet::WebhookSecret;

use super::{
    fixture::{Fixture, SECRET, Signer, rotating_target, settings},
    memory_outbox::NOW,
    test_receiver::{OK, Receiver, Request},
};
use crate::{SignedHeaders, verify, verify_asymmetric};

const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OLDER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn signed(request: &Request) -> SignedHeaders<'_> {
    SignedHeaders {
        id: &request.headers["webhook-id"],
        timestamp: &request.headers["webhook-timestamp"],
        signature: &request.headers["webhook-signature"],
    }
}

/// Returns whether a request has a signature with this secret.
pub(super) fn verifies(secret: &str, request: &Request) -> bool {
    let secret = WebhookSecret::parse(secret).unwrap();
    verify(&secret, &signed(request), &request.body, NOW).is_ok()
}

/// Returns the versions of all signatures in the header `webhook-signature`.
fn versions(request: &Request) -> Vec<&str> {
    let list = request.headers["webhook-signature"].split(' ');
    list.map(|entry| entry.split_once(',').unwrap().0).collect()
}

#[test]
fn retiring_secrets_sign_until_their_time() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    let soon = NOW.plus(Duration::from_secs(10));
    let retiring = [(OLD, soon), (OLDER, NOW.plus(Duration::from_millis(1)))];
    let target = rotating_target(1, &receiver.url(), SECRET, &retiring);
    fixture.submit(&target, 0);
    fixture.outbox.wait_for_results(1);
    // The oldest secret has expired by now. The dispatcher still uses the same connection and the same decrypted keys.
    fixture.clock.advance(Duration::from_millis(1));
    fixture.submit(&target, 1);
    fixture.outbox.wait_for_results(2);
    fixture.clock.advance(Duration::from_secs(10));
    fixture.submit(&target, 2);
    fixture.outbox.wait_for_results(3);

    let requests = receiver.requests();
    let verified =
        requests.iter().map(|request| [SECRET, OLD, OLDER].map(|s| verifies(s, request)));
    assert_eq!(
        verified.collect::<Vec<_>>(),
        [[true, true, true], [true, true, false], [true, false, false]]
    );
    assert_eq!(versions(&requests[0]), ["v1", "v1", "v1"]);
    for request in &requests {
        assert_eq!(request.headers["webhook-signature"], request.headers["x-service-signature"]);
    }
}

#[test]
fn the_signature_of_the_service_is_last_and_needs_no_secret() {
    let receiver = Receiver::start(|_| OK);
    let signer = Arc::new(Signer::new(&[7; 32]));
    let service: Arc<dyn EventSigner> = Arc::<Signer>::clone(&signer);
    let fixture = Fixture::start_with(|it| it.signer = Some(service));
    let soon = NOW.plus(Duration::from_secs(10));
    fixture.submit(&rotating_target(1, &receiver.url(), SECRET, &[(OLD, soon)]), 0);
    fixture.outbox.wait_for_results(1);

    let request = &receiver.requests()[0];
    assert_eq!(versions(request), ["v1", "v1", "v1a"]);
    assert!(verifies(SECRET, request) && verifies(OLD, request));
    assert_eq!(request.headers["webhook-signature"], request.headers["x-service-signature"]);
    assert_eq!(verify_asymmetric(&signer.key(), &signed(request), &request.body, NOW), Ok(()));

    // Verifies the signature again without code of this crate.
    let (_, entry) = request.headers["webhook-signature"].rsplit_once(" v1a,").unwrap();
    let signature =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, entry).unwrap();
    let (id, timestamp) = (&request.headers["webhook-id"], &request.headers["webhook-timestamp"]);
    let content = [id.as_bytes(), b".", timestamp.as_bytes(), b".", &request.body].concat();
    let public = signer.0.public_key();
    UnparsedPublicKey::new(&ED25519, public).verify(&content, &signature).unwrap();
}

#[test]
fn an_unreadable_retiring_secret_is_skipped() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    let target = rotating_target(1, &receiver.url(), SECRET, &[]);
    let until = NOW.plus(Duration::from_secs(10));
    let broken = RetiringSecret { secret: Wrapped(vec![1, 2, 3]), until };
    fixture.submit(&Arc::new(Target { retiring: vec![broken], ..(*target).clone() }), 0);
    assert_eq!(fixture.outbox.wait_for_results(1)[0].outcome, Outcome::Succeeded);
    assert_eq!(versions(&receiver.requests()[0]), ["v1"]);
}
