//! Shared state of all scenarios: the settings, the machine, and the floors once measured.

use std::{cell::RefCell, collections::HashMap, time::Duration};

use crate::{
    floors::Floors,
    measure::machine::Machine,
    stage::{database::Engine, horizon::Holder},
};

pub(crate) struct Bench {
    pub(crate) suite: String,
    /// The length of each run in seconds, if given.
    pub(crate) seconds: Option<u64>,
    /// Retention of `steady`, in seconds.
    pub(crate) retention: u64,
    /// Runs `growth` in full size.
    pub(crate) is_full: bool,
    /// Number of senders and of recipients of `growth` that take turns, if given.
    pub(crate) active: Option<usize>,
    /// What keeps old row versions in `horizon`.
    pub(crate) holder: Holder,
    pub(crate) machine: Machine,
    pub(crate) floors: RefCell<HashMap<&'static str, Floors>>,
}

impl Bench {
    /// Returns the given length of a run, or `seconds` by default.
    pub(crate) fn span(&self, seconds: u64) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(seconds))
    }

    /// Returns the floors on this database. Measures them at the first call.
    pub(crate) fn floors(&self, engine: &Engine) -> Floors {
        let known = self.floors.borrow().get(engine.name()).copied();
        known.unwrap_or_else(|| {
            let floors = Floors::measure(self, engine);
            self.floors.borrow_mut().insert(engine.name(), floors);
            floors
        })
    }
}
