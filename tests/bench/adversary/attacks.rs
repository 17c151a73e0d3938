//! The attacks, by name.

mod bodies;
mod burst;
mod heads;
mod relays;
mod silent_tls;
mod slow_receivers;
mod storage;
mod tokens;
mod waiting_changes;
mod webhook_changes;

use std::{num::NonZero, thread};

use super::Attack;

pub(crate) const ALL: &[Attack] = &[
    Attack {
        name: "slow-receivers",
        about: "a free account with 70 keys and 1,120 webhooks; its receiver responds after 14 s",
        run: slow_receivers::run,
    },
    Attack {
        name: "burst",
        about: "8,000 messages to a receiver that responds after 0.5 s, and is quick afterwards",
        run: burst::run,
    },
    Attack {
        name: "silent-tls",
        about: "256 TCP connections per core to the TLS listener, which send nothing",
        run: |trial| silent_tls::run(trial, 256 * cores()),
    },
    Attack {
        name: "silent-tls-1200",
        about: "1,200 TCP connections to the TLS listener, which send nothing",
        run: |trial| silent_tls::run(trial, 1200),
    },
    Attack {
        name: "bodies",
        about: "34 unauthenticated requests with unfinished bodies of almost 2 MiB; the bystander sends 100 KB",
        run: bodies::run,
    },
    Attack {
        name: "heads",
        about: "1,000 connections with unfinished request heads of 120 KiB",
        run: heads::run,
    },
    Attack {
        name: "tokens",
        about: "64 connections with made-up tokens on open, status, webhooks and badges",
        run: tokens::run,
    },
    Attack {
        name: "storage",
        about: "one address that activates keys and sends messages of 250 KB, as fast as the limits allow",
        run: storage::run,
    },
    Attack {
        name: "webhook-changes",
        about: "60 connections that register and delete webhooks, about 150 changes a second",
        run: webhook_changes::run,
    },
    Attack {
        name: "relays",
        about: "64 relays that never answer, answer what was not asked, send a byte a second, or refuse everything",
        run: relays::run,
    },
    Attack {
        name: "waiting-changes",
        about: "one key that registers and deletes its webhook in a loop, in front of 1,500 waiting envelopes",
        run: waiting_changes::run,
    },
];

/// Returns the number of workers of a server with default settings.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
