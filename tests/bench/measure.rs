//! One run: a load on a stage, measured from outside, with a wait for all acknowledged envelopes.

pub(crate) mod clock;
pub(crate) mod cpu;
pub(crate) mod delivered;
pub(crate) mod machine;

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    load::{Load, Tally},
    measure::delivered::{DELIVERY_TIMEOUT, Delivered},
    report::{Cpu, Latency, Memory, Run, number, per_second, share},
    stage::Stage,
};

/// Runs a load of sends. Every acknowledged envelope must be delivered.
pub(crate) fn deliveries(name: &str, stage: &Stage, load: Load) -> Run {
    let watched = watch(stage, load);
    let Watched { tally, before, at_end, .. } = &watched;
    let delivered = Delivered::within(&stage.receiver, &tally.acknowledged, DELIVERY_TIMEOUT);
    let after = Sample::take(stage);
    let requests = after.requests - before.requests;
    let acknowledged = u64::try_from(tally.acknowledged.len()).unwrap_or(u64::MAX);
    let refused = tally.responses - tally.accepted;
    let nameless = tally.accepted.saturating_sub(acknowledged);
    let failures = [
        (refused > 0).then(|| format!("{refused} refused; in the window {:?}", tally.statuses)),
        // Such responses cannot be checked for loss.
        (nameless > 0).then(|| format!("{nameless} responses name no envelope")),
        (delivered.lost > 0).then(|| format!("{} envelopes were not delivered", delivered.lost)),
        (stage.receiver.checked() == 0).then(|| "no signature was checked".to_owned()),
    ];
    Run {
        delivered_per_s: Some(per_second(at_end.requests - before.requests, watched.wall())),
        webhook_ms: Some(Latency::of(&delivered.latency)),
        cpu_us: Cpu {
            server: share(after.server.saturating_sub(before.server), requests),
            database: after.database_since(before).map(|used| share(used, requests)),
            generator: share(tally.cpu, tally.responses),
            receiver: Some(share(after.receiver.saturating_sub(before.receiver), requests)),
        },
        acknowledged: number(acknowledged),
        lost: delivered.lost,
        duplicates: delivered.duplicates,
        signatures_checked: stage.receiver.checked(),
        drained_after_ms: Some(delivered.waited.as_secs_f64() * 1e3),
        failures: failures.into_iter().flatten().collect(),
        ..watched.run(name)
    }
}

/// Runs one interval of a long load of sends. Forgets the acknowledged envelopes, and does not wait for them. On
/// PostgreSQL, also returns the bytes of the write-ahead log for each envelope.
pub(crate) fn interval(stage: &Stage, load: Load) -> (Run, Option<f64>) {
    let wal = stage.place.wal_position();
    let watched = watch(stage, load);
    let failures = (watched.refused(200) > 0).then(|| format!("{:?}", watched.tally.statuses));
    let acknowledged = number(watched.tally.accepted);
    let run = Run { acknowledged, failures: failures.into_iter().collect(), ..watched.run("") };
    let wal = stage.place.wal_position().zip(wal);
    (run, wal.map(|(now, before)| number(now - before) / acknowledged))
}

/// Runs a load with this expected status for all responses but a few, and without stored envelopes.
pub(crate) fn refusals(name: &str, stage: &Stage, load: Load, status: u16, few: u64) -> Run {
    let watched = watch(stage, load);
    let others = watched.refused(status);
    let statuses = &watched.tally.statuses;
    let failures = (others > few).then(|| format!("not only {status}: {statuses:?}"));
    Run { failures: failures.into_iter().collect(), ..watched.run(name) }
}

/// The result of a load and the measurements from outside.
struct Watched {
    connections: usize,
    tally: Tally,
    before: Sample,
    at_end: Sample,
    memory: Memory,
}

fn watch(stage: &Stage, load: Load) -> Watched {
    drop(stage.receiver.take());
    let connections = load.connections;
    let running = load.start();
    sleep_until(running.window.from);
    let before = Sample::take(stage);
    let mut memory = Memory::default();
    memory.note(resident(stage));
    while Instant::now() < running.window.until {
        sleep_until(running.window.until.min(Instant::now() + LOOK_EVERY));
        memory.note(resident(stage));
    }
    let at_end = Sample::take(stage);
    Watched { connections, tally: running.join(), before, at_end, memory }
}

impl Watched {
    fn wall(&self) -> Duration {
        self.at_end.at - self.before.at
    }

    /// Returns the number of responses with another status.
    fn refused(&self, expected: u16) -> u64 {
        self.tally.statuses.values().sum::<u64>() - self.tally.with_status(expected)
    }

    fn run(self, name: &str) -> Run {
        let (tally, wall, count) = (&self.tally, self.wall(), self.tally.latency.len());
        let (before, at_end) = (&self.before, &self.at_end);
        let ours = at_end.ours().saturating_sub(before.ours());
        let busy = at_end.machine.busy.saturating_sub(before.machine.busy);
        let stolen = at_end.machine.stolen.saturating_sub(before.machine.stolen);
        Run {
            name: name.to_owned(),
            connections: self.connections,
            seconds: wall.as_secs_f64(),
            answered_per_s: per_second(count, wall),
            answer_ms: Latency::of(&tally.latency),
            statuses: tally.statuses.clone(),
            cpu_us: Cpu {
                server: share(at_end.server.saturating_sub(before.server), count),
                database: at_end.database_since(before).map(|used| share(used, count)),
                generator: share(tally.cpu, tally.responses),
                receiver: None,
            },
            memory_mib: self.memory,
            other_processes_percent: percent_of_cores(busy.saturating_sub(ours), wall),
            stolen_percent: percent_of_cores(stolen, wall),
            ..Run::default()
        }
    }
}

/// The CPU time of all processes up to an instant.
struct Sample {
    at: Instant,
    server: Duration,
    database: Option<Duration>,
    receiver: Duration,
    bench: Duration,
    machine: cpu::Machine,
    requests: u64,
}

impl Sample {
    fn take(stage: &Stage) -> Self {
        Self {
            at: Instant::now(),
            server: stage.servers.iter().map(crate::stage::server::Server::cpu).sum(),
            database: stage.engine.cpu(),
            receiver: stage.receiver.cpu(),
            bench: cpu::of_this_process(),
            machine: cpu::Machine::now(),
            requests: stage.receiver.count(),
        }
    }

    fn ours(&self) -> Duration {
        self.server + self.database.unwrap_or_default() + self.bench
    }

    fn database_since(&self, before: &Self) -> Option<Duration> {
        Some(self.database?.saturating_sub(before.database?))
    }
}

fn resident(stage: &Stage) -> (u64, u64) {
    let memory = stage.servers.iter().map(crate::stage::server::Server::memory_kib);
    memory.fold((0, 0), |(now, peak), (more, higher)| (now.max(more), peak.max(higher)))
}

fn percent_of_cores(used: Duration, wall: Duration) -> f64 {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let cores = f64::from(u32::try_from(cores).unwrap_or(u32::MAX));
    100.0 * used.as_secs_f64() / (wall.as_secs_f64() * cores)
}

fn sleep_until(instant: Instant) {
    thread::sleep(instant.saturating_duration_since(Instant::now()));
}

const LOOK_EVERY: Duration = Duration::from_millis(500);
