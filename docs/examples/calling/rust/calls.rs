//! Calls the endpoints of the API with the Rust client. The API reference shows the parts of this program.
//! Dependencies: futures-util 0.3, sealpost-client, tokio 1.
//!
//! Needs the environment variables `SEALPOST_URL` and `SEALPOST_TOKEN`, an API token with all scopes of an identity
//! with the handle `bob`, and `API_KEY`, `ACCOUNT_ID` and `LOGIN_SECRET` of this identity.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

// [setup]
use std::env;

use sealpost_client::Client;
// [end]
use std::error::Error;

use sealpost_client::{Activated, EnvelopeId, WebhookId};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // [client]
    let url = env::var("SEALPOST_URL")?;
    let client = Client::builder(&url).token(env::var("SEALPOST_TOKEN")?).build()?;
    // [end]
    let owner = owner()?;
    let visitor = visitor()?;
    let carol = identities(&client, &owner, &visitor).await?;
    let webhook_id = register(&client).await?;
    let envelope_id = messages(&client).await?;
    list(&client).await?;
    webhooks(&client, webhook_id).await?;
    deliveries(&client, webhook_id, envelope_id).await?;
    badges(&owner, &visitor).await?;
    api_tokens(&owner).await?;
    account(&owner).await?;
    secrets(carol, &visitor).await?;
    close(&owner).await
}

fn owner() -> Result<Client, Box<dyn Error>> {
    // [owner]
    let url = env::var("SEALPOST_URL")?;
    let login =
        sealpost_client::Login::new(env::var("ACCOUNT_ID")?.parse()?, env::var("LOGIN_SECRET")?);
    let owner =
        Client::builder(&url).login(login).api_key(env::var("API_KEY")?.parse()?).build()?;
    // [end]
    Ok(owner)
}

fn visitor() -> Result<Client, Box<dyn Error>> {
    // [visitor]
    // Without credentials.
    let visitor = Client::builder(&env::var("SEALPOST_URL")?).build()?;
    // [end]
    Ok(visitor)
}

async fn identities(
    client: &Client,
    owner: &Client,
    visitor: &Client,
) -> Result<Activated, Box<dyn Error>> {
    // [checkLiveness]
    println!("{}", visitor.ping().await?.status);
    // [end]

    // [getDidDocument]
    println!("{}", visitor.did_document().await?);
    // [end]

    // [getOpenapiDocument]
    println!("{} characters", visitor.openapi_document().await?.to_string().len());
    // [end]

    // [activateIdentity]
    // Store the login_secret and the recovery_code of the response.
    let carol = visitor.activate("Carol", None, None).await?;
    println!("{} {}", carol.api_key_id, carol.did);
    // [end]

    // [getKeyStatus]
    let standing = client.status().await?;
    println!("{} {}", standing.status, standing.usage.day.remaining);
    // [end]

    // [resolveIdentity]
    let bob = client.resolve("bob").await?;
    println!("{} {}", bob.api_key_id, bob.active);
    // [end]

    // [setPolicy]
    let change = sealpost_client::PolicyChange { listed: Some(true), ..Default::default() };
    println!("{}", owner.policy(&change).await?.listed);
    // [end]
    Ok(carol)
}

async fn register(client: &Client) -> Result<WebhookId, Box<dyn Error>> {
    // [registerWebhook]
    let events = [sealpost_client::EventKind::EnvelopeReceived];
    let webhook = client.webhooks().register("https://example.com/hook", &events).await?;
    // Store webhook.secret: it verifies the events.
    println!("{}", webhook.webhook_id);
    // [end]
    Ok(webhook.webhook_id)
}

async fn messages(client: &Client) -> Result<EnvelopeId, Box<dyn Error>> {
    // [sendMessage]
    let sent = client.send("bob", "Meet me at noon.").await?;
    println!("{}", sent.envelope_id);
    // [end]
    let envelope_id = sent.envelope_id;

    // [sendMessages]
    let messages = ["One.", "Two."].map(|text| sealpost_client::Message::new("bob", text));
    for result in client.send_batch(&messages, None).await? {
        println!("{}", result.status);
    }
    // [end]

    // [getEvidence]
    std::fs::write("order-7.evidence", client.evidence(envelope_id).await?.evidence)?;
    // [end]

    // [getReceipt]
    println!("{}", client.receipt(envelope_id).await?.envelope_id);
    // [end]

    // [openEnvelope]
    let envelope = client.open(envelope_id).await?;
    println!("{} {}", envelope.sender, envelope.message);
    // [end]
    Ok(envelope_id)
}

async fn list(client: &Client) -> Result<(), Box<dyn Error>> {
    // [listSent]
    use futures_util::TryStreamExt as _;

    let mut sent = client.sent(&sealpost_client::SentFilter::default(), 100);
    while let Some(envelope) = sent.try_next().await? {
        println!("{} {}", envelope.envelope_id, envelope.state.as_str());
    }
    // [end]
    Ok(())
}

async fn webhooks(client: &Client, webhook_id: WebhookId) -> Result<(), Box<dyn Error>> {
    // [listWebhooks]
    for webhook in client.webhooks().list().await? {
        println!("{} {}", webhook.webhook_id, webhook.url);
    }
    // [end]

    // [enableWebhook]
    println!("{}", client.webhooks().enable(webhook_id).await?.due_now);
    // [end]

    // [rotateWebhookSecret]
    let rotated = client.webhooks().rotate_secret(webhook_id).await?;
    // Store rotated.secret.
    println!("{} characters", rotated.secret.len());
    // [end]

    // [updateWebhook]
    let changes = sealpost_client::WebhookChanges {
        description: Some(Some("orders".into())),
        ..Default::default()
    };
    println!("{:?}", client.webhooks().update(webhook_id, &changes).await?.webhook.description);
    // [end]

    // [testWebhook]
    println!("{}", client.webhooks().test(webhook_id).await?.outcome);
    // [end]
    Ok(())
}

async fn deliveries(
    client: &Client,
    webhook_id: WebhookId,
    envelope_id: EnvelopeId,
) -> Result<(), Box<dyn Error>> {
    // [listDeliveries]
    use futures_util::TryStreamExt as _;

    let mut deliveries = client.webhooks().deliveries_in(webhook_id, "failed", 100);
    while let Some(delivery) = deliveries.try_next().await? {
        println!("{} {} {:?}", delivery.envelope_id, delivery.attempt, delivery.error);
    }
    // [end]

    // [redeliverEvent]
    let redelivered = client.webhooks().redeliver(webhook_id, envelope_id.into()).await?;
    println!("{}", redelivered.outcome);
    // [end]

    // [recoverDeliveries]
    let failed = sealpost_client::RecoverRequest {
        since: "2026-11-01T00:00:00Z".parse()?,
        until: None,
        dry_run: true,
    };
    println!("{}", client.webhooks().recover(webhook_id, failed).await?.matched);
    // [end]

    // [deleteWebhook]
    client.webhooks().delete(webhook_id).await?;
    // [end]
    Ok(())
}

async fn badges(owner: &Client, visitor: &Client) -> Result<(), Box<dyn Error>> {
    // [issueBadge]
    let badge = owner.issue_badge(&sealpost_client::BadgeRequest::default()).await?;
    println!("{} {}", badge.badge_id, badge.expires_at);
    // [end]
    let credential = badge.credential;

    // [verifyBadge]
    println!("{}", owner.verify_badge(&credential).await?.valid);
    // [end]

    // [getStatusList]
    println!("{} characters", visitor.status_list(1).await?.len());
    // [end]

    // [validateCompliance]
    println!("{}", owner.try_compliance("EU").await?.passed);
    // [end]
    Ok(())
}

async fn api_tokens(owner: &Client) -> Result<(), Box<dyn Error>> {
    // [createApiToken]
    let wanted = sealpost_client::ApiTokenRequest {
        api_key_id: env::var("API_KEY")?.parse()?,
        name: "order service".into(),
        scopes: vec![sealpost_client::TokenScope::Send],
        expires_in_days: None,
    };
    let token = owner.account().create_token(&env::var("LOGIN_SECRET")?, &wanted).await?;
    // Store token.token.
    println!("{}", token.token_id);
    // [end]
    let token_id = token.token_id;

    // [listApiTokens]
    for token in owner.account().tokens().await? {
        println!("{} {} {:?}", token.token_id, token.name, token.last_used_at);
    }
    // [end]

    // [revokeApiToken]
    owner.account().revoke_token(token_id).await?;
    // [end]
    Ok(())
}

async fn account(owner: &Client) -> Result<(), Box<dyn Error>> {
    // [listActivity]
    use futures_util::TryStreamExt as _;

    let mut activity = owner.account().activity(100);
    while let Some(entry) = activity.try_next().await? {
        println!("{} {}", entry.at, entry.kind);
    }
    // [end]

    // [exportAccount]
    let export = owner.account().export(&env::var("LOGIN_SECRET")?).await?;
    println!("{} characters", export.to_string().len());
    // [end]

    // [createSession]
    // The owner logs in at its first request, and again when its session has ended.
    println!("{}", owner.status().await?.label);
    // [end]

    // [endSession]
    println!("{}", owner.account().logout().await?.logged_out);
    // [end]
    Ok(())
}

/// Replaces the secrets of Carol's account, so that those of Bob's account stay valid.
async fn secrets(carol: Activated, visitor: &Client) -> Result<(), Box<dyn Error>> {
    let (account_id, login_secret) = (carol.account_id, carol.login_secret.unwrap_or_default());
    let login = sealpost_client::Login::new(account_id, login_secret.clone());
    let owner = Client::builder(&env::var("SEALPOST_URL")?).login(login);
    let owner = owner.api_key(carol.api_key_id).build()?;

    // [rotateLoginSecret]
    // Store both secrets of the response.
    let secrets = owner.account().rotate_login_secret(&login_secret).await?;
    println!("{} characters", secrets.login_secret.len());
    // [end]
    let recovery_code = secrets.recovery_code;

    // [recoverAccount]
    // Store both secrets of the response.
    let secrets = visitor.recover(account_id, &recovery_code).await?;
    println!("{} characters", secrets.login_secret.len());
    // [end]
    Ok(())
}

async fn close(owner: &Client) -> Result<(), Box<dyn Error>> {
    // [closeAccount]
    println!("{}", owner.account().close(&env::var("LOGIN_SECRET")?).await?.closed_at);
    // [end]
    Ok(())
}
