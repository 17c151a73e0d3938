//! Runs the scenario with the Rust client. Reads the scenario and prints the results as JSON.

use std::{collections::HashMap, error::Error, io, sync::Arc, time::Duration};

use futures_util::TryStreamExt as _;
use sealpost_client::{
    ApiTokenRequest, BadgeRequest, Client, ClientError, EventKind, IdempotencyKey, Login, Message,
    Pages, PolicyChange, RecoverRequest, RetryPolicy, SentFilter, TokenScope, WebhookChanges,
    WebhookId,
};
use sealpost_receiver::{
    HandledRequest, KeySource, Listener, ListenerOptions, RequestObserver, RunningListener,
    SystemClock, secrets,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
struct Task {
    url: String,
    identities: HashMap<String, Value>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    r#as: Option<String>,
    token: Option<String>,
    r#do: String,
    #[serde(default)]
    with: Map<String, Value>,
    save: Option<String>,
}

struct Runner {
    url: String,
    identities: HashMap<String, Value>,
    clients: HashMap<String, Client>,
    saved: HashMap<String, Value>,
    receiver: Option<Receiver>,
}

/// A running receiver, and the messages that it has opened.
struct Receiver {
    _listener: RunningListener,
    envelopes: UnboundedReceiver<String>,
    seen: Vec<String>,
    messages: Vec<String>,
}

fn main() -> Outcome<()> {
    actix_rt::System::new().block_on(run())
}

async fn run() -> Outcome<()> {
    let Task { url, identities, steps } = serde_json::from_reader(io::stdin())?;
    let (clients, saved) = (HashMap::new(), HashMap::new());
    let mut runner = Runner { url, identities, clients, saved, receiver: None };
    let mut results = Vec::new();
    for step in steps {
        results.push(runner.run(step).await?);
    }
    serde_json::to_writer(io::stdout(), &results)?;
    Ok(())
}

impl Runner {
    async fn run(&mut self, step: Step) -> Outcome<Value> {
        let client = self.client(&step)?;
        let with = self.resolved(Value::Object(step.with));
        let result = match self.act(&step.r#do, &client, &with).await {
            Ok(result) => result,
            Err(error) => match error.downcast::<ClientError>().map(|error| *error) {
                Ok(ClientError::Refused { problem, .. }) => {
                    return Ok(json!({"error": problem.code}));
                }
                Ok(ClientError::Unreachable { .. }) => return Ok(json!({"error": "UNREACHABLE"})),
                Ok(error) => return Err(error.into()),
                Err(error) => return Err(error),
            },
        };
        if let Some(name) = step.save {
            self.saved.insert(name, result.clone());
        }
        Ok(json!({"result": result}))
    }

    async fn act(&mut self, name: &str, client: &Client, with: &Value) -> Outcome<Value> {
        let text = |member: &str| with[member].as_str().unwrap_or_default();
        let webhook = || text("webhook_id").parse::<WebhookId>();
        let webhooks = client.webhooks();
        match name {
            "ping" => plain(client.ping().await?),
            "status" => plain(client.status().await?),
            "activate" => {
                plain(client.activate(text("label"), with["handle"].as_str(), None).await?)
            }
            "recover" => {
                let account = text("account_id").parse()?;
                plain(client.recover(account, text("recovery_code")).await?)
            }
            "resolve" => plain(client.resolve(text("id")).await?),
            "send" | "send_batch" | "sent" => send(name, client, with).await,
            "open" => plain(client.open(text("envelope_id").parse()?).await?),
            "evidence" => plain(client.evidence(text("envelope_id").parse()?).await?),
            "receipt" => plain(client.receipt(text("envelope_id").parse()?).await?),
            "policy" => {
                let change: PolicyChange = serde_json::from_value(with.clone())?;
                plain(client.policy(&change).await?)
            }
            "listen" => self.listen(client).await,
            "wait" => self.wait(client, with["count"].as_u64().unwrap_or_default()).await,
            "webhooks.register" => {
                plain(webhooks.register(text("url"), &[EventKind::EnvelopeReceived]).await?)
            }
            "webhooks.list" => plain(webhooks.list().await?),
            "webhooks.delete" => plain(webhooks.delete(webhook()?).await?),
            "webhooks.enable" => plain(webhooks.enable(webhook()?).await?),
            "webhooks.test" => plain(webhooks.test(webhook()?).await?),
            "webhooks.rotate_secret" => plain(webhooks.rotate_secret(webhook()?).await?),
            "webhooks.redeliver" => {
                plain(webhooks.redeliver(webhook()?, text("envelope_id").parse()?).await?)
            }
            "webhooks.recover" => {
                let since = text("since").parse()?;
                let deliveries = RecoverRequest { since, until: None, dry_run: true };
                plain(webhooks.recover(webhook()?, deliveries).await?)
            }
            "webhooks.update" => {
                let description = with.get("description");
                let changes = WebhookChanges {
                    description: description.map(|text| text.as_str().map(str::to_owned)),
                    paused: with["paused"].as_bool(),
                    ..WebhookChanges::default()
                };
                plain(webhooks.update(webhook()?, &changes).await?)
            }
            "webhooks.deliveries" => listed(webhooks.deliveries(webhook()?, 100)).await,
            "issue_badge" => plain(client.issue_badge(&BadgeRequest::default()).await?),
            "verify_badge" => plain(client.verify_badge(text("credential")).await?),
            "validate_compliance" => plain(client.validate_compliance(text("jurisdiction")).await?),
            "status_list" => plain(client.status_list(text("list_id").parse()?).await?),
            "did_document" => plain(client.did_document().await?),
            "openapi_document" => plain(client.openapi_document().await?),
            name if name.starts_with("account.") => act_on_account(name, client, with).await,
            other => Err(format!("the scenario has an unknown step: {other}").into()),
        }
    }

    /// Starts a receiver, and registers its webhook.
    async fn listen(&mut self, client: &Client) -> Outcome<Value> {
        let listener = Listener::bind(ListenerOptions::new("127.0.0.1:0".parse()?))?;
        let url = format!("http://{}/", listener.address());
        let registered = client.webhooks().register(&url, &[EventKind::EnvelopeReceived]).await?;
        let secret = registered.secret.clone();
        let keys: KeySource = Arc::new(move || Ok(secrets(&secret, "the webhook")?));
        let (valid, envelopes) = unbounded_channel();
        let observer: RequestObserver = Arc::new(move |request: &HandledRequest<'_>| {
            let body: Option<Value> = serde_json::from_slice(request.body).ok();
            let envelope = body.as_ref().and_then(|body| body["envelope_id"].as_str());
            let is_envelope =
                body.as_ref().is_some_and(|body| body["event"] == "envelope.received");
            if let Some(envelope) = envelope.filter(|_| is_envelope && request.report.valid) {
                valid.send(envelope.to_owned()).ok();
            }
        });
        let listener = listener.start(keys, Arc::new(SystemClock), observer)?;
        let (seen, messages) = (Vec::new(), Vec::new());
        self.receiver = Some(Receiver { _listener: listener, envelopes, seen, messages });
        plain(registered)
    }

    /// Opens envelopes, each once, until `count` messages have arrived.
    async fn wait(&mut self, client: &Client, count: u64) -> Outcome<Value> {
        let receiver = self.receiver.as_mut().ok_or("listen comes first")?;
        while u64::try_from(receiver.messages.len())? < count {
            let next = tokio::time::timeout(Duration::from_mins(1), receiver.envelopes.recv());
            let envelope = next.await?.ok_or("the receiver has ended")?;
            if !receiver.seen.contains(&envelope) {
                receiver.messages.push(client.open(envelope.parse()?).await?.message);
                receiver.seen.push(envelope);
            }
        }
        receiver.messages.sort();
        Ok(json!({"messages": receiver.messages}))
    }

    /// Returns the client of an API token, or of an identity, which the scenario may have activated.
    fn client(&mut self, step: &Step) -> Outcome<Client> {
        let name = step.r#as.as_ref().or(step.token.as_ref()).map_or("", String::as_str);
        if let Some(client) = self.clients.get(name) {
            return Ok(client.clone());
        }
        let retry =
            RetryPolicy { tries: 10, first_pause: Duration::from_millis(10), ..<_>::default() };
        let mut builder = Client::builder(&self.url).retry(retry);
        if let Some(token) = &step.token {
            let token = self.resolved(Value::String(token.clone()));
            builder = builder.token(token.as_str().unwrap_or_default());
        } else if let Some(identity) = self.identities.get(name).or_else(|| self.saved.get(name)) {
            let text = |member: &str| identity[member].as_str().unwrap_or_default();
            builder = builder.login(Login::new(text("account_id").parse()?, text("login_secret")));
            if let Some(key) = identity["api_key_id"].as_str() {
                builder = builder.api_key(key.parse()?);
            }
        }
        let client = builder.build()?;
        self.clients.insert(name.to_owned(), client.clone());
        Ok(client)
    }

    /// Replaces references to earlier results.
    fn resolved(&self, value: Value) -> Value {
        match value {
            Value::Object(members) => members
                .into_iter()
                .map(|(name, member)| (name, self.resolved(member)))
                .collect::<Map<_, _>>()
                .into(),
            Value::Array(entries) => {
                entries.into_iter().map(|entry| self.resolved(entry)).collect()
            }
            Value::String(text) => {
                match text.strip_prefix('$').and_then(|path| path.split_once('.')) {
                    Some((name, path)) => {
                        let pointer = format!("/{}", path.replace('.', "/"));
                        let found = self.saved.get(name).and_then(|saved| saved.pointer(&pointer));
                        found.cloned().unwrap_or_default()
                    }
                    None => Value::String(text),
                }
            }
            other => other,
        }
    }
}

async fn act_on_account(name: &str, client: &Client, with: &Value) -> Outcome<Value> {
    let text = |member: &str| with[member].as_str().unwrap_or_default();
    let account = client.account();
    match name {
        "account.activity" => listed(account.activity(1)).await,
        "account.close" => plain(account.close(text("login_secret")).await?),
        "account.create_token" => {
            let scopes = with["scopes"].as_array().into_iter().flatten();
            let scopes = scopes.filter_map(|scope| TokenScope::from_name(scope.as_str()?));
            let token = ApiTokenRequest {
                api_key_id: text("api_key_id").parse()?,
                name: text("name").to_owned(),
                scopes: scopes.collect(),
                expires_in_days: serde_json::from_value(with["expires_in_days"].clone())?,
            };
            plain(account.create_token(text("login_secret"), &token).await?)
        }
        "account.export" => plain(account.export(text("login_secret")).await?),
        "account.logout" => plain(account.logout().await?),
        "account.revoke_token" => plain(account.revoke_token(text("token_id").parse()?).await?),
        "account.rotate_login_secret" => {
            plain(account.rotate_login_secret(text("login_secret")).await?)
        }
        "account.tokens" => plain(account.tokens().await?),
        other => Err(format!("the scenario has an unknown step: {other}").into()),
    }
}

/// Sends a message or a batch, or lists what was sent.
async fn send(name: &str, client: &Client, with: &Value) -> Outcome<Value> {
    let text = |member: &str| with[member].as_str().unwrap_or_default();
    match (name, with["idempotency_key"].as_str()) {
        ("send_batch", _) => {
            let messages: Vec<Message> = serde_json::from_value(with["messages"].clone())?;
            let results = client.send_batch(&messages, None).await?;
            let statuses: Vec<_> = results.iter().map(|result| result.status).collect();
            plain(json!({ "statuses": statuses }))
        }
        ("sent", _) => {
            let recipient = Some(text("recipient").to_owned());
            let filter = SentFilter { recipient, ..SentFilter::default() };
            listed(client.sent(&filter, 100)).await
        }
        (_, Some(key)) => {
            let key = IdempotencyKey::parse(key)?;
            plain(client.send_once(text("to"), text("message"), &key).await?)
        }
        (_, None) => plain(client.send(text("to"), text("message")).await?),
    }
}

fn plain(value: impl Serialize) -> Outcome<Value> {
    Ok(serde_json::to_value(value)?)
}

async fn listed<T: Serialize + Send + 'static>(pages: Pages<T>) -> Outcome<Value> {
    let entries: Vec<T> = pages.try_collect().await?;
    plain(entries)
}
