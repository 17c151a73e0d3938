//! The closed loop: one request in flight on each connection.

use std::time::Instant;

use super::{Connection, Load, RESPONSE_TIMEOUT, Tally, Window, turns};
use crate::poller::Poller;

pub(crate) fn run(load: &Load, mut connections: Vec<Connection>, window: Window) -> Tally {
    let (mut poller, mut tally, mut turns) = (Poller::new(), Tally::new(window), turns(load));
    for (token, (connection, request)) in connections.iter_mut().zip(&mut turns).enumerate() {
        connection.watch(&poller, token);
        connection.send(request, Instant::now());
    }
    let mut under_way = connections.len();
    while under_way > 0 {
        let mut ready = poller.wait(RESPONSE_TIMEOUT).peekable();
        assert!(ready.peek().is_some(), "the server does not respond");
        for token in ready {
            let connection =
                connections.get_mut(token).expect("the token is the index of the connection");
            let Some((response, since)) = connection.receive() else { continue };
            let now = Instant::now();
            tally.note(&response, since, now);
            match turns.next() {
                Some(request) if now < window.until => connection.send(request, now),
                _ => under_way -= 1,
            }
        }
    }
    tally.finish()
}
