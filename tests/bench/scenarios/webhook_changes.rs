//! Sends alone, and beside other accounts that register and delete webhooks.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::Outcome;
use crate::{
    bench::Bench,
    load::Load,
    measure::deliveries,
    report::{Finding, Run},
    stage::{
        Stage,
        database::Engine,
        identities::{Member, Population},
        nodes::Nodes,
    },
    wire::{frame, post},
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let many = Population::MANY;
    let population = Population { senders: many.senders + CHANGERS, ..many };
    let mut stage = Stage::set(bench, engine, population, Nodes::One);
    let changers = stage.identities.senders.split_off(many.senders);
    let load = || stage.sends(64, bench.span(10));
    let alone = deliveries("sends alone", &stage, load());
    let (paced, paced_per_s) = run_beside("beside paced changes", &stage, &changers, PAUSE, load());
    let (unbounded, unbounded_per_s) =
        run_beside("beside unbounded changes", &stage, &changers, Duration::ZERO, load());
    let ratio = paced.answer_ms.p90 / alone.answer_ms.p90;
    let findings = vec![
        Finding::at_most("p90 of a response beside paced changes, over alone", ratio, 2.0),
        Finding::at_least("paced changes a second", paced_per_s, 140.0),
        Finding::at_least("unbounded changes a second", unbounded_per_s, 140.0),
    ];
    Outcome { runs: vec![alone, paced, unbounded], findings, ..Outcome::default() }
}

/// Runs the load beside the changers, each with this pause between changes. Returns the run and the changes a second.
fn run_beside(
    name: &str,
    stage: &Stage,
    changers: &[Member],
    pause: Duration,
    load: Load,
) -> (Run, f64) {
    let address = stage.servers.first().expect("there is a node").address;
    let url = stage.receiver.url(0);
    let (is_over, count) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        for member in changers {
            scope.spawn(|| change(address, member, &url, pause, (&is_over, &count)));
        }
        let began = Instant::now();
        let run = deliveries(name, stage, load);
        is_over.store(true, Ordering::Relaxed);
        let per_s = f64::from(count.load(Ordering::Relaxed)) / began.elapsed().as_secs_f64();
        (run, per_s)
    })
}

/// Registers and deletes a webhook until the run is over. Counts successful changes.
pub(crate) fn change(
    address: SocketAddr,
    by: &Member,
    url: &str,
    pause: Duration,
    (is_over, count): (&AtomicBool, &AtomicU32),
) {
    let mut stream = TcpStream::connect(address).expect("the server accepts");
    let register = format!(r#"{{"url":"{url}","events":["envelope.received"]}}"#);
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(pause);
        let (status, body) = request(&mut stream, by, "/v1/webhooks/register", &register);
        if status != 200 {
            continue;
        }
        count.fetch_add(1, Ordering::Relaxed);
        let rest = body.split(r#""webhook_id":""#).nth(1);
        let webhook_id = rest.and_then(|rest| rest.split('"').next());
        let webhook_id = webhook_id.expect("a new webhook has an id");
        let delete = format!(r#"{{"action":"delete","webhook_id":"{webhook_id}"}}"#);
        thread::sleep(pause);
        while request(&mut stream, by, "/v1/webhooks", &delete).0 != 200 {}
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Sends a request and returns status and body of the response.
fn request(stream: &mut TcpStream, by: &Member, path: &str, body: &str) -> (u16, String) {
    let headers = format!("Authorization: Bearer {}\r\nX-DID-API-Key: {}\r\n", by.token, by.key);
    stream.write_all(&post(path, &headers, body)).expect("the server reads");
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let read = stream.read(&mut part).expect("the server responds");
        assert!(read > 0, "the server closed the connection");
        bytes.extend_from_slice(part.get(..read).unwrap_or_default());
        if let Some(response) = frame(&bytes) {
            return (response.status(), String::from_utf8_lossy(response.body).into_owned());
        }
    }
}

/// The number of changers. Each has its own key and connection.
pub(crate) const CHANGERS: usize = 60;

/// Gives about 150 changes a second from all changers together.
pub(crate) const PAUSE: Duration = Duration::from_millis(390);
