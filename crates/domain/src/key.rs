//! API keys: one identity each, with its states.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{AccountId, ApiKeyId, Did, Handle, Label, Plan, Timestamp, Wrapped};

/// Where a key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// Can send and receive.
    Active,
    /// Disabled by an operator.
    Deactivated,
    /// Gone for good.
    Revoked,
    /// Paused while its sealing key is replaced.
    Rotating,
}

/// What can happen to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEvent {
    /// An operator disables it.
    Deactivate,
    /// The new sealing key is in place.
    FinishRotation,
    /// An operator enables it again.
    Reactivate,
    /// Its owner or an operator ends it.
    Revoke,
    /// A new sealing key is being made.
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

/// A move that the states do not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key that is {from} cannot be {}", event.participle())]
pub struct IllegalTransition {
    /// Where the key stands.
    pub from: KeyStatus,
    /// What was asked of it.
    pub event: KeyEvent,
}

impl KeyStatus {
    /// The only road between states; a pair that is not listed is refused.
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

    /// The state's name in JSON, SQL and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deactivated => "deactivated",
            Self::Revoked => "revoked",
            Self::Rotating => "rotating",
        }
    }

    /// The state of that name.
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

/// One identity: an API key and the DID that it is bound to.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// The key's public name.
    pub id: ApiKeyId,
    /// Who owns it.
    pub account_id: AccountId,
    /// The name that a person gave it.
    pub label: Label,
    /// The handle that it was activated with; kept on record after revocation.
    pub handle: Option<Handle>,
    /// The one DID that it maps to.
    pub did: Did,
    /// Where it stands.
    pub status: KeyStatus,
    /// What limits it.
    pub plan: Plan,
    /// The identity's root, encrypted; `None` once revocation has destroyed it.
    pub root: Option<Wrapped>,
    /// The newest sealing key's version, from 1; older ones still open.
    pub sealing_version: u32,
    /// When it was activated.
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
    fn nothing_leaves_revoked() {
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
    fn only_the_listed_moves_exist() {
        let legal = STATES
            .into_iter()
            .flat_map(|state| EVENTS.map(|event| state.apply(event)))
            .flatten()
            .count();
        assert_eq!(legal, 8);
    }

    #[test]
    fn names_read_back() {
        for state in STATES {
            assert_eq!(KeyStatus::from_name(state.as_str()), Some(state));
        }
        assert_eq!(KeyStatus::from_name("gone"), None);
    }
}
