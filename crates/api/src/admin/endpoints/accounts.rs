//! Operator endpoints for accounts.

pub(super) mod end_sessions;
pub(super) mod list_accounts;
pub(super) mod show_account;

use serde_json::{Value, json};

/// Returns an example of an account in a response.
fn example() -> Value {
    json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "partner": "acme",
        "key_count": 2,
        "created_at": "2026-11-21T06:56:38.596Z",
        "closed_at": null,
        "erased_at": null,
    })
}
