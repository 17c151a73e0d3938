//! The environment of a run, created for each run: a database with identities, a receiver, and at least one
//! server.

pub(crate) mod database;
pub(crate) mod horizon;
pub(crate) mod identities;
pub(crate) mod nodes;
pub(crate) mod postgres;
pub(crate) mod receiver;
pub(crate) mod relay_receiver;
pub(crate) mod sealed;
pub(crate) mod server;
pub(crate) mod stored;

use std::time::Duration;

use crate::{
    bench::Bench,
    load::{Load, Pace},
    stage::{
        database::{Engine, Place},
        identities::{Identities, Population},
        nodes::Nodes,
        receiver::Receiver,
        server::Server,
    },
};

/// The environment of a run. Fields are dropped in this order.
pub(crate) struct Stage {
    pub(crate) servers: Vec<Server>,
    pub(crate) receiver: Receiver,
    pub(crate) identities: Identities,
    pub(crate) engine: Engine,
    pub(crate) place: Place,
}

impl Stage {
    /// Creates a stage with these identities and nodes.
    pub(crate) fn set(
        bench: &Bench,
        engine: &Engine,
        population: Population,
        nodes: Nodes,
    ) -> Self {
        Self::set_with(bench, engine, (population, nodes), |_, _| {})
    }

    /// Creates a stage. `fill` changes the database before the first server starts.
    pub(crate) fn set_with(
        bench: &Bench,
        engine: &Engine,
        (population, nodes): (Population, Nodes),
        fill: impl FnOnce(&Place, &Identities),
    ) -> Self {
        let (place, receiver) = (engine.place(), Receiver::start(population.recipients));
        let identities = population.activate(&place, &receiver);
        fill(&place, &identities);
        let servers = nodes.serve(&place, &bench.suite);
        Self { servers, receiver, identities, engine: engine.clone(), place }
    }

    /// Returns a closed load of sends over all nodes.
    pub(crate) fn sends(&self, connections: usize, span: Duration) -> Load {
        Load {
            addresses: self.servers.iter().map(|server| server.address).collect(),
            requests: self.identities.sends(MESSAGE_BYTES),
            connections,
            pace: Pace::Closed,
            warm_up: warm_up(span),
            span,
        }
    }
}

/// Returns the warm-up time: long enough to fill caches, and at most the measured time.
pub(crate) fn warm_up(span: Duration) -> Duration {
    span.min(Duration::from_secs(3))
}

/// The message size of the targets.
pub(crate) const MESSAGE_BYTES: usize = 256;
