//! Endpoints for webhooks.

pub(super) mod disable_webhook;
