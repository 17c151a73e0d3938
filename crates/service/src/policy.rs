//! Use cases of a recipient's policy: the senders that the recipient accepts, and the data that other keys can see.

mod change;
mod contacts;
mod lock;
mod set;

pub use change::PolicyChange;
pub use set::PolicyView;
