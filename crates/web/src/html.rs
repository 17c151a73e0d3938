//! The common base of all pages: layout, headers and caching.
//!
//! A page is an askama template of its main part. Each link in a template begins with `base`, the path of the base URL.
//! [`Layout`] renders the whole page. [`cached_page`] stores a page that is equal for all readers; [`private_page`] is
//! the response for every other page.

mod cached;
mod layout;
mod response;

pub(crate) use cached::{cached_asset, cached_page};
pub(crate) use layout::{Layout, LayoutExtras, NavLink, SiteAddress};
pub(crate) use response::private_page;
