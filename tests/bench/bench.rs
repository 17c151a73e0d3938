//! What all scenarios are told: the settings, the machine, and the floors once they are measured.

use std::{cell::RefCell, collections::HashMap, time::Duration};

use crate::{floors::Floors, measure::machine::Machine, stage::database::Engine};

pub(crate) struct Bench {
    pub(crate) suite: String,
    /// How long a run is measured, where it was said.
    pub(crate) seconds: Option<u64>,
    /// Growth in its full size.
    pub(crate) is_full: bool,
    pub(crate) machine: Machine,
    floors: RefCell<HashMap<&'static str, Floors>>,
}

impl Bench {
    pub(crate) fn new(suite: String, seconds: Option<u64>, is_full: bool) -> Self {
        let (machine, floors) = (Machine::look(), RefCell::default());
        Self { suite, seconds, is_full, machine, floors }
    }

    /// How long to measure, where nothing else was said.
    pub(crate) fn span(&self, seconds: u64) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(seconds))
    }

    /// The floors on this database, measured when they are asked for first.
    pub(crate) fn floors(&self, engine: &Engine) -> Floors {
        let known = self.floors.borrow().get(engine.name()).copied();
        known.unwrap_or_else(|| {
            let floors = Floors::measure(self, engine);
            self.floors.borrow_mut().insert(engine.name(), floors);
            floors
        })
    }
}
