//! Ports for accounts: account, activity log, API tokens, invites, erasure, and queries of the owner. A port is a trait
//! that the database crate implements.

mod accounts;
mod activity;
mod api_tokens;
mod erasure;
mod invites;
mod owner;

pub use accounts::AccountRepo;
pub use activity::ActivityRepo;
pub use api_tokens::ApiTokenRepo;
pub use erasure::{ClosedPortion, ClosingExtent, DeletedRows, ErasureRepo};
pub use invites::InviteRepo;
pub use owner::{DailyCount, KeyOverview, OwnerLookup};
