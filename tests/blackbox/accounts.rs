//! Accounts: activity, sessions, closing, API tokens, secrets and their recovery, and the attacks that these withstand.

mod activity;
mod closing;
mod confirmation;
mod recovery;
mod token_limits;
mod tokens;
