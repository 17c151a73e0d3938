//! The recipes of `docs/recipes.md`. Needs the environment variables `SEALPOST_URL` and `SEALPOST_TOKEN`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{env, error::Error};

use futures_util::TryStreamExt as _;
use sealpost_client::{Client, Message, SentFilter, WebhookChanges};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, token) = (env::var("SEALPOST_URL")?, env::var("SEALPOST_TOKEN")?);
    let client = Client::builder(&url).token(token).build()?;

    let question = Message {
        thread: Some("order:7".into()),
        message_type: Some("text/plain".into()),
        ..Message::new("bob", "Noon?")
    };
    let first = client.send_message(&question, None).await?;
    let answer = Message { reply_to: Some(first.envelope_id), ..Message::new("bob", "Yes.") };
    let reply = client.send_message(&answer, None).await?;
    println!("{}", client.receipt(reply.envelope_id).await?.thread.unwrap_or_default());

    let filter = SentFilter { thread: Some("order:7".into()), ..SentFilter::default() };
    let mut sent = client.sent(&filter, 100);
    while let Some(envelope) = sent.try_next().await? {
        println!("{} {}", envelope.envelope_id, envelope.state.as_str());
    }

    let messages = [Message::new("bob", "One."), Message::new("nobody-here", "Two.")];
    for result in client.send_batch(&messages, None).await? {
        println!("{} {}", result.status, result.code.unwrap_or_default());
    }

    for webhook in client.webhooks().list().await? {
        let changes = WebhookChanges {
            url: Some("http://127.0.0.1:8090/orders".into()),
            description: Some(Some("orders".into())),
            ..WebhookChanges::default()
        };
        let updated = client.webhooks().update(webhook.webhook_id, &changes).await?;
        println!("{}", updated.webhook.url);
    }
    Ok(())
}
