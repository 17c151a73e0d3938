//! `/v1/auth/tokens`: API tokens of an account.

pub(super) mod create;
pub(super) mod list;
pub(super) mod revoke;
