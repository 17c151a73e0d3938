//! The service's own keys.

use sealpost_domain::{IssuerKey, IssuerKeyId, Timestamp};
use sealpost_wallet::{IssuerPublicKey, Keyring};
use serde::Serialize;
use serde_json::json;

use super::{Deed, Operator, OperatorError};
use crate::issuer::{ANNOUNCED_FOR, KEYS_MAX, fresh_key};

/// An issuer key as operators see it.
#[derive(Debug, Clone, Serialize)]
pub struct IssuerKeyShown {
    /// Its id.
    pub issuer_key_id: IssuerKeyId,
    /// Its name in the DID document.
    pub kid: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it signs.
    pub signs_from: Timestamp,
    /// Whether it signs now.
    pub status: IssuerKeyStatus,
    /// Its public half, as receivers of notices take it.
    pub whpk: String,
}

/// Where an issuer key stands. Each is in the DID document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssuerKeyStatus {
    /// Its time has not come.
    Announced,
    /// A newer one signs; what it signed goes on to verify.
    Past,
    /// It signs.
    Signing,
}

impl Operator {
    /// Every issuer key, in the order in which they sign.
    pub fn issuer_keys(&self) -> Result<Vec<IssuerKeyShown>, OperatorError> {
        Ok(show(&self.store.lookup()?.issuer_keys()?, self.clock.now()))
    }

    /// Adds an issuer key, which signs as soon as every node can have learned it.
    pub fn rotate_issuer(&self, keyring: &Keyring) -> Result<IssuerKeyShown, OperatorError> {
        let now = self.clock.now();
        let fresh = fresh_key(keyring, now, ANNOUNCED_FOR)?;
        self.act(|tx| {
            let keys = tx.lock_issuer_keys()?;
            if keys.len() >= KEYS_MAX {
                return Ok(Err(FULL));
            }
            let mut key = fresh.clone();
            if let Some(newest) = keys.last() {
                // After the one before it, also where clocks disagree.
                key.signs_from = key.signs_from.max(newest.signs_from);
            }
            tx.insert_issuer_key(&key)?;
            let shown = IssuerKeyShown::new(&key, IssuerKeyStatus::Announced);
            let detail = json!({"kid": shown.kid, "signs_from": shown.signs_from});
            let deed = Deed { action: "issuer.rotate", subject: key.id.to_string(), detail };
            Ok(Ok((shown, deed)))
        })
    }
}

fn show(keys: &[IssuerKey], now: Timestamp) -> Vec<IssuerKeyShown> {
    let signing = keys.iter().rposition(|key| key.signs_from <= now).unwrap_or_default();
    let status = |index: usize| match index.cmp(&signing) {
        std::cmp::Ordering::Less => IssuerKeyStatus::Past,
        std::cmp::Ordering::Equal => IssuerKeyStatus::Signing,
        std::cmp::Ordering::Greater => IssuerKeyStatus::Announced,
    };
    keys.iter().enumerate().map(|(index, key)| IssuerKeyShown::new(key, status(index))).collect()
}

impl IssuerKeyShown {
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

const FULL: OperatorError =
    OperatorError::Pointless("there are 100 issuer keys, and more are not published");
