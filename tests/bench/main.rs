//! How many envelopes a second a node seals, stores durably and delivers, over real sockets and with load generator
//! and receiver on the same machine.
//!
//! `just bench` runs it on the embedded database, and on `PostgreSQL` too where `SEALPOST_BENCH_POSTGRES` names an
//! empty one.
//! `just bench --suite channel` measures another suite than the default one.
//! In the same run it measures a reference, `GET /v1/ping` on the same connections, so that figures of different machines
//! can be compared by their ratio.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark that cannot run stops, and prints what it measured"
)]

mod load;
mod receiver;
mod seed;

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use load::Load;
use receiver::Receiver;
use sealpost_wallet::Keyring;
use seed::Seeded;

fn main() {
    let suite = suite();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be built");
    runtime.block_on(async {
        // One for all runs: a PostgreSQL that was filled under it refuses another.
        let kek = Keyring::fresh_line(1).expect("there is randomness");
        println!("database  connections   ping/s   sent/s  delivered/s  p50 ms  p99 ms  sent/ping");
        for connections in [1, 16, 64] {
            measure("sqlite", None, &kek, &suite, connections).await;
        }
        if let Ok(url) = std::env::var("SEALPOST_BENCH_POSTGRES") {
            for connections in [1, 16, 64] {
                measure("postgres", Some(&url), &kek, &suite, connections).await;
            }
        }
    });
}

/// What `--suite` names; without it, what the server does by itself. Cargo adds an argument of its own.
fn suite() -> Vec<String> {
    let given: Vec<_> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &given[..] {
        [] => given,
        [flag, _] if flag == "--suite" => given,
        _ => panic!("give --suite and its name, or nothing"),
    }
}

async fn measure(
    name: &str,
    postgres: Option<&str>,
    kek: &str,
    suite: &[String],
    connections: usize,
) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let receiver = Receiver::start().await;
    let seeded = Seeded::make(folder.path(), postgres, &receiver.url, kek);
    let server = Server::start(folder.path(), postgres, suite);
    let pings = Load::ping(&server.address).run(connections, SPAN).await;
    let sends = Load::send(&server.address, &seeded);
    sends.run(connections, WARM_UP).await;
    let delivered_before = receiver.delivered();
    let started = Instant::now();
    let sent = sends.run(connections, SPAN).await;
    let delivered = receiver.delivered() - delivered_before;
    let elapsed = started.elapsed().as_secs_f64();
    let ping_rate = rate(pings.done, SPAN);
    let sent_rate = rate(sent.done, SPAN);
    let delivered_rate = f64::from(delivered) / elapsed;
    println!(
        "{name:<9} {connections:>11} {ping_rate:>8.0} {sent_rate:>8.0} {delivered_rate:>12.0} {:>7.2} {:>7.2} {:>10.2}",
        sent.millis(50),
        sent.millis(99),
        sent_rate / ping_rate,
    );
}

fn rate(done: u32, span: Duration) -> f64 {
    f64::from(done) / span.as_secs_f64()
}

/// The real binary.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &std::path::Path, postgres: Option<&str>, suite: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealpost"));
        command
            .args(["--dev", "--log", "error", "--listen", "127.0.0.1:0", "--ops-listen", "off"])
            .arg("--data-dir")
            .arg(folder)
            .args(suite);
        if let Some(url) = postgres {
            command.arg("--database-url").arg(url).arg("--kek-file").arg(folder.join("kek"));
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let out = child.stdout.take().expect("standard output is piped");
        let mut lines = BufReader::new(out).lines();
        let first_line = lines.next().expect("the server starts").expect("its output is text");
        lines.next();
        let address = first_line.trim().rsplit('/').next().expect("the line ends with an address");
        Self { address: address.to_owned(), child }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("the server can be ended");
        self.child.wait().expect("the server ends");
    }
}

const WARM_UP: Duration = Duration::from_secs(1);
const SPAN: Duration = Duration::from_secs(5);
