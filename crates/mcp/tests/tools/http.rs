//! The server for Streamable HTTP.

use sealpost_mcp::{HttpOptions, HttpServer, ServeError, ToolName};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::oneshot,
};

use crate::{peer::agent, service::Service};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[tokio::test]
async fn tools_are_served_without_a_session() {
    let server = Server::start(None, None).await;
    let (status, head, body) = server.post("/mcp", "", &initialize()).await;
    assert_eq!(status, 200, "{head}");
    assert!(body.contains("\"serverInfo\""), "{body}");
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "whoami", "arguments": {}},
    });
    let (status, _, body) =
        server.post("/mcp", "MCP-Protocol-Version: 2025-11-25\r\n", &call).await;
    assert_eq!(status, 200);
    assert!(body.contains("\"structuredContent\""), "{body}");
    assert_eq!(server.post("/", "", &initialize()).await.0, 404);
    server.stop.send(()).unwrap();
}

#[tokio::test]
async fn requests_of_foreign_pages_are_rejected() {
    let server = Server::start(None, Some("tools.example")).await;
    for (headers, status) in [
        ("", 200),
        ("Origin: http://localhost:6274\r\n", 200),
        ("Origin: https://tools.example\r\n", 200),
        ("Origin: https://tools.example:8443\r\n", 403),
        ("Origin: http://tools.example\r\n", 403),
        ("Origin: https://evil.example\r\n", 403),
        ("Origin: null\r\n", 403),
    ] {
        assert_eq!(server.post("/mcp", headers, &initialize()).await.0, status, "{headers}");
    }
    for (host, status) in
        [("localhost", 200), ("[::1]:80", 200), ("tools.example", 200), ("evil.example", 403)]
    {
        assert_eq!(server.post_to(host, "/mcp", "", &initialize()).await.0, status, "{host}");
    }
}

#[tokio::test]
async fn a_token_is_required_if_it_is_set() {
    let server = Server::start(Some(TOKEN), None).await;
    let (status, head, _) = server.post("/mcp", "", &initialize()).await;
    assert_eq!(status, 401);
    assert!(head.to_ascii_lowercase().contains("www-authenticate: bearer"), "{head}");
    let shorter = TOKEN.trim_end_matches('f');
    for (scheme, token, status) in [
        ("Bearer", TOKEN, 200),
        ("bearer", TOKEN, 200),
        ("BEARER", TOKEN, 200),
        ("Basic", TOKEN, 401),
        ("Bearer", shorter, 401),
        ("Bearer", "", 401),
    ] {
        let header = format!("Authorization: {scheme} {token}\r\n");
        let got = server.post("/mcp", &header, &initialize()).await.0;
        assert_eq!(got, status, "{scheme} {token}");
    }
}

#[tokio::test]
async fn an_open_address_needs_a_token_and_a_proxy() {
    for (token, host) in [(None, None), (Some(TOKEN), None), (None, Some("tools.example"))] {
        let options = options("0.0.0.0:0", token, host);
        assert!(matches!(HttpServer::bind(options).await, Err(ServeError::Open(_))));
    }
    HttpServer::bind(options("0.0.0.0:0", Some(TOKEN), Some("tools.example"))).await.unwrap();
}

fn initialize() -> Value {
    let client = json!({"name": "test", "version": "1"});
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client},
    })
}

fn options(listen: &str, token: Option<&str>, host: Option<&str>) -> HttpOptions {
    HttpOptions {
        listen: listen.parse().unwrap(),
        token: token.map(|token| token.to_owned().into()),
        public_host: host.map(str::to_owned),
    }
}

struct Server {
    address: String,
    stop: oneshot::Sender<()>,
}

impl Server {
    async fn start(token: Option<&str>, host: Option<&str>) -> Self {
        let (agent, _) = agent(&Service::default(), true, &ToolName::ALL).await;
        let server = HttpServer::bind(options("127.0.0.1:0", token, host)).await.unwrap();
        let address = server.address().unwrap().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(server.serve(agent, async { drop(stopped.await) }));
        Self { address, stop }
    }

    async fn post(&self, path: &str, headers: &str, body: &Value) -> (u16, String, String) {
        self.post_to(&self.address, path, headers, body).await
    }

    /// Sends a request, and returns the status, the head and the body of the response.
    async fn post_to(
        &self,
        host: &str,
        path: &str,
        headers: &str,
        body: &Value,
    ) -> (u16, String, String) {
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\
             Connection: close\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }
}
