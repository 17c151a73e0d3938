//! Relays whose receivers never answer, answer what was not asked, send one byte a second, or refuse everything.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::Duration,
};

use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    load::Pace,
    stage::{
        identities::{Tenant, make_relays, ring, unbounded},
        receiver::Receiver,
        relay_receiver::{text_frame, try_open},
    },
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant = Tenant { keys: trial.pick(64, 8), webhooks_of_key: 1, plan: unbounded(1_000_000) };
    let receiver = Receiver::start(tenant.targets());
    let members = tenant.activate(&ground.place, &receiver);
    make_relays(&ground.place, &members.iter().collect::<Vec<_>>());
    let arena = ground.serve();
    let alone = arena.watch_alone(trial);
    let server = arena.server.address;
    let span = trial.attacked();
    let sends = arena.load(ring(&members), Pace::Open { per_second: 350 }, span);
    let (is_over, opened) = (AtomicBool::new(false), AtomicU32::new(0));
    let attacked = thread::scope(|scope| {
        let kinds = [never_answer, answer_nothing_asked, trickle, refuse].into_iter().cycle();
        for (member, attack) in members.iter().zip(kinds) {
            let (is_over, opened) = (&is_over, &opened);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    if let Ok(stream) = try_open(server, member) {
                        opened.fetch_add(1, Ordering::Relaxed);
                        attack(stream, is_over);
                    }
                    thread::sleep(PAUSE);
                }
            });
        }
        let running = sends.start();
        let attacked = arena.watch(span);
        is_over.store(true, Ordering::Relaxed);
        running.join();
        attacked
    });
    let value = opened.into_inner().to_string();
    Outcome { alone, attacked, figures: vec![Figure { what: "connections opened", value }] }
}

/// Reads nothing and sends nothing.
fn never_answer(_stream: TcpStream, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(PAUSE);
    }
}

/// Sends answers to deliveries that do not exist, as fast as the server reads.
fn answer_nothing_asked(mut stream: TcpStream, is_over: &AtomicBool) {
    let answer = text_frame(r#"{"delivery":"999999999","status":204}"#);
    let answers = answer.repeat(64);
    stream.set_write_timeout(Some(PAUSE)).expect("the socket is open");
    while !is_over.load(Ordering::Relaxed) && stream.write_all(&answers).is_ok() {}
}

/// Sends one byte of an answer in each second.
fn trickle(mut stream: TcpStream, is_over: &AtomicBool) {
    for byte in text_frame(r#"{"delivery":"1","status":204}"#) {
        if is_over.load(Ordering::Relaxed) || stream.write_all(&[byte]).is_err() {
            return;
        }
        thread::sleep(Duration::from_secs(1));
    }
}

/// Answers every delivery with status 500. The deliveries on a connection are numbered from 1.
fn refuse(mut stream: TcpStream, is_over: &AtomicBool) {
    stream.set_read_timeout(Some(PAUSE)).expect("the socket is open");
    let mut part = [0; 4096];
    let mut number = 0;
    while !is_over.load(Ordering::Relaxed) {
        match stream.read(&mut part) {
            Ok(0) => return,
            Ok(_) => {
                number += 1;
                let answer = text_frame(&format!(r#"{{"delivery":"{number}","status":500}}"#));
                if stream.write_all(&answer).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

/// Time between two connections of an attacker.
const PAUSE: Duration = Duration::from_millis(100);
