//! Operator endpoints for API keys.

pub(super) mod change_state;
pub(super) mod list_keys;
pub(super) mod revoke_key;
pub(super) mod set_plan;
pub(super) mod show_key;

use serde_json::{Value, json};

/// Returns an example of an API key in a response.
fn example() -> Value {
    json!({
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "did": "did:key:z6MkvDqGT54cXesYGvABpF1UapVNwjCqRcafi4Px6Thv5T3Z",
        "status": "active",
        "plan": "builder",
        "label": "Orders",
        "handle": "orders",
    })
}

/// Returns the example from [`example`] with further JSON members.
fn example_with(members: &Value) -> Value {
    let mut example = example();
    if let (Some(example), Some(members)) = (example.as_object_mut(), members.as_object()) {
        example.extend(members.clone());
    }
    example
}
