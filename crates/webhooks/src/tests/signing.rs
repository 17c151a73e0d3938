//! Several signatures on one notice: while a secret rotates, and by the service's own key.

use std::{sync::Arc, time::Duration};

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sealpost_domain::{Outcome, RetiringSecret, Target, Wrapped, ports::EventSigner};
use sealpost_wallet::WebhookSecret;

use super::{
    outbox::NOW,
    receiver::{OK, Receiver, Request},
    rig::{Rig, SECRET, rotating_target, settings},
};
use crate::{SignedHeaders, VerifyingKey, verify, verify_asymmetric};

const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OLDER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

struct Signer(Ed25519KeyPair);

impl Signer {
    fn new() -> Arc<Self> {
        Arc::new(Self(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()))
    }
}

impl EventSigner for Signer {
    fn sign_event(&self, content: &[u8]) -> [u8; 64] {
        self.0.sign(content).as_ref().try_into().unwrap()
    }
}

fn signed(request: &Request) -> SignedHeaders<'_> {
    SignedHeaders {
        id: &request.headers["webhook-id"],
        timestamp: &request.headers["webhook-timestamp"],
        signature: &request.headers["webhook-signature"],
    }
}

fn believes(secret: &str, request: &Request) -> bool {
    let secret = WebhookSecret::parse(secret).unwrap();
    verify(&secret, &signed(request), &request.body, NOW).is_ok()
}

/// How each entry of the list begins.
fn versions(request: &Request) -> Vec<&str> {
    let list = request.headers["webhook-signature"].split(' ');
    list.map(|entry| entry.split_once(',').unwrap().0).collect()
}

#[test]
fn while_a_secret_rotates_the_old_ones_sign_along_until_their_time() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    let soon = NOW.plus(Duration::from_secs(10));
    let retiring = [(OLD, soon), (OLDER, NOW.plus(Duration::from_millis(1)))];
    let target = rotating_target(1, &receiver.url(), SECRET, &retiring);
    rig.submit(&target, 0);
    rig.outbox.wait_for_settled(1);
    // The second is over, with the same connection and the same keys.
    rig.clock.advance(Duration::from_millis(1));
    rig.submit(&target, 1);
    rig.outbox.wait_for_settled(2);
    rig.clock.advance(Duration::from_secs(10));
    rig.submit(&target, 2);
    rig.outbox.wait_for_settled(3);

    let requests = receiver.requests();
    let believed =
        requests.iter().map(|request| [SECRET, OLD, OLDER].map(|s| believes(s, request)));
    assert_eq!(
        believed.collect::<Vec<_>>(),
        [[true, true, true], [true, true, false], [true, false, false]]
    );
    assert_eq!(versions(&requests[0]), ["v1", "v1", "v1"]);
    for request in &requests {
        assert_eq!(request.headers["webhook-signature"], request.headers["x-service-signature"]);
    }
    let first = requests[0].headers["webhook-signature"].split(' ').next().unwrap();
    assert!(requests[0].headers["webhook-signature"].starts_with(first));
}

#[test]
fn the_services_own_signature_comes_last_and_needs_no_secret() {
    let receiver = Receiver::start(|_| OK);
    let signer = Signer::new();
    let service: Arc<dyn EventSigner> = Arc::<Signer>::clone(&signer);
    let rig = Rig::start_signing(settings(), service);
    let soon = NOW.plus(Duration::from_secs(10));
    rig.submit(&rotating_target(1, &receiver.url(), SECRET, &[(OLD, soon)]), 0);
    rig.outbox.wait_for_settled(1);

    let request = &receiver.requests()[0];
    assert_eq!(versions(request), ["v1", "v1", "v1a"]);
    assert!(believes(SECRET, request) && believes(OLD, request));
    assert_eq!(request.headers["webhook-signature"], request.headers["x-service-signature"]);
    let public = signer.0.public_key().as_ref();
    let key = VerifyingKey::from_bytes(public.try_into().unwrap()).unwrap();
    assert_eq!(verify_asymmetric(&key, &signed(request), &request.body, NOW), Ok(()));

    // And without any code of ours but the parts' order.
    let (_, entry) = request.headers["webhook-signature"].rsplit_once(" v1a,").unwrap();
    let signature =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, entry).unwrap();
    let (id, timestamp) = (&request.headers["webhook-id"], &request.headers["webhook-timestamp"]);
    let content = [id.as_bytes(), b".", timestamp.as_bytes(), b".", &request.body].concat();
    UnparsedPublicKey::new(&ED25519, public).verify(&content, &signature).unwrap();
}

#[test]
fn a_retiring_secret_that_cannot_be_read_stops_nothing() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    let target = rotating_target(1, &receiver.url(), SECRET, &[]);
    let until = NOW.plus(Duration::from_secs(10));
    let broken = RetiringSecret { secret: Wrapped(vec![1, 2, 3]), until };
    rig.submit(&Arc::new(Target { retiring: vec![broken], ..(*target).clone() }), 0);
    assert_eq!(rig.outbox.wait_for_settled(1)[0].outcome, Outcome::Succeeded);
    assert_eq!(versions(&receiver.requests()[0]), ["v1"]);
}
