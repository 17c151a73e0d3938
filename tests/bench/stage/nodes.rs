//! The servers of a stage and their cores.

use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::stage::{database::Place, server::Server};

#[derive(Clone, Copy)]
pub(crate) enum Nodes {
    One,
    /// One server with this retention.
    Retaining(Duration),
    /// One server with this limit of relays.
    Relaying(usize),
    /// Two servers, each on all cores.
    Two,
    /// Two servers, each on half of the cores, like containers on one machine.
    TwoHalves,
}

impl Nodes {
    pub(crate) fn serve(self, place: &Place, suite: &str) -> Vec<Server> {
        let node = || Server::serve(place, suite);
        match self {
            Self::One => vec![node()],
            Self::Retaining(retention) => {
                let retention = format!("{}ms", retention.as_millis());
                let retention = ["--retention".as_ref(), retention.as_ref()];
                vec![Server::serve_with(place, suite, &retention)]
            }
            Self::Relaying(max) => {
                let max = max.to_string();
                vec![Server::serve_with(place, suite, &["--max-relays".as_ref(), max.as_ref()])]
            }
            Self::Two => vec![node(), node()],
            Self::TwoHalves => halves(&cores()).map(|half| on(&half, node)).into(),
        }
    }
}

/// Returns the cores of this thread.
fn cores() -> Vec<usize> {
    let all = sched_getaffinity(None).expect("the affinity of a thread is readable");
    (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).collect()
}

/// Both halves of a single core are the same core.
fn halves(cores: &[usize]) -> [Vec<usize>; 2] {
    let (first, second) = cores.split_at(cores.len() / 2);
    [if first.is_empty() { second } else { first }.to_vec(), second.to_vec()]
}

/// Starts a process on these cores. A process inherits the cores of the thread that starts it.
fn on<T>(cores: &[usize], start: impl Fn() -> T) -> T {
    let all = sched_getaffinity(None).expect("the affinity of a thread is readable");
    let mut own = CpuSet::new();
    for core in cores {
        own.set(*core);
    }
    sched_setaffinity(None, &own).expect("the cores are a part of the affinity");
    let started = start();
    sched_setaffinity(None, &all).expect("the cores were the affinity before");
    started
}
