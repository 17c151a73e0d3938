//! The issuer: what this node knows of the service's own keys. They are few and never change, so that they are kept
//! decrypted; a key that an operator adds is published at once and signs a little later, when every node knows it.

mod document;
mod refresher;

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use sealpost_domain::{
    Clock, Did, IssuerKey, IssuerKeyId, Timestamp,
    ports::{Durability, EventSigner, Store, StoreError, Tx},
};
use sealpost_wallet::{IssuerSecret, Keyring, WalletError, random, verify_credential};
use serde::Serialize;

use crate::Error;

pub use document::DidDocument;
pub use refresher::Refresher;

/// The service in its own name: it signs notices and credentials, and publishes by which keys.
pub struct Issuer {
    store: Arc<dyn Store>,
    keyring: Arc<Keyring>,
    clock: Arc<dyn Clock>,
    did: Did,
    known: RwLock<Arc<Keys>>,
}

/// Every key, in the order in which they sign. There is always one.
struct Keys {
    first: Arc<Known>,
    later: Vec<Arc<Known>>,
}

/// One key, decrypted.
struct Known {
    id: IssuerKeyId,
    secret: IssuerSecret,
    signs_from: Timestamp,
}

impl Issuer {
    /// Reads the keys; makes the first where there is none. `did` is the service's name, under which the keys are
    /// published. [`unlock`](crate::unlock) the database first.
    pub fn open(
        store: Arc<dyn Store>,
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        did: Did,
    ) -> Result<Self, Error> {
        let fresh = fresh_key(&keyring, clock.now(), Duration::ZERO)?;
        let rows = store.write(Durability::Durable, |tx| ensure_one(tx, &fresh))?;
        let known = RwLock::new(Arc::new(read(&keyring, None, rows)?));
        Ok(Self { store, keyring, clock, did, known })
    }

    /// Learns the keys that were added meanwhile.
    pub fn refresh(&self) -> Result<(), Error> {
        let rows = self.store.lookup()?.issuer_keys()?;
        let known = self.keys();
        if rows.len() == known.all().count() {
            return Ok(());
        }
        let keys = Arc::new(read(&self.keyring, Some(&known), rows)?);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }

    /// What `did.json` says: the service's name and every key that it has signed with, or is about to.
    pub fn did_document(&self) -> DidDocument {
        let keys = self.keys();
        DidDocument::new(&self.did, keys.all().map(|key| key.secret.public_key()))
    }

    /// Signs a credential with the key that signs now.
    pub(crate) fn sign_credential(
        &self,
        credential: &impl Serialize,
    ) -> Result<String, WalletError> {
        let keys = self.keys();
        let secret = &keys.signing(self.clock.now()).secret;
        secret.sign_credential(&document::key_id(&self.did, secret.public_key()), credential)
    }

    /// What a credential says that one of our keys signed, old ones included.
    pub(crate) fn verify_credential(&self, credential: &str) -> Option<Vec<u8>> {
        let keys = self.keys();
        verify_credential(credential, |kid| {
            let mut publics = keys.all().map(|key| key.secret.public_key());
            publics.find(|public| document::key_id(&self.did, *public) == kid)
        })
    }

    /// The service's own name.
    pub fn did(&self) -> &Did {
        &self.did
    }

    fn keys(&self) -> Arc<Keys> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventSigner for Issuer {
    fn sign_event(&self, content: &[u8]) -> [u8; 64] {
        self.keys().signing(self.clock.now()).secret.sign(content)
    }
}

impl Keys {
    fn all(&self) -> impl Iterator<Item = &Arc<Known>> {
        std::iter::once(&self.first).chain(&self.later)
    }

    /// The newest whose time has come. The first signs also before: on a node whose clock is behind.
    fn signing(&self, now: Timestamp) -> &Arc<Known> {
        self.later.iter().rev().find(|key| key.signs_from <= now).unwrap_or(&self.first)
    }
}

/// A key that signs from `ahead` of `now` on.
pub(crate) fn fresh_key(
    keyring: &Keyring,
    now: Timestamp,
    ahead: Duration,
) -> Result<IssuerKey, WalletError> {
    let (id, secret) = (IssuerKeyId::new(now, random()?), IssuerSecret::generate()?);
    Ok(IssuerKey {
        id,
        public_key: secret.public_key().0,
        secret: secret.wrap(keyring, &id)?,
        created_at: now,
        signs_from: now.plus(ahead),
    })
}

/// Of several nodes that start at once one makes the key.
fn ensure_one(tx: &mut dyn Tx, fresh: &IssuerKey) -> Result<Vec<IssuerKey>, StoreError> {
    let keys = tx.lock_issuer_keys()?;
    if !keys.is_empty() {
        return Ok(keys);
    }
    tx.insert_issuer_key(fresh)?;
    Ok(vec![fresh.clone()])
}

/// Decrypts what is not known yet.
fn read(keyring: &Keyring, known: Option<&Keys>, rows: Vec<IssuerKey>) -> Result<Keys, Error> {
    let same = |id| known.and_then(|keys| keys.all().find(|key| key.id == id));
    let mut keys = rows.into_iter().map(|row| match same(row.id) {
        Some(key) => Ok(Arc::clone(key)),
        None => Known::decrypt(keyring, &row).map(Arc::new),
    });
    let first = keys.next().ok_or(StoreError::Corrupt("list of issuer keys"))??;
    Ok(Keys { first, later: keys.collect::<Result<_, _>>()? })
}

impl Known {
    /// What is published comes from the secret: nobody who can write to the database slips in a key of their own.
    fn decrypt(keyring: &Keyring, row: &IssuerKey) -> Result<Self, Error> {
        let secret = IssuerSecret::unwrap(keyring, &row.id, &row.secret)?;
        if secret.public_key().0 != row.public_key {
            return Err(StoreError::Corrupt("issuer key").into());
        }
        Ok(Self { id: row.id, secret, signs_from: row.signs_from })
    }
}

/// How long a new key is published before it signs: longer than all nodes need to learn it and than the document may be
/// cached, with room for clocks that disagree.
pub(crate) const ANNOUNCED_FOR: Duration = Duration::from_secs(10);
/// How many keys there may be, so that the document stays small.
pub(crate) const KEYS_MAX: usize = 100;
