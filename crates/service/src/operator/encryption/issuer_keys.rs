//! Lists and rotates the service's own keys, which sign events and credentials.

use sealpost_domain::{IssuerKey, IssuerKeyId, Timestamp};
use sealpost_wallet::{IssuerPublicKey, Keyring};
use serde::Serialize;
use serde_json::json;

use crate::acts::audited::{ActionRecord, Concerned, Operator, OperatorError};
use crate::issuer::signer::{ANNOUNCED_FOR, KEYS_MAX, fresh_key};

/// One of the service's own keys, as operators see it.
#[derive(Debug, Clone, Serialize)]
pub struct IssuerKeyView {
    /// Id of the key.
    pub issuer_key_id: IssuerKeyId,
    /// Id of the key in the DID document.
    pub kid: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time from which the key signs.
    pub signs_from: Timestamp,
    /// The phase of the key: announced (not used yet), signing, or past (replaced).
    pub status: IssuerKeyStatus,
    /// The public key in the format of Standard Webhooks.
    pub whpk: String,
}

/// The phase of an issuer key (signing key of the service). The DID document contains the keys of all phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssuerKeyStatus {
    /// The key is published, but does not sign yet.
    Announced,
    /// A newer key signs. Existing signatures of this key stay valid.
    Past,
    /// The key signs.
    Signing,
}

impl Operator {
    /// Returns all issuer keys, in the order of the times from which they sign.
    pub fn issuer_keys(&self) -> Result<Vec<IssuerKeyView>, OperatorError> {
        Ok(show(&self.store.read(sealpost_storage::Reader::issuer_keys)?, self.clock.now()))
    }

    /// Adds an issuer key. The key signs only after a delay, so that all nodes can load it first.
    pub fn rotate_issuer(&self, keyring: &Keyring) -> Result<IssuerKeyView, OperatorError> {
        let now = self.clock.now();
        let fresh = fresh_key(keyring, now, ANNOUNCED_FOR)?;
        self.perform(|tx| {
            let keys = tx.lock_issuer_keys()?;
            if keys.len() >= KEYS_MAX {
                return Err(OperatorError::IssuerKeysFull.into());
            }
            let mut key = fresh.clone();
            if let Some(newest) = keys.last() {
                // The key never signs before its predecessor, even if the clocks of nodes differ.
                key.signs_from = key.signs_from.max(newest.signs_from);
            }
            tx.insert_issuer_key(&key)?;
            let shown = IssuerKeyView::new(&key, IssuerKeyStatus::Announced);
            let detail = json!({"kid": shown.kid, "signs_from": shown.signs_from});
            let record = ActionRecord::new("issuer.rotate", &key.id, Concerned::Service, detail);
            Ok((shown, record))
        })
    }
}

fn show(keys: &[IssuerKey], now: Timestamp) -> Vec<IssuerKeyView> {
    let signing = keys.iter().rposition(|key| key.signs_from <= now).unwrap_or_default();
    let status = |index: usize| match index.cmp(&signing) {
        std::cmp::Ordering::Less => IssuerKeyStatus::Past,
        std::cmp::Ordering::Equal => IssuerKeyStatus::Signing,
        std::cmp::Ordering::Greater => IssuerKeyStatus::Announced,
    };
    keys.iter().enumerate().map(|(index, key)| IssuerKeyView::new(key, status(index))).collect()
}

impl IssuerKeyView {
    fn new(key: &IssuerKey, status: IssuerKeyStatus) -> Self {
        let public_key = IssuerPublicKey(key.public_key);
        Self {
            issuer_key_id: key.id,
            kid: public_key.thumbprint(),
            created_at: key.created_at,
            signs_from: key.signs_from,
            status,
            whpk: public_key.whpk(),
        }
    }
}
