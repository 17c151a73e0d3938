//! Numbers of rows that one key-encryption key encrypts.

use std::fmt;

/// Numbers of rows that are encrypted under one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncryptedRows {
    /// Roots of identities.
    pub roots: u64,
    /// Signing secrets of webhooks.
    pub secrets: u64,
    /// Secrets of the service's own keys.
    pub issuer_keys: u64,
}

impl EncryptedRows {
    pub(super) fn total(self) -> u64 {
        self.roots + self.secrets + self.issuer_keys
    }
}

impl fmt::Display for EncryptedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { roots, secrets, issuer_keys } = self;
        write!(
            f,
            "{} rows ({roots} identities, {secrets} webhook secrets, {issuer_keys} issuer keys)",
            self.total()
        )
    }
}
