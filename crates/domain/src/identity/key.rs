//! API keys and the state machine of their status. Each API key is one identity. Also the service's own keys, which
//! sign events and badges.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AccountId, ApiKeyId, Did, Handle, IssuerKeyId, Label, Plan, Timestamp, Wrapped,
    named_enum::named_enum,
};

named_enum! {
    /// The status of an API key.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum KeyStatus {
        /// The key can send and receive messages.
        Active = "active",
        /// An operator disabled the key. An operator can enable it again.
        Deactivated = "deactivated",
        /// The key was revoked permanently.
        Revoked = "revoked",
        /// The key cannot be used for a moment, because its sealing key (the key pair to which messages are encrypted)
        /// is being replaced.
        Rotating = "rotating",
    }
}

/// An event that changes the status of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEvent {
    /// An operator disables the key.
    Deactivate,
    /// The replacement of the sealing key ends: the new sealing key is stored.
    FinishRotation,
    /// An operator enables the key again.
    Reactivate,
    /// The owner or an operator revokes the key.
    Revoke,
    /// The replacement of the sealing key (the key pair to which messages are encrypted) begins.
    StartRotation,
}

impl KeyEvent {
    const fn participle(self) -> &'static str {
        match self {
            Self::Deactivate => "deactivated",
            Self::FinishRotation | Self::StartRotation => "rotated",
            Self::Reactivate => "reactivated",
            Self::Revoke => "revoked",
        }
    }
}

/// A change of status not allowed by the state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key in the state {from} cannot be {}", event.participle())]
pub struct IllegalTransition {
    /// The status before the event.
    pub from: KeyStatus,
    /// The rejected event.
    pub event: KeyEvent,
}

impl KeyStatus {
    /// Returns the status after `event`. Fails if the event is not allowed in the current status.
    pub fn apply(self, event: KeyEvent) -> Result<Self, IllegalTransition> {
        use {KeyEvent as E, KeyStatus as S};
        match (self, event) {
            (S::Active | S::Deactivated | S::Rotating, E::Revoke) => Ok(S::Revoked),
            (S::Active | S::Rotating, E::Deactivate) => Ok(S::Deactivated),
            (S::Deactivated, E::Reactivate) | (S::Rotating, E::FinishRotation) => Ok(S::Active),
            (S::Active, E::StartRotation) => Ok(S::Rotating),
            (from, event) => Err(IllegalTransition { from, event }),
        }
    }
}

impl fmt::Display for KeyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One identity: an API key with its DID.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// Public id of the API key, with the prefix `ak_`.
    pub id: ApiKeyId,
    /// The account that owns the key.
    pub account_id: AccountId,
    /// Display name, chosen by the owner.
    pub label: Label,
    /// The handle of the key. Revocation does not remove the handle. `None` if the key has no handle.
    pub handle: Option<Handle>,
    /// The `did:key` of the identity.
    pub did: Did,
    /// Status of the key.
    pub status: KeyStatus,
    /// The plan, which sets the limits of the key.
    pub plan: Plan,
    /// The encrypted root: the secret from which all keys of the identity derive. `None` after revocation, because
    /// revocation deletes the root.
    pub root: Option<Wrapped>,
    /// Version of the newest sealing key (the key pair to which messages are encrypted), from 1. Older versions still
    /// open older envelopes.
    pub sealing_version: u32,
    /// Time at which the key was created.
    pub created_at: Timestamp,
}

/// The ids of an API key and its account. Both are needed to decrypt the root of the key: the secret from which all
/// keys of the identity derive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnedKey {
    /// Id of the API key.
    pub id: ApiKeyId,
    /// The account that owns the key. A key never moves to another account.
    pub account_id: AccountId,
}

impl From<&ApiKey> for OwnedKey {
    fn from(key: &ApiKey) -> Self {
        Self { id: key.id, account_id: key.account_id }
    }
}

/// One issuer key of the service. Issuer keys are never deleted, so old signatures can still be verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerKey {
    /// Public id of the issuer key, with the prefix `iss_`.
    pub id: IssuerKeyId,
    /// The Ed25519 public key (RFC 8032).
    pub public_key: [u8; 32],
    /// The private key, encrypted by the wallet crate.
    pub secret: Wrapped,
    /// Time at which the key was created.
    pub created_at: Timestamp,
    /// The time from which the service signs with this key. The public key is published earlier, so that verifiers know
    /// the key before they receive its first signature.
    pub signs_from: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_transitions_exist() {
        use {KeyEvent as E, KeyStatus as S};
        let events = [E::Deactivate, E::FinishRotation, E::Reactivate, E::Revoke, E::StartRotation];
        for (from, to) in [
            (S::Active, [Some(S::Deactivated), None, None, Some(S::Revoked), Some(S::Rotating)]),
            (S::Deactivated, [None, None, Some(S::Active), Some(S::Revoked), None]),
            (S::Revoked, [None; 5]),
            (S::Rotating, [Some(S::Deactivated), Some(S::Active), None, Some(S::Revoked), None]),
        ] {
            assert_eq!(events.map(|event| from.apply(event).ok()), to, "{from}");
        }
    }
}
