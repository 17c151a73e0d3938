//! The pages of the console. Each file has one page and its forms.

pub(super) mod account;
pub(super) mod audit;
pub(super) mod key;
pub(super) mod keys;
pub(super) mod service;
pub(super) mod sign_in;
