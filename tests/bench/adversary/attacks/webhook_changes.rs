//! Keys that register and delete webhooks, about 150 changes a second together.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    stage::{
        identities::{Member, Tenant, unbounded},
        receiver::Receiver,
    },
    wire::{frame, post},
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant =
        Tenant { keys: trial.pick(CHANGERS, 8), webhooks_of_key: 0, plan: unbounded(1_000_000) };
    let receiver = Receiver::start(1);
    let changers = tenant.activate(&ground.place, &receiver);
    let arena = ground.serve();
    let alone = arena.watch_alone(trial);
    let (address, url) = (arena.server.address, receiver.url(0));
    let pause = trial.pick(PAUSE, Duration::from_millis(20));
    let (is_over, count) = (AtomicBool::new(false), AtomicU32::new(0));
    let (attacked, took) = thread::scope(|scope| {
        for changer in &changers {
            scope.spawn(|| change(address, changer, &url, pause, (&is_over, &count)));
        }
        let began = Instant::now();
        let attacked = arena.watch(trial.attacked());
        is_over.store(true, Ordering::Relaxed);
        (attacked, began.elapsed())
    });
    let value = format!("{:.0}", f64::from(count.into_inner()) / took.as_secs_f64());
    Outcome { alone, attacked, figures: vec![Figure { what: "changes a second", value }] }
}

/// Registers and deletes a webhook until the run is over. Counts successful changes.
pub(super) fn change(
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
const CHANGERS: usize = 60;

/// Gives about 150 changes a second from all changers together.
const PAUSE: Duration = Duration::from_millis(390);
