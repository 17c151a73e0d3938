//! Plans of API keys, and the usage counters for the limits of a plan.

mod plan;

pub use plan::{EnterpriseTerms, Plan, Usage, Window, WindowUse};
