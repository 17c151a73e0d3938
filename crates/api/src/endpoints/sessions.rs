//! `/v1/auth` and `/v1/account`: sessions, the login secret, activity, export and closing of an account.

pub(super) mod activity;
pub(super) mod close;
pub(super) mod export;
pub(super) mod login;
pub(super) mod logout;
pub(super) mod recover;
pub(super) mod rotate_secret;
