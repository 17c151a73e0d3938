//! Tests the authentication of callers: early refusals, logins, session look-ups, and the second check of an act.

mod act;
mod early_refusal;
mod login;
mod lookups;
