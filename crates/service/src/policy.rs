//! Use cases of a recipient's policy.

mod change;
mod contacts;
mod lock;
mod set;

pub use change::PolicyChange;
pub use set::PolicyView;
