//! Starts a complete node inside this program, sends a message to itself over HTTP, and stops in order.
//!
//! `cargo run -p sealpost-node --example whole_node`
#![expect(clippy::print_stdout, reason = "the example shows its results")]

use std::{error::Error, net::SocketAddr};

use sealpost_node::{Node, settings::Settings};
use serde_json::{Value, json};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    actix_web::rt::System::new().block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let free_port = SocketAddr::from(([127, 0, 0, 1], 0));

    let mut settings = Settings::default();
    settings.service.message_bytes_max = 65_536;
    let node = Node::builder()
        .settings(settings)
        .data_dir(folder.path())
        .listen(free_port)
        .ops_listen(Some(free_port))
        .start()
        .await?;

    let alice = post(&node, "/v1/did/activate", None, &json!({"label": "Alice"})).await?;
    let credentials = json!({
        "account_id": text(&alice, "account_id"),
        "login_secret": text(&alice, "login_secret"),
    });
    let session = post(&node, "/v1/auth/login", None, &credentials).await?;
    let identity = (text(&session, "session_token"), text(&alice, "api_key_id"));

    let message = json!({"to": identity.1, "message": "Meet me at noon."});
    let sent = post(&node, "/v1/channel/send", Some(identity), &message).await?;
    println!("stored {}", text(&sent, "envelope_id"));

    let envelope = json!({"envelope_id": text(&sent, "envelope_id")});
    let opened = post(&node, "/v1/channel/open", Some(identity), &envelope).await?;
    println!("opened: {}", text(&opened, "message"));

    node.stop().await;
    println!("stopped");
    Ok(())
}

/// Sends a POST request to the API of the node, with a session token and an API key.
async fn post(
    node: &Node,
    path: &str,
    identity: Option<(&str, &str)>,
    body: &Value,
) -> Result<Value, Box<dyn Error>> {
    let client = awc::Client::builder().disable_redirects().finish();
    let mut request = client.post(format!("{}{path}", node.base_url()));
    if let Some((token, key)) = identity {
        request = request.bearer_auth(token).insert_header(("X-DID-API-Key", key));
    }
    let mut response = request.send_json(body).await.map_err(|error| error.to_string())?;
    let value = response.json().await?;
    if response.status().is_success() { Ok(value) } else { Err(value.to_string().into()) }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
