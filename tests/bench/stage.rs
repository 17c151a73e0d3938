//! All that a run needs, set up afresh: a database, people in it, a receiver, and one server or more.

pub(crate) mod database;
pub(crate) mod nodes;
pub(crate) mod people;
pub(crate) mod postgres;
pub(crate) mod receiver;
pub(crate) mod server;
pub(crate) mod stored;

use std::time::Duration;

use crate::{
    bench::Bench,
    load::{Load, Pace},
    stage::{
        database::{Engine, Place},
        nodes::Nodes,
        people::{Crowd, People},
        receiver::Receiver,
        server::Server,
    },
};

/// What is set up; dropped in this order.
pub(crate) struct Stage {
    pub(crate) servers: Vec<Server>,
    pub(crate) receiver: Receiver,
    pub(crate) people: People,
    pub(crate) engine: Engine,
    _place: Place,
}

impl Stage {
    /// With this crowd, on these nodes.
    pub(crate) fn set(bench: &Bench, engine: &Engine, crowd: Crowd, nodes: Nodes) -> Self {
        Self::set_with(bench, engine, (crowd, nodes), |_, _| {})
    }

    /// The same, with more done to the database before the first server starts.
    pub(crate) fn set_with(
        bench: &Bench,
        engine: &Engine,
        (crowd, nodes): (Crowd, Nodes),
        fill: impl FnOnce(&Place, &People),
    ) -> Self {
        let (place, receiver) = (engine.place(), Receiver::start(crowd.recipients));
        let people = crowd.activate(&place, &receiver);
        fill(&place, &people);
        let servers = nodes.serve(&place, &bench.suite);
        Self { servers, receiver, people, engine: engine.clone(), _place: place }
    }

    /// A closed load of sends, over all nodes.
    pub(crate) fn sends(&self, connections: usize, span: Duration) -> Load {
        Load {
            addresses: self.servers.iter().map(|server| server.address).collect(),
            requests: self.people.sends(MESSAGE_BYTES),
            connections,
            pace: Pace::Closed,
            warm_up: warm_up(span),
            span,
        }
    }
}

/// Long enough for caches to fill, and no longer than what is measured.
pub(crate) fn warm_up(span: Duration) -> Duration {
    span.min(Duration::from_secs(3))
}

/// What the targets are stated for.
pub(crate) const MESSAGE_BYTES: usize = 256;
