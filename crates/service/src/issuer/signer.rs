//! The issuer, which signs events and credentials with the service's own keys.
//!
//! The keys are few and never change, so each node keeps them decrypted in memory. A new key is published at once, but
//! signs only some seconds later, when every node has loaded it.

use std::{io, sync::Arc, time::Duration};

use parking_lot::RwLock;
use sealpost_domain::{
    Clock, Did, IssuerKey, IssuerKeyId, Timestamp,
    ports::{Durability, EventSigner, StoreError},
    with_causes,
};
use sealpost_storage::{Database, Transaction};
use sealpost_wallet::{IssuerSecret, Keyring, WalletError, random, verify_credential};
use serde::Serialize;

use super::did_document::{self, DidDocument};
use crate::{error::Error, periodic_thread::PeriodicThread};

/// Signs events and credentials, and publishes the public keys of the service.
pub struct Issuer {
    store: Arc<Database>,
    keyring: Arc<Keyring>,
    clock: Arc<dyn Clock>,
    did: Did,
    keys: RwLock<Arc<Keys>>,
}

/// All loaded keys, in the order of the times from which they sign. Never empty.
struct Keys {
    first: Arc<SigningKey>,
    later: Vec<Arc<SigningKey>>,
}

/// A decrypted issuer key (signing key of the service).
struct SigningKey {
    id: IssuerKeyId,
    secret: IssuerSecret,
    signs_from: Timestamp,
}

impl Issuer {
    /// Loads all issuer keys, and creates the first issuer key if the database has none. `did` is the DID of the
    /// service. Must be called after [`unlock`](crate::unlock). Blocks the thread.
    pub fn open(
        store: Arc<Database>,
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        did: Did,
    ) -> Result<Self, Error> {
        let fresh = fresh_key(&keyring, clock.now(), Duration::ZERO)?;
        let rows = store.write(Durability::Durable, |tx| ensure_one(tx, &fresh))?;
        let keys = RwLock::new(Arc::new(decrypt_all(&keyring, None, rows)?));
        Ok(Self { store, keyring, clock, did, keys })
    }

    /// Loads the keys that were added to the database since the last call. Blocks the thread.
    pub fn refresh(&self) -> Result<(), Error> {
        let rows = self.store.read(sealpost_storage::Reader::issuer_keys)?;
        let loaded = self.keys();
        if rows.len() == loaded.all().count() {
            return Ok(());
        }
        let keys = Arc::new(decrypt_all(&self.keyring, Some(&loaded), rows)?);
        *self.keys.write() = keys;
        Ok(())
    }

    /// Returns the DID document of the service. It contains replaced keys, the signing key, and keys that will sign
    /// later.
    pub fn did_document(&self) -> DidDocument {
        let keys = self.keys();
        let public: Vec<_> = keys.all().map(|key| key.secret.public_key()).collect();
        DidDocument::new(&self.did, &public)
    }

    /// Signs a credential with the current key, and returns a JWT.
    pub(crate) fn sign_credential(
        &self,
        credential: &impl Serialize,
    ) -> Result<String, WalletError> {
        let keys = self.keys();
        let secret = &keys.signing(self.clock.now()).secret;
        secret.sign_credential(&did_document::key_id(&self.did, secret.public_key()), credential)
    }

    /// Returns the claims of a credential if one of the service's keys signed it, and otherwise `None`. Does not
    /// compare the DID of the signer: it contains the base URL, which can differ between nodes and change.
    pub(crate) fn verify_credential(&self, credential: &str) -> Option<Vec<u8>> {
        let keys = self.keys();
        verify_credential(credential, |kid| {
            let (_did, thumbprint) = kid.rsplit_once('#')?;
            let mut publics = keys.all().map(|key| key.secret.public_key());
            publics.find(|public| public.thumbprint() == thumbprint)
        })
    }

    /// Returns the id of the first key, from which the signing key of a new transparency log is derived.
    pub(crate) fn first_key(&self) -> IssuerKeyId {
        self.keys().first.id
    }

    /// Derives the key that signs the transparency log from the issuer key `id`.
    pub(crate) fn log_secret(&self, id: &IssuerKeyId) -> Result<IssuerSecret, Error> {
        let keys = self.keys();
        let key = keys.all().find(|key| key.id == *id);
        let key = key.ok_or(StoreError::Corrupt("issuer key of the transparency log"))?;
        Ok(key.secret.log_secret()?)
    }

    /// Returns the DID of the service.
    pub fn did(&self) -> &Did {
        &self.did
    }

    fn keys(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read())
    }
}

impl EventSigner for Issuer {
    fn sign_event(&self, content: &[u8]) -> [u8; 64] {
        self.keys().signing(self.clock.now()).secret.sign(content)
    }
}

impl Keys {
    fn all(&self) -> impl Iterator<Item = &Arc<SigningKey>> {
        std::iter::once(&self.first).chain(&self.later)
    }

    /// Returns the newest key that may sign at `now`. Returns the first key if no key may sign yet, which happens only
    /// if the clock of this node is behind.
    fn signing(&self, now: Timestamp) -> &Arc<SigningKey> {
        self.later.iter().rev().find(|key| key.signs_from <= now).unwrap_or(&self.first)
    }
}

/// Generates an issuer key. The service signs with this key after `delay` has passed since `now`.
pub(crate) fn fresh_key(
    keyring: &Keyring,
    now: Timestamp,
    delay: Duration,
) -> Result<IssuerKey, WalletError> {
    let (id, secret) = (IssuerKeyId::new(now, random()?), IssuerSecret::generate()?);
    Ok(IssuerKey {
        id,
        public_key: secret.public_key().0,
        secret: secret.wrap(keyring, &id)?,
        created_at: now,
        signs_from: now.plus(delay),
    })
}

/// Returns all issuer keys. If the database has none, first inserts `fresh`. If several nodes start at the same time,
/// only one of them inserts its key.
fn ensure_one(tx: &mut Transaction, fresh: &IssuerKey) -> Result<Vec<IssuerKey>, StoreError> {
    let keys = tx.lock_issuer_keys()?;
    if !keys.is_empty() {
        return Ok(keys);
    }
    tx.insert_issuer_key(fresh)?;
    Ok(vec![fresh.clone()])
}

/// Decrypts the rows of keys that are not loaded yet, and combines them with the loaded keys.
fn decrypt_all(
    keyring: &Keyring,
    loaded: Option<&Keys>,
    rows: Vec<IssuerKey>,
) -> Result<Keys, Error> {
    let same = |id| loaded.and_then(|keys| keys.all().find(|key| key.id == id));
    let mut keys = rows.into_iter().map(|row| match same(row.id) {
        Some(key) => Ok(Arc::clone(key)),
        None => SigningKey::decrypt(keyring, &row).map(Arc::new),
    });
    let first = keys.next().ok_or(StoreError::Corrupt("list of issuer keys"))??;
    Ok(Keys { first, later: keys.collect::<Result<_, _>>()? })
}

impl SigningKey {
    /// Decrypts a key. Rejects a row whose public key does not match its private key. Otherwise an attacker who can
    /// write to the database could publish a public key of their own.
    fn decrypt(keyring: &Keyring, row: &IssuerKey) -> Result<Self, Error> {
        let secret = IssuerSecret::unwrap(keyring, &row.id, &row.secret)?;
        if secret.public_key().0 != row.public_key {
            return Err(StoreError::Corrupt("issuer key").into());
        }
        Ok(Self { id: row.id, secret, signs_from: row.signs_from })
    }
}

/// Time between the publication of a key and its first signature. During this time, all nodes load the key, and cached
/// DID documents without the key expire. The time includes a margin for differing clocks.
pub(crate) const ANNOUNCED_FOR: Duration = Duration::from_secs(10);
/// Maximum number of keys, which limits the size of the DID document.
pub(crate) const KEYS_MAX: usize = 100;

/// Starts the thread that loads new issuer keys (signing keys of the service) every two seconds.
pub fn refresh_issuer(issuer: Arc<Issuer>) -> io::Result<PeriodicThread> {
    let mut has_failed = false;
    PeriodicThread::start("issuer", [REFRESH_EVERY; 2], move |_| {
        has_failed = refresh(&issuer, has_failed);
    })
}

/// Loads new keys. Returns true if this failed. Logs only the first of consecutive failures.
fn refresh(issuer: &Issuer, had_failed: bool) -> bool {
    let Err(error) = issuer.refresh() else { return false };
    if !had_failed {
        tracing::warn!(
            error = with_causes(&error),
            "new issuer keys cannot be loaded; the loaded ones stay in use"
        );
    }
    true
}

const REFRESH_EVERY: Duration = Duration::from_secs(2);
