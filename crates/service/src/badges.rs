//! Badges: issued on a key's newest assessment, verified, shown, and revoked through a public status list.

pub(crate) mod credential;
pub(crate) mod issue;
pub(crate) mod show;
pub(crate) mod status_list;
pub(crate) mod status_list_cache;
pub(crate) mod verify;
