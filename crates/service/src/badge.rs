//! Badges: issued on a key's newest assessment, verified, shown, and taken back through a public list.

mod credential;
mod issue;
mod show;
mod status_list;
mod verify;

pub(crate) use credential::Author;
pub use issue::{DryRun, Issue, Issued, IssuedBadge};
pub use show::BadgeShown;
pub(crate) use status_list::StatusLists;
pub use verify::{BadgeVerdict, BadgeVerified};
