//! `/v1/auth`: sessions and the login secret of an account.

pub(super) mod login;
pub(super) mod logout;
pub(super) mod recover;
pub(super) mod rotate_secret;
