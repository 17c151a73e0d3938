//! Use cases of an account's owner on the dashboard.

pub(crate) mod account_owner;
pub(crate) mod actions;
pub(crate) mod confirmation;
pub(crate) mod pages;
pub(crate) mod views;
