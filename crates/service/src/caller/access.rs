//! The kinds of bearer tokens that an endpoint accepts.

use sealpost_domain::{Refusal, TokenScope};

use super::bearer::TokenGrant;

/// The bearer tokens that an endpoint accepts. A session is always accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Accepts sessions, and API tokens with at least one of these scopes.
    Scopes(&'static [TokenScope]),
    /// Accepts only sessions. Refuses all API tokens.
    Session,
}

impl Access {
    /// Refuses an API token that has none of the accepted scopes.
    pub(super) fn check(self, grant: Option<&TokenGrant>) -> Result<(), Refusal> {
        let needed = match self {
            Self::Scopes(needed) => needed,
            Self::Session => &[],
        };
        let allows = |grant: &TokenGrant| needed.iter().any(|scope| grant.scopes.contains(*scope));
        if grant.is_none_or(allows) {
            return Ok(());
        }
        Err(Refusal::InsufficientScope { needed })
    }
}
