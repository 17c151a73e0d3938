//! Tests of accounts: activity log, sessions, closing, API tokens, secrets, recovery, and attacks with stolen
//! credentials.

mod activity;
mod closing;
mod confirmation;
mod recovery;
mod token_limits;
mod tokens;
