//! The port for profiles: the part of a key that other keys can see.

use super::error::StoreError;
use crate::{ApiKeyId, Handle, KeyStatus, Label};

/// Reads profiles.
pub trait PolicyLookup {
    /// Finds the profile of a key; `None` if the key was never issued.
    fn find_profile(&mut self, id: &ApiKeyId) -> Result<Option<KeyProfile>, StoreError>;
}

/// The part of a key that other keys can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyProfile {
    /// The handle that resolves to the key; `None` if there is no such handle.
    pub handle: Option<Handle>,
    /// Display name.
    pub label: Label,
    /// State of the key.
    pub status: KeyStatus,
}
