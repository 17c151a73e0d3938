//! Tests of receivers in Node and Python that send interim responses (1xx), or responses without a length. Each
//! receiver names the event in its response, so the delivery log shows which response decided an attempt.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, eventually, has, on_embedded, text};

on_embedded!(each_event_is_judged_by_its_own_final_response);

fn each_event_is_judged_by_its_own_final_response(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1h"]);
    for receiver in receivers("200,500,204,404,500,202") {
        let (alice, bob) = database.busy_pair(&server);
        let webhook = server.register(&bob, &receiver.url);
        let sent =
            (0..EVENTS).map(|_| text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id"));
        let sent: BTreeSet<_> = sent.collect();
        let logged = await_attempts(&server, &bob, &webhook);
        for attempt in &logged {
            let (status, id) = (&attempt["status_code"], text(attempt, "envelope_id"));
            let is_success = status.as_u64().is_some_and(|status| status < 300);
            let outcome = if is_success { "succeeded" } else { "failed" };
            assert_eq!(attempt["outcome"], outcome, "{}: {attempt}", receiver.name);
            if status != 204 {
                assert_eq!(attempt["response"], format!("{status} {id}"), "{}", receiver.name);
            }
        }
        let logged: BTreeSet<_> = logged.iter().map(|it| text(it, "envelope_id")).collect();
        assert_eq!(logged, sent, "{}", receiver.name);
        let body = json!({"webhook_id": webhook["webhook_id"]});
        let tested = server.act(&bob, "/v1/webhooks/test", &body).ok();
        has(&tested, &json!({"outcome": "succeeded", "status_code": 200}));
        let response = format!("200 {}", text(&tested, "event_id"));
        assert_eq!(tested["response"], response, "{}", receiver.name);
    }
}

/// Waits until every event has one attempt in the log.
fn await_attempts(client: &Client, identity: &Identity, webhook: &Value) -> Vec<Value> {
    let body = json!({"webhook_id": webhook["webhook_id"], "limit": 100});
    eventually("all attempts are logged", Duration::from_mins(1), || {
        let page = client.act(identity, "/v1/webhooks/deliveries", &body).ok();
        let entries = page["deliveries"].as_array().unwrap().iter();
        let made: Vec<_> = entries.filter(|it| it["outcome"] != "pending").cloned().collect();
        (made.len() >= EVENTS).then_some(made)
    })
}

/// Returns receivers that respond to the requests with these statuses in turn, each in its own manner.
fn receivers(statuses: &str) -> Vec<Program> {
    let node = |interim| Program::node(interim, statuses);
    vec![
        node("res.writeContinue()"),
        node("res.writeProcessing()"),
        node("res.writeEarlyHints({link: '</a>; rel=preload'})"),
        node("res.writeContinue(); res.writeProcessing(); res.writeProcessing()"),
        node("res.setHeader('Upgrade', 'websocket')"),
        Program::python("self.send_response_only(100); self.end_headers()", statuses),
        Program::python("self.protocol_version = 'HTTP/1.0'", statuses),
    ]
}

/// A receiver in another language.
struct Program {
    name: String,
    url: String,
    process: Child,
}

impl Program {
    /// Starts an HTTP server in Node that runs `interim` before each response.
    fn node(interim: &str, statuses: &str) -> Self {
        let program = NODE.replace("INTERIM", interim);
        Self::start(interim, Command::new("node").args(["-e", &program, statuses]))
    }

    /// Starts an HTTP server in Python that runs `interim` before each response. Its responses have no length.
    fn python(interim: &str, statuses: &str) -> Self {
        let program = PYTHON.replace("INTERIM", interim);
        Self::start(interim, Command::new("python3").args(["-u", "-c", &program, statuses]))
    }

    fn start(name: &str, command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self {
            name: name.to_owned(),
            url: format!("http://127.0.0.1:{}/hook", port.trim()),
            process,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // An error only means that the process has ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

const EVENTS: usize = 12;

const NODE: &str = "
const statuses = process.argv[1].split(',').map(Number);
let number = 0;
const server = require('node:http').createServer((req, res) => {
  req.resume().on('end', () => {
    const status = statuses[number++ % statuses.length];
    INTERIM;
    setImmediate(() => {
      res.writeHead(status);
      res.end(status === 204 ? undefined : `${status} ${req.headers['webhook-id']}`);
    });
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
";

const PYTHON: &str = "
import http.server, itertools, sys
statuses = itertools.cycle(int(status) for status in sys.argv[1].split(','))
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        status = next(statuses)
        INTERIM
        self.close_connection = True
        self.send_response(status)
        self.end_headers()
        if status != 204:
            self.wfile.write(f\"{status} {self.headers['webhook-id']}\".encode())
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1])
server.serve_forever()
";
