//! API keys and their states. Each key is one identity.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{AccountId, ApiKeyId, Did, Handle, Label, Plan, Timestamp, Wrapped};

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// The key can send and receive.
    Active,
    /// An operator disabled the key.
    Deactivated,
    /// The key was revoked permanently.
    Revoked,
    /// The key is paused while its sealing key is replaced.
    Rotating,
}

/// An event that changes the state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEvent {
    /// An operator disables the key.
    Deactivate,
    /// The new sealing key is in place.
    FinishRotation,
    /// An operator enables the key again.
    Reactivate,
    /// The owner or an operator revokes the key.
    Revoke,
    /// The replacement of the sealing key begins.
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

/// A transition that the state machine does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key in the state {from} cannot be {}", event.participle())]
pub struct IllegalTransition {
    /// Current state.
    pub from: KeyStatus,
    /// Rejected event.
    pub event: KeyEvent,
}

impl KeyStatus {
    /// Returns the state after `event`. Fails for every transition that the state machine does not list.
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

    /// Returns the name used in JSON, SQL and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deactivated => "deactivated",
            Self::Revoked => "revoked",
            Self::Rotating => "rotating",
        }
    }

    /// Parses the name used in JSON, SQL and logs.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Active, Self::Deactivated, Self::Revoked, Self::Rotating]
            .into_iter()
            .find(|state| state.as_str() == name)
    }
}

impl fmt::Display for KeyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One identity: an API key and its DID.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// Public id, prefix `ak_`.
    pub id: ApiKeyId,
    /// The owning account.
    pub account_id: AccountId,
    /// Display name.
    pub label: Label,
    /// The handle given at activation. It stays on record after revocation.
    pub handle: Option<Handle>,
    /// The identity's `did:key`.
    pub did: Did,
    /// State of the key.
    pub status: KeyStatus,
    /// Plan with the limits of the key.
    pub plan: Plan,
    /// The identity's root, encrypted. Revocation deletes it and leaves `None`.
    pub root: Option<Wrapped>,
    /// Version of the newest sealing key, from 1. Older versions still open envelopes.
    pub sealing_version: u32,
    /// Time of activation.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [KeyStatus; 4] =
        [KeyStatus::Active, KeyStatus::Deactivated, KeyStatus::Revoked, KeyStatus::Rotating];
    const EVENTS: [KeyEvent; 5] = [
        KeyEvent::Deactivate,
        KeyEvent::FinishRotation,
        KeyEvent::Reactivate,
        KeyEvent::Revoke,
        KeyEvent::StartRotation,
    ];

    #[test]
    fn no_event_leaves_the_revoked_state() {
        for event in EVENTS {
            assert!(KeyStatus::Revoked.apply(event).is_err(), "{event:?}");
        }
    }

    #[test]
    fn every_other_state_can_be_revoked() {
        for state in STATES.into_iter().filter(|state| *state != KeyStatus::Revoked) {
            assert_eq!(state.apply(KeyEvent::Revoke), Ok(KeyStatus::Revoked));
        }
    }

    #[test]
    fn only_the_listed_transitions_exist() {
        let legal = STATES
            .into_iter()
            .flat_map(|state| EVENTS.map(|event| state.apply(event)))
            .flatten()
            .count();
        assert_eq!(legal, 8);
    }

    #[test]
    fn state_names_survive_parsing() {
        for state in STATES {
            assert_eq!(KeyStatus::from_name(state.as_str()), Some(state));
        }
        assert_eq!(KeyStatus::from_name("gone"), None);
    }
}
