//! How many servers a stage has, and which cores they run on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::stage::{database::Place, server::Server};

#[derive(Clone, Copy)]
pub(crate) enum Nodes {
    One,
    /// Each on all cores.
    Two,
    /// Each on half of them, as containers that share a machine.
    TwoHalves,
}

impl Nodes {
    pub(crate) fn serve(self, place: &Place, suite: &str) -> Vec<Server> {
        let node = || Server::serve(place, suite);
        match self {
            Self::One => vec![node()],
            Self::Two => vec![node(), node()],
            Self::TwoHalves => halves(&cores()).map(|half| on(&half, node)).into(),
        }
    }
}

/// Those that this thread may run on.
fn cores() -> Vec<usize> {
    let all = sched_getaffinity(None).expect("the kernel tells where a thread may run");
    (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).collect()
}

/// What a single core has two of is that core.
fn halves(cores: &[usize]) -> [Vec<usize>; 2] {
    let (first, second) = cores.split_at(cores.len() / 2);
    [if first.is_empty() { second } else { first }.to_vec(), second.to_vec()]
}

/// Starts something that keeps to these cores: a process begins with those of the thread that starts it.
fn on<T>(cores: &[usize], start: impl Fn() -> T) -> T {
    let all = sched_getaffinity(None).expect("the kernel tells where a thread may run");
    let mut own = CpuSet::new();
    for core in cores {
        own.set(*core);
    }
    sched_setaffinity(None, &own).expect("they are some of its own");
    let started = start();
    sched_setaffinity(None, &all).expect("they were its own");
    started
}
