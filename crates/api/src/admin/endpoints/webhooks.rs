//! Operator endpoints for webhooks.

pub(super) mod disable_webhook;
