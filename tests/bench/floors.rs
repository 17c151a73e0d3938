//! The floors: the CPU time of the parts of a send, measured separately.
//!
//! A send cannot cost less than the sum of its floors with these libraries.

mod echo;
mod request;
mod seal;
mod storing;

use std::{fmt, time::Duration};

use sealpost_domain::{Envelope, Suite};
use serde::Serialize;

use crate::{
    bench::Bench,
    stage::{database::Engine, identities::Population, receiver::Receiver},
};

pub(crate) use echo::serve as serve_echo;

/// CPU time in microseconds.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Floors {
    /// Library calls to seal and sign. `None` for a suite that this bench cannot create.
    pub(crate) seal: Option<f64>,
    /// A request of the same size to an actix-web server that returns the body as JSON.
    pub(crate) echo: f64,
    /// One envelope and its delivery, stored in a batch and completed in a batch, on both sides of the
    /// connection.
    pub(crate) storing: f64,
    /// One request by awc to the receiver.
    pub(crate) request: f64,
}

impl Floors {
    pub(crate) fn measure(bench: &Bench, engine: &Engine) -> Self {
        let budget = (bench.span(10) / 5).max(Duration::from_millis(100));
        let (place, receiver) = (engine.place(), Receiver::start(Population::MANY.recipients));
        let identities = Population::MANY.activate(&place, &receiver);
        let sealed = sealed_envelope(&bench.suite);
        Self {
            seal: suite(&bench.suite).map(|suite| seal::measure(suite, budget)),
            echo: echo::measure(&identities, budget),
            storing: storing::measure((&place, engine), &identities, &sealed, budget),
            request: request::measure(&receiver, &sealed.meta, budget),
        }
    }

    pub(crate) fn sum(&self) -> f64 {
        self.seal.unwrap_or(f64::NAN) + self.echo + self.storing + self.request
    }
}

impl fmt::Display for Floors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seal, echo, storing, request } = self;
        let (seal, sum) = (seal.unwrap_or(f64::NAN), self.sum());
        write!(
            f,
            "floors, CPU us an envelope: seal and sign {seal:.1}, HTTP echo {echo:.1}, store and complete {storing:.1}, \
             webhook request {request:.1}; sum {sum:.1}"
        )
    }
}

/// Returns an envelope of this suite, or of about the same size.
pub(crate) fn sealed_envelope(suite_name: &str) -> Envelope {
    seal::envelope(suite(suite_name).unwrap_or(Suite::Hybrid))
}

fn suite(name: &str) -> Option<Suite> {
    match name {
        "channel" => Some(Suite::Channel),
        "classic" => Some(Suite::Classic),
        "hybrid" => Some(Suite::Hybrid),
        _ => None,
    }
}
