//! The reference for the speed of the machine, which can change by a third within minutes.

use std::{thread, time::Duration};

use crate::{
    bench::Bench,
    load::Load,
    measure::interval,
    stage::{Stage, database::Engine, identities::Population, nodes::Nodes, server::Server},
};

/// A second server with a database of its own, in which nothing expires.
pub(super) struct Reference {
    stage: Stage,
    connections: usize,
    span: Duration,
}

impl Reference {
    /// Starts the server, and sends from most senders to most recipients: the first envelope of a pair costs more.
    pub(super) fn start(
        bench: &Bench,
        engine: &Engine,
        population: Population,
        (connections, span): (usize, Duration),
    ) -> Self {
        let stage = Stage::set(bench, engine, population, Nodes::One);
        let reference = Self { stage, connections, span };
        interval(&reference.stage, Load { span: WARM_UP_SPANS * span, ..reference.sends() });
        reference
    }

    /// Returns the sends a second of the reference. Stops the processes of the measured servers meanwhile, so that they
    /// neither slow the reference down nor delete rows without load.
    pub(super) fn rate(&self, measured: &Stage) -> f64 {
        thread::sleep(DELIVERED_WITHIN);
        measured.servers.iter().for_each(Server::suspend);
        let run = interval(&self.stage, self.sends());
        measured.servers.iter().for_each(Server::resume);
        run.answered_per_s
    }

    fn sends(&self) -> Load {
        self.stage.sends(self.connections, self.span)
    }
}

/// Length of the first load, as a multiple of the length of a measurement.
const WARM_UP_SPANS: u32 = 8;
/// Time for the last deliveries of an interval.
const DELIVERED_WITHIN: Duration = Duration::from_millis(500);
