//! Tests of the service's own signing keys: creation, publication and rotation.

use std::{sync::Arc, time::Duration};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ed25519_dalek::{Signature, VerifyingKey};
use sealpost_domain::{
    Did,
    ports::{Durability, EventSigner},
};
use sealpost_service::{Error, Issuer, IssuerKeyStatus as Status};
use sealpost_storage::Database;
use sealpost_wallet::{Keyring, public_key_of};
use serde_json::{Value, json};

use crate::support::{TestClock, World};

fn open(world: &World) -> Result<Issuer, Error> {
    let store = Arc::<Database>::clone(&world.database);
    let clock = Arc::<TestClock>::clone(&world.clock);
    let did = Did::web("seal.example.org", "");
    Issuer::open(store, Arc::clone(&world.keyring), clock, did)
}

/// Returns the public keys in the DID document of the service, and checks the form of the document: each key is a JSON Web
/// Key, and again a Multikey.
fn published(issuer: &Issuer) -> Vec<VerifyingKey> {
    let document = json!(issuer.did_document());
    assert_eq!(document["id"], "did:web:seal.example.org");
    let methods = document["verificationMethod"].as_array().unwrap();
    let ids: Vec<&Value> = methods.iter().map(|method| &method["id"]).collect();
    assert_eq!(json!(ids), document["assertionMethod"]);
    let (jwks, multikeys) = methods.split_at(methods.len() / 2);
    let key = |(method, multikey): (&Value, &Value)| {
        let jwk = &method["publicKeyJwk"];
        assert_eq!((&jwk["kty"], &jwk["crv"]), (&json!("OKP"), &json!("Ed25519")));
        let id = format!("did:web:seal.example.org#{}", jwk["kid"].as_str().unwrap());
        assert_eq!(method["id"], id);
        assert_eq!(
            (&method["type"], &method["controller"]),
            (&json!("JsonWebKey"), &document["id"])
        );
        assert_eq!(jwk.as_object().unwrap().len(), 4, "nothing private: {jwk}");
        let x = URL_SAFE_NO_PAD.decode(jwk["x"].as_str().unwrap()).unwrap();
        assert_eq!(method["standardWebhooksKey"], format!("whpk_{}", STANDARD.encode(&x)));
        let multibase = multikey["publicKeyMultibase"].as_str().unwrap();
        let did = Did::new(format!("did:key:{multibase}"));
        assert_eq!(&public_key_of(&did).unwrap()[..], x);
        let expected = json!({
            "id": format!("did:web:seal.example.org#{multibase}"),
            "type": "Multikey",
            "controller": document["id"],
            "publicKeyMultibase": multibase,
            "standardWebhooksKey": method["standardWebhooksKey"],
        });
        assert_eq!(*multikey, expected);
        VerifyingKey::from_bytes(&x.try_into().unwrap()).unwrap()
    };
    jwks.iter().zip(multikeys).map(key).collect()
}

/// Returns the index of the published key that signs at present.
fn signing(issuer: &Issuer) -> usize {
    let signature = Signature::from_bytes(&issuer.sign_event(b"content"));
    let keys = published(issuer);
    let holds = |key: &VerifyingKey| key.verify_strict(b"content", &signature).is_ok();
    keys.iter().position(holds).expect("a published key signs")
}

#[test]
fn every_start_loads_the_key_of_the_first_start() {
    let world = World::new();
    let (first, second) = (open(&world).unwrap(), open(&world).unwrap());
    assert_eq!(published(&first).len(), 1);
    assert_eq!(published(&first), published(&second));
    assert_eq!((signing(&first), signing(&second)), (0, 0));
}

#[test]
fn a_new_key_is_published_at_once_and_signs_later() {
    let world = World::new();
    let (here, there) = (open(&world).unwrap(), open(&world).unwrap());
    let statuses = || {
        let keys = world.operator().issuer_keys().unwrap();
        keys.iter().map(|key| key.status).collect::<Vec<_>>()
    };
    let fresh = world.operator().rotate_issuer(&world.keyring).unwrap();
    assert_eq!(fresh.status, Status::Announced);
    for node in [&here, &there] {
        node.refresh().unwrap();
        assert_eq!((published(node).len(), signing(node)), (2, 0));
    }
    assert_eq!(statuses(), [Status::Signing, Status::Announced]);
    let ahead = fresh.signs_from.since(fresh.created_at);
    assert!(
        ahead >= Duration::from_secs(8),
        "every node looks every 2 s and the document lives 3 s"
    );
    let last = Duration::from_millis(1);
    world.clock.advance(ahead.saturating_sub(last));
    assert_eq!(signing(&here), 0);
    world.clock.advance(last);
    for node in [&here, &there] {
        assert_eq!((published(node).len(), signing(node)), (2, 1));
    }
    assert_eq!(statuses(), [Status::Past, Status::Signing]);
    let trail = world.operator().audit_entries(0, 9).unwrap();
    assert_eq!(
        (trail[0].action.as_str(), trail[0].subject.clone()),
        ("issuer.rotate", fresh.issuer_key_id.to_string())
    );
}

#[test]
fn keys_survive_a_new_key_encryption_key() {
    let world = World::new();
    let before = published(&open(&world).unwrap());
    let newer = Keyring::parse(&Keyring::fresh_line(2).unwrap()).unwrap();
    world.keyring.add_versions(newer);
    let done = world.operator().rewrap(&world.keyring, &mut |_| {}).unwrap();
    assert_eq!((done.version, done.issuer_keys), (2, 1));
    assert_eq!(published(&open(&world).unwrap()), before);
    let again = world.operator().rewrap(&world.keyring, &mut |_| {}).unwrap();
    assert_eq!(again.issuer_keys, 0);
}

#[test]
fn the_number_of_keys_is_bounded() {
    let world = World::new();
    let rotate = || world.operator().rotate_issuer(&world.keyring);
    for _ in 1..100 {
        rotate().unwrap();
    }
    let full = rotate().unwrap_err().to_string();
    assert_eq!(full, "there are 100 issuer keys already, which is the maximum");
}

#[test]
fn a_replaced_public_key_is_not_published() {
    let world = World::new();
    let issuer = open(&world).unwrap();
    world.operator().rotate_issuer(&world.keyring).unwrap();
    let mut keys = world.database.read(sealpost_storage::Reader::issuer_keys).unwrap();
    let mut forged = keys.pop().unwrap();
    forged.id = sealpost_domain::IssuerKeyId::new(forged.created_at, [7; 10]);
    let store: &Database = &world.database;
    store.write(Durability::Durable, |tx| tx.insert_issuer_key(&forged)).unwrap();
    assert!(issuer.refresh().is_err(), "a secret decrypts in its own row alone");
    assert_eq!(published(&issuer).len(), 1, "what was known goes on");
    assert!(open(&world).is_err());
}
