//! Tests of accounts: activity log, sessions, export, closing, API tokens, secrets, recovery, and attacks with stolen
//! credentials.

mod activity;
mod closing;
mod confirmation;
mod export;
mod forged_rows;
mod recovery;
mod token_limits;
mod tokens;
