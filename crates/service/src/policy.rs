//! Use cases of a recipient's policy: which senders the recipient accepts, and what it shows to other keys.

mod change;
mod contacts;
mod lock;
mod set;

pub use change::PolicyChange;
pub use set::PolicyView;
