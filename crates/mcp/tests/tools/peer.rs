//! A client of the protocol, which writes and reads JSON lines.

use std::{
    collections::BTreeSet,
    future::pending,
    sync::{Arc, Mutex},
};

use sealpost_client::{Activated, Client};
use sealpost_mcp::{Agent, AgentOptions, IdentityStore, StoreError, ToolName, serve_streams};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use crate::service::{ALICE, SECRETS, Service};

/// A client that is connected to an agent in this process.
pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) initialized: Value,
    pub(crate) stored: Arc<Mutex<Vec<Activated>>>,
    calls: u64,
}

/// A store in memory, for one identity.
struct Store(Arc<Mutex<Vec<Activated>>>);

impl IdentityStore for Store {
    fn check(&self) -> Result<(), StoreError> {
        if self.0.lock().unwrap().is_empty() { Ok(()) } else { Err("the store is full".into()) }
    }

    fn store(&self, activated: &Activated) -> Result<(), StoreError> {
        self.0.lock().unwrap().push(activated.clone());
        Ok(())
    }
}

/// Returns an agent that acts as Alice, or has no identity.
pub(crate) async fn agent(
    service: &Service,
    has_identity: bool,
    tools: &[ToolName],
) -> (Agent, Arc<Mutex<Vec<Activated>>>) {
    let url = service.start().await;
    let stored = Arc::<Mutex<Vec<_>>>::default();
    let client = || {
        let builder = Client::builder(&url).token(SECRETS[2]).api_key(ALICE.parse().unwrap());
        builder.build().unwrap()
    };
    let agent = Agent::new(AgentOptions {
        identity: has_identity.then(client),
        url,
        store: Box::new(Store(Arc::clone(&stored))),
        tools: tools.iter().copied().collect::<BTreeSet<_>>(),
    });
    (agent, stored)
}

impl Peer {
    /// Connects to an agent that has all tools.
    pub(crate) async fn connect(service: &Service, has_identity: bool) -> Self {
        Self::connect_with(service, has_identity, &ToolName::ALL).await
    }

    pub(crate) async fn connect_with(
        service: &Service,
        has_identity: bool,
        tools: &[ToolName],
    ) -> Self {
        let (agent, stored) = agent(service, has_identity, tools).await;
        let (near, far) = tokio::io::duplex(1024 * 1024);
        let (input, output) = tokio::io::split(far);
        tokio::spawn(serve_streams(agent, input, output, pending()));
        let (reader, writer) = tokio::io::split(near);
        let lines = BufReader::new(reader).lines();
        let mut peer = Self { lines, writer, initialized: Value::Null, stored, calls: 0 };
        let client = json!({"name": "test", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        peer.initialized = peer.request("initialize", &hello).await["result"].take();
        peer.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        peer
    }

    /// Calls a tool, and returns its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.request("tools/call", &params).await["result"].take()
    }

    /// Calls a tool without waiting for its result. Returns the id of the request.
    pub(crate) async fn start(&mut self, tool: &str, arguments: &Value) -> u64 {
        let params = json!({"name": tool, "arguments": arguments});
        self.send("tools/call", &params).await
    }

    /// Cancels a request, and waits until the agent has read the cancellation.
    pub(crate) async fn cancel(&mut self, id: u64) {
        let cancelled = "notifications/cancelled";
        let params = json!({"requestId": id});
        self.write(&json!({"jsonrpc": "2.0", "method": cancelled, "params": params})).await;
        self.request("ping", &json!({})).await;
    }

    /// Sends a request, and returns the response.
    pub(crate) async fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params).await;
        let line = self.lines.next_line().await.unwrap().unwrap();
        let response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["id"], id, "{line}");
        response
    }

    /// Sends a request, and returns its id.
    async fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.calls += 1;
        let id = self.calls;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    async fn write(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
}
