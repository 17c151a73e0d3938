//! The closed loop: as many requests under way as there are connections.

use std::time::Instant;

use super::{Connection, Load, PATIENCE, Tally, Window, turns};
use crate::poller::Poller;

pub(crate) fn run(load: &Load, mut connections: Vec<Connection>, window: Window) -> Tally {
    let (mut poller, mut tally, mut turns) = (Poller::new(), Tally::new(window), turns(load));
    for (token, (connection, request)) in connections.iter_mut().zip(&mut turns).enumerate() {
        connection.watch(&poller, token);
        connection.send(request, Instant::now());
    }
    let mut under_way = connections.len();
    while under_way > 0 {
        let mut ready = poller.wait(PATIENCE).peekable();
        assert!(ready.peek().is_some(), "the server does not answer");
        for token in ready {
            let connection = connections.get_mut(token).expect("its token is its place");
            let Some((answer, since)) = connection.receive() else { continue };
            let now = Instant::now();
            tally.note(&answer, since, now);
            match turns.next() {
                Some(request) if now < window.until => connection.send(request, now),
                _ => under_way -= 1,
            }
        }
    }
    tally.finish()
}
