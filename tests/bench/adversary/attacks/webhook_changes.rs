//! Keys that register and delete webhooks, about 150 changes a second together.

use std::{
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    adversary::{
        Outcome, Trial,
        arena::{Arena, Ground},
        bystander::Experience,
        client::{Response, exchange},
        table::Figure,
    },
    stage::{
        identities::{Member, Tenant, unbounded},
        receiver::Receiver,
    },
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant =
        Tenant { keys: trial.pick(CHANGERS, 8), webhooks_of_key: 0, plan: unbounded(1_000_000) };
    let receiver = Receiver::start(1);
    let changers = tenant.activate(&ground.place, &receiver);
    let arena = ground.serve();
    let alone = arena.watch_alone(trial);
    let pause = trial.pick(PAUSE, Duration::from_millis(20));
    let (attacked, rate) = beside_changes(trial, &arena, &changers, &receiver.url(0), pause);
    Outcome { alone, attacked, figures: vec![rate] }
}

/// Measures the bystander while each changer registers and deletes a webhook. Also returns the rate of changes.
pub(super) fn beside_changes(
    trial: &Trial<'_>,
    arena: &Arena,
    changers: &[Member],
    url: &str,
    pause: Duration,
) -> (Experience, Figure) {
    let address = arena.server.address;
    let (is_over, count) = (AtomicBool::new(false), AtomicU32::new(0));
    let (attacked, took) = thread::scope(|scope| {
        for changer in changers {
            scope.spawn(|| change(address, changer, url, pause, (&is_over, &count)));
        }
        let began = Instant::now();
        let attacked = arena.watch(trial.attacked());
        is_over.store(true, Ordering::Relaxed);
        (attacked, began.elapsed())
    });
    let value = format!("{:.0}", f64::from(count.into_inner()) / took.as_secs_f64());
    (attacked, Figure { what: "changes a second", value })
}

/// Registers and deletes a webhook until the run is over. Counts successful changes.
fn change(
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
        let registered = request(&mut stream, by, "/v1/webhooks/register", &register);
        if registered.status != 200 {
            continue;
        }
        count.fetch_add(1, Ordering::Relaxed);
        let body = String::from_utf8_lossy(&registered.body);
        let rest = body.split(r#""webhook_id":""#).nth(1);
        let webhook_id = rest.and_then(|rest| rest.split('"').next());
        let webhook_id = webhook_id.expect("a new webhook has an id");
        let delete = format!(r#"{{"action":"delete","webhook_id":"{webhook_id}"}}"#);
        thread::sleep(pause);
        while request(&mut stream, by, "/v1/webhooks", &delete).status != 200 {}
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn request(stream: &mut TcpStream, by: &Member, path: &str, body: &str) -> Response {
    exchange(stream, &by.post(path, body)).expect("the server responds")
}

/// The number of changers. Each has its own key and connection.
const CHANGERS: usize = 60;

/// Gives about 150 changes a second from all changers together.
const PAUSE: Duration = Duration::from_millis(390);
