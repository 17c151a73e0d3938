//! Badges: signed credentials based on the newest assessment of an API key. Badges can be verified, shown and revoked.

pub(crate) mod credential;
pub(crate) mod issue;
pub(crate) mod status_list;
pub(crate) mod verify;
