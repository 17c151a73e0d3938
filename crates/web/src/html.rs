//! The common base of all pages: layout, headers and caching.
//!
//! Each page is an askama template of its main part, and [`Layout`] renders the whole page around it. Each link in a
//! template begins with `base`, the path of the base URL. [`cached_page`] prepares a page that is the same for all
//! readers. [`private_page`] responds with any other page.

mod accept;
mod layout;
mod response;

pub(crate) use accept::accepts_html;
pub(crate) use layout::{Layout, Nav, NavLink, Notice, Sidebar, SiteAddress, current_link};
pub(crate) use response::{cached_asset, cached_file, cached_page, private_page};
