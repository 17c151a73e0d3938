//! Counts the rows that are encrypted under one version of the key-encryption key.

use std::fmt;

/// The numbers of rows that are encrypted under one version of the key-encryption key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncryptedRows {
    /// Number of identities, each with its encrypted secret (root).
    pub roots: u64,
    /// Number of signing secrets of webhooks.
    pub secrets: u64,
    /// Number of issuer keys, with which the service signs events and badges.
    pub issuer_keys: u64,
    /// Number of tags (message authentication codes of rows) under this version. Accounts, sessions, API tokens and
    /// badges have tags.
    pub tags: u64,
}

impl EncryptedRows {
    pub(super) fn total(self) -> u64 {
        self.roots + self.secrets + self.issuer_keys + self.tags
    }
}

impl fmt::Display for EncryptedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { roots, secrets, issuer_keys, tags } = self;
        write!(
            f,
            "{} rows ({roots} identities, {secrets} webhook secrets, {issuer_keys} issuer keys, {tags} tags)",
            self.total()
        )
    }
}
