//! Ports for accounts: account, activity log, API tokens, invites, used forms, erasure, and queries of the owner. A port
//! is a trait that the database crate implements.

mod accounts;
mod activity;
mod api_tokens;
mod erasure;
mod forms;
mod invites;
mod owner;

pub use accounts::AccountRepo;
pub use activity::ActivityRepo;
pub use api_tokens::ApiTokenRepo;
pub use erasure::{ClosedPortion, ClosingExtent, DeletedRows, ErasureRepo};
pub use forms::FormRepo;
pub use invites::InviteRepo;
pub use owner::{DailyCount, EventSource, KeyOverview, OwnerLookup};
