//! Plans, and the usage that counts against their limits.

mod plan;
mod usage;

pub use plan::{EnterpriseTerms, Plan};
pub use usage::{Usage, Window, WindowUse};
