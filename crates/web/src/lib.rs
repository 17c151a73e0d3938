//! Pages of Sealpost: dashboard, documentation, badges, and the assets that pages load.

mod badge_page;
mod dashboard;
mod docs;
mod pages;
mod state;

pub use state::{WebState, routes};
