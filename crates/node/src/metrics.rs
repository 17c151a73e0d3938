//! What the server counts, in Prometheus' text format.
//!
//! The library crates count through the `metrics` facade and know nothing of Prometheus: whoever embeds them installs
//! the recorder that they like, or none. This one is the server's: each series is an atomic or an array of them, so
//! that memory is bounded also where nobody ever asks, and counting never waits.

mod catalogue;
mod process;
mod registry;
mod spread;

use std::sync::Arc;

use sealpost_domain::Clock as _;

use crate::{
    compose::SystemClock,
    error::{Failure, NodeError},
};

pub(crate) use catalogue::CATALOGUE;
pub use registry::Registry;

/// Counts from now on whatever this process does.
pub fn install() -> Result<Arc<Registry>, NodeError> {
    let registry = Arc::new(Registry::new(&CATALOGUE));
    metrics::set_global_recorder(Arc::clone(&registry)).map_err(|error| {
        NodeError::Start(Failure::new(format!("nothing can be counted: {error}")))
    })?;
    metrics::gauge!("sealpost_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
    metrics::gauge!("process_start_time_seconds").set(float(SystemClock.now().as_seconds()));
    Ok(registry)
}

/// Asks the system about this process.
pub(crate) fn observe_process() {
    process::observe();
}

/// A number as the format wants it; what is larger than anything that is counted here stays as large as that.
pub(crate) fn float(number: impl TryInto<u32>) -> f64 {
    f64::from(number.try_into().unwrap_or(u32::MAX))
}
