//! Calls the endpoints of the API. The API reference shows the parts of this program. Dependencies: `serde_json` 1,
//! ureq 3.
//!
//! Needs the environment variables `SEALPOST_URL`, `SESSION_TOKEN` and `API_KEY` of an identity with the handle `bob`,
//! and `ACCOUNT_ID` and `LOGIN_SECRET` of its account.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a standalone program"
)]

// [setup]
use std::{env, error::Error};

use serde_json::{Value, json};

/// Returns the response of an endpoint. Fails if the service refuses the request.
fn post(path: &str, body: &Value, credentials: &[(&str, String)]) -> Result<Value, Box<dyn Error>> {
    let mut request = ureq::post(env::var("SEALPOST_URL")? + path);
    for (name, value) in credentials {
        request = request.header(*name, value);
    }
    let mut response = request.content_type("application/json").send(body.to_string())?;
    Ok(serde_json::from_str(&response.body_mut().read_to_string()?)?)
}
// [end]

type Credentials = [(&'static str, String); 2];

fn main() -> Result<(), Box<dyn Error>> {
    // [credentials]
    let credentials = &[
        ("Authorization", format!("Bearer {}", env::var("SESSION_TOKEN")?)),
        ("X-DID-API-Key", env::var("API_KEY")?),
    ];
    // [end]
    identities(credentials)?;
    let webhook_id = register(credentials)?;
    let envelope_id = messages(credentials)?;
    webhooks(credentials, &webhook_id, &envelope_id)?;
    badges(credentials)?;
    api_tokens(credentials)?;
    sessions(credentials)
}

fn identities(credentials: &Credentials) -> Result<(), Box<dyn Error>> {
    // [activateIdentity]
    let carol = post("/v1/did/activate", &json!({ "label": "Carol" }), &[])?;
    println!("{} {}", carol["api_key_id"], carol["did"]);
    // [end]

    // [getKeyStatus]
    let standing = post("/v1/did/status", &json!({}), credentials)?;
    println!("{} {}", standing["status"], standing["usage"]["day"]);
    // [end]

    // [resolveIdentity]
    let bob = post("/v1/did/resolve", &json!({ "id": "bob" }), credentials)?;
    println!("{} {}", bob["api_key_id"], bob["active"]);
    // [end]

    // [setPolicy]
    let policy =
        post("/v1/did/policy", &json!({ "accept": "anyone", "listed": true }), credentials)?;
    println!("{}", policy["accept"]);
    // [end]
    Ok(())
}

fn register(credentials: &Credentials) -> Result<String, Box<dyn Error>> {
    // [registerWebhook]
    let target = json!({ "url": "https://example.com/hook", "events": ["envelope.received"] });
    let webhook = post("/v1/webhooks/register", &target, credentials)?;
    println!("{}", webhook["webhook_id"]);
    // [end]
    Ok(webhook["webhook_id"].as_str().unwrap_or_default().to_owned())
}

fn messages(credentials: &Credentials) -> Result<String, Box<dyn Error>> {
    // [sendMessage]
    let message = json!({ "to": "bob", "message": "Meet me at noon." });
    let sent = post("/v1/channel/send", &message, credentials)?;
    println!("{} {}", sent["envelope_id"], sent["status"]);
    // [end]
    let envelope_id = sent["envelope_id"].as_str().unwrap_or_default();

    // [getReceipt]
    let receipt = post("/v1/channel/receipt", &json!({ "envelope_id": envelope_id }), credentials)?;
    println!("{}", receipt["recipient"]);
    // [end]

    // [openEnvelope]
    let envelope = post("/v1/channel/open", &json!({ "envelope_id": envelope_id }), credentials)?;
    println!("{} {}", envelope["sender"], envelope["message"]);
    // [end]
    Ok(envelope_id.to_owned())
}

fn webhooks(
    credentials: &Credentials,
    webhook_id: &str,
    envelope_id: &str,
) -> Result<(), Box<dyn Error>> {
    // [listWebhooks]
    let list = post("/v1/webhooks/list", &json!({}), credentials)?;
    for webhook in list["webhooks"].as_array().into_iter().flatten() {
        println!("{} {}", webhook["webhook_id"], webhook["url"]);
    }
    // [end]

    // [enableWebhook]
    let enabled = post("/v1/webhooks/enable", &json!({ "webhook_id": webhook_id }), credentials)?;
    println!("{enabled}");
    // [end]

    // [listDeliveries]
    let page = json!({ "webhook_id": webhook_id, "limit": 20 });
    let page = post("/v1/webhooks/deliveries", &page, credentials)?;
    for delivery in page["deliveries"].as_array().into_iter().flatten() {
        println!("{} {}", delivery["envelope_id"], delivery["outcome"]);
    }
    // [end]

    // [redeliverEvent]
    let event = json!({ "webhook_id": webhook_id, "envelope_id": envelope_id });
    println!("{}", post("/v1/webhooks/redeliver", &event, credentials)?);
    // [end]

    // [recoverDeliveries]
    let outage =
        json!({ "webhook_id": webhook_id, "since": "2026-01-01T00:00:00Z", "dry_run": true });
    println!("{}", post("/v1/webhooks/recover", &outage, credentials)?);
    // [end]

    // [rotateWebhookSecret]
    let rotated =
        post("/v1/webhooks/rotate-secret", &json!({ "webhook_id": webhook_id }), credentials)?;
    println!("{}", rotated["secret"].is_string());
    // [end]

    // [updateWebhook]
    let changes = json!({ "webhook_id": webhook_id, "description": "orders", "paused": false });
    println!("{}", post("/v1/webhooks/update", &changes, credentials)?["description"]);
    // [end]

    // [testWebhook]
    let test = post("/v1/webhooks/test", &json!({ "webhook_id": webhook_id }), credentials)?;
    println!("{}", test["outcome"]);
    // [end]

    // [deleteWebhook]
    let deleted = post("/v1/webhooks/delete", &json!({ "webhook_id": webhook_id }), credentials)?;
    println!("{deleted}");
    // [end]
    Ok(())
}

fn badges(credentials: &Credentials) -> Result<(), Box<dyn Error>> {
    // [issueBadge]
    let badge = post("/v1/badges/issue", &json!({}), credentials)?;
    println!("{} {}", badge["badge_id"], badge["expires_at"]);
    // [end]
    let credential = &badge["credential"];

    // [verifyBadge]
    let verified = post("/v1/badges/verify", &json!({ "credential": credential }), credentials)?;
    println!("{}", verified["valid"]);
    // [end]

    // [validateCompliance]
    let circuit = json!({ "jurisdiction": "EU", "dry_run": true });
    println!("{}", post("/v1/compliance/validate", &circuit, credentials)?);
    // [end]
    Ok(())
}

fn api_tokens(credentials: &Credentials) -> Result<(), Box<dyn Error>> {
    // [createApiToken]
    let token = json!({
        "login_secret": env::var("LOGIN_SECRET")?,
        "api_key_id": env::var("API_KEY")?,
        "name": "order service",
        "scopes": ["send"],
    });
    let created = post("/v1/auth/tokens/create", &token, credentials)?;
    println!("{} {}", created["token_id"], created["token"].is_string());
    // [end]
    let token_id = &created["token_id"];

    // [listApiTokens]
    let list = post("/v1/auth/tokens/list", &json!({}), credentials)?;
    for token in list["tokens"].as_array().into_iter().flatten() {
        println!("{} {} {}", token["token_id"], token["name"], token["last_used_at"]);
    }
    // [end]

    // [revokeApiToken]
    let token = json!({ "token_id": token_id });
    println!("{}", post("/v1/auth/tokens/revoke", &token, credentials)?);
    // [end]
    Ok(())
}

fn sessions(credentials: &Credentials) -> Result<(), Box<dyn Error>> {
    // [listActivity]
    let page = post("/v1/account/activity", &json!({ "limit": 20 }), credentials)?;
    for entry in page["entries"].as_array().into_iter().flatten() {
        println!("{} {}", entry["at"], entry["kind"]);
    }
    // [end]

    // [createSession]
    let [account_id, login_secret] = ["ACCOUNT_ID", "LOGIN_SECRET"].map(env::var);
    let login = json!({ "account_id": account_id?, "login_secret": login_secret? });
    let session = post("/v1/auth/login", &login, &[])?;
    println!("valid until {}", session["expires_at"]);
    // [end]

    // [rotateLoginSecret]
    let present = json!({ "login_secret": env::var("LOGIN_SECRET")? });
    // Keep the login_secret and the recovery_code.
    let secrets = post("/v1/auth/rotate-secret", &present, credentials)?;
    println!("{} {}", secrets["login_secret"].is_string(), secrets["recovery_code"].is_string());
    // [end]
    let recovery_code = &secrets["recovery_code"];

    // [endSession]
    let ended = post("/v1/auth/logout", &json!({}), credentials)?;
    println!("{}", ended["logged_out"]);
    // [end]

    // [recoverAccount]
    let recovery = json!({ "account_id": env::var("ACCOUNT_ID")?, "recovery_code": recovery_code });
    // Keep the login_secret and the recovery_code.
    let recovered = post("/v1/auth/recover", &recovery, &[])?;
    println!("{}", recovered["recovery_code"].is_string());
    // [end]
    Ok(())
}
