//! Accounts: API tokens, secrets and their recovery, and the attacks that these withstand.

mod confirmation;
mod recovery;
mod token_limits;
mod tokens;
