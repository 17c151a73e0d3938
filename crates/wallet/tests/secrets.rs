//! Tests that stored secrets decrypt only in their own row and under their own key. Also tests that secrets never
//! appear in `Debug` output.
#![expect(clippy::unwrap_used, reason = "a test fails if its setup fails")]

use base64::{Engine, engine::general_purpose::STANDARD};
use sealpost_domain::{AccountId, ApiKeyId, OwnedKey, Suite, Timestamp, WebhookId, Wrapped};
use sealpost_wallet::{
    Identity, IssuerSecret, Keyring, LoginSecret, Root, SessionToken, WalletError, WebhookSecret,
    kek_version,
};

const KEK: [u8; 32] = *b"thirty-two bytes of a known key!";

fn keyring() -> Keyring {
    Keyring::parse(&format!("1:{}", STANDARD.encode(KEK))).unwrap()
}

fn api_key(n: u8) -> OwnedKey {
    let now = Timestamp::from_millis(1);
    OwnedKey { id: ApiKeyId::new(now, [n; 10]), account_id: AccountId::new(now, [7; 10]) }
}

fn webhook(n: u8) -> WebhookId {
    WebhookId::new(Timestamp::from_millis(1), [n; 10])
}

#[test]
fn an_identity_is_restored_from_its_wrapped_root() {
    let root = Root::generate().unwrap();
    let wrapped = root.wrap(&keyring(), &api_key(1)).unwrap();
    let before = Identity::new(root).unwrap();
    let after = Root::unwrap(&keyring(), &api_key(1), &wrapped).and_then(Identity::new).unwrap();
    assert_eq!(before.did(), after.did());
    for suite in [Suite::Classic, Suite::Hybrid] {
        let key = |identity: &Identity| identity.sealing_public_key(suite, 1).unwrap().to_bytes();
        assert_eq!(key(&before), key(&after));
    }
}

#[test]
fn secrets_unwrap_only_in_their_row_table_and_column() {
    let keyring = keyring();
    let root = Root::generate().unwrap().wrap(&keyring, &api_key(1)).unwrap();
    let refused = Root::unwrap(&keyring, &api_key(2), &root).map(|_| ());
    assert_eq!(refused, Err(WalletError::NotDecryptable));

    let account_id = AccountId::new(Timestamp::from_millis(1), [8; 10]);
    let stolen = OwnedKey { account_id, ..api_key(1) };
    let refused = Root::unwrap(&keyring, &stolen, &root).map(|_| ());
    assert_eq!(refused, Err(WalletError::NotDecryptable));
    assert_eq!(Root::adopt(&keyring, &stolen, &root).unwrap_err(), WalletError::NotDecryptable);
    assert_eq!(Root::adopt(&keyring, &api_key(1), &root), Ok(None));

    let secret = WebhookSecret::generate().unwrap();
    let wrapped = secret.wrap(&keyring, &webhook(1)).unwrap();
    let unwrapped = WebhookSecret::unwrap(&keyring, &webhook(1), &wrapped).unwrap();
    assert_eq!(unwrapped.bytes(), secret.bytes());
    assert!(WebhookSecret::unwrap(&keyring, &webhook(2), &wrapped).is_err());

    // The ids have the same bytes and the secrets the same length, so only the table differs.
    assert_eq!(api_key(1).id.as_bytes(), webhook(1).as_bytes());
    assert!(WebhookSecret::unwrap(&keyring, &webhook(1), &root).is_err());
    assert!(Root::unwrap(&keyring, &api_key(1), &wrapped).is_err());
}

#[test]
fn a_secret_survives_the_rotation_of_its_key() {
    let (old, id) = (keyring(), webhook(1));
    let secret = WebhookSecret::generate().unwrap();
    let wrapped = secret.wrap(&old, &id).unwrap();
    let fresh = Keyring::fresh_line(2).unwrap();
    let both = Keyring::parse(&format!("1:{}\n{}", STANDARD.encode(KEK), *fresh)).unwrap();
    let rewrapped = WebhookSecret::unwrap(&both, &id, &wrapped).unwrap().wrap(&both, &id).unwrap();
    assert_eq!((kek_version(&wrapped), kek_version(&rewrapped)), (Some(1), Some(2)));

    let new = Keyring::parse(&fresh).unwrap();
    assert_eq!(WebhookSecret::unwrap(&new, &id, &rewrapped).unwrap().bytes(), secret.bytes());
    let gone = WebhookSecret::unwrap(&new, &id, &wrapped).map(|_| ());
    assert_eq!(gone, Err(WalletError::UnknownKekVersion { version: 1 }));
}

/// Tests that a changed key version in an encrypted secret is detected. The version is not encrypted, but
/// authenticated.
#[test]
fn a_changed_kek_version_is_detected() {
    let twice = STANDARD.encode(KEK);
    let keyring = Keyring::parse(&format!("1:{twice},2:{twice}")).unwrap();
    let Wrapped(mut blob) = Root::generate().unwrap().wrap(&keyring, &api_key(1)).unwrap();
    assert_eq!(blob[..5], [1, 0, 0, 0, 2]);
    blob[4] = 1;
    let refused = Root::unwrap(&keyring, &api_key(1), &Wrapped(blob)).map(|_| ());
    assert_eq!(refused, Err(WalletError::NotDecryptable));
}

#[test]
fn a_root_of_another_length_is_rejected() {
    let root = Root::generate().unwrap().wrap(&keyring(), &api_key(1)).unwrap();
    let Wrapped(mut cut) = root;
    cut.pop();
    assert!(Root::unwrap(&keyring(), &api_key(1), &Wrapped(cut)).is_err());
}

#[test]
fn no_debug_output_shows_a_secret() {
    let root = Root::generate().unwrap();
    assert_eq!(format!("{root:?}"), "Root(..)");
    let identity = Identity::new(root).unwrap();
    assert_eq!(format!("{identity:?} {identity:#?}"), "Identity(..) Identity(..)");
    assert_eq!(format!("{:?}", keyring()), "Keyring { versions: [1], .. }");
    assert_eq!(format!("{:?}", WebhookSecret::generate().unwrap()), "WebhookSecret(..)");
    assert_eq!(format!("{:?}", IssuerSecret::generate().unwrap()), "IssuerSecret(..)");
    let token = SessionToken::generate().unwrap();
    assert_eq!(format!("{token:?} {:?}", token.hash()), "SessionToken(..) TokenHash(..)");
    assert_eq!(format!("{:?}", LoginSecret::generate().unwrap()), "LoginSecret(..)");
    let public = identity.sealing_public_key(Suite::Hybrid, 4).unwrap();
    assert_eq!(format!("{public:?}"), "SealingPublicKey { suite: Hybrid, version: 4, .. }");
}
