//! Plans of API keys, and the usage counters for the limits of a plan.

mod plan;
mod usage;

pub use plan::{EnterpriseTerms, Plan};
pub use usage::{Usage, Window, WindowUse};
