//! Tests the authentication of callers: early refusals, logins and session look-ups.

mod early_refusal;
mod login;
mod lookups;
