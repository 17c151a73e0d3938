//! Pages for people, on a foundation that all of them share: one layout, one stylesheet from the binary, headers under
//! which nothing runs that is not ours, and answers that browsers may keep. What a page shows is its owner's affair.
//!
//! A page is an askama template of its main part, which takes the place's `base_path` before each of its links.
//! [`Layout`] puts it into the whole; [`page()`] keeps one that is the same for everybody, and [`private()`] answers
//! with one that is not.

pub(crate) mod assets;
mod headers;
mod layout;
mod stored;

pub(crate) use assets::routes;
pub(crate) use headers::private;
pub(crate) use layout::{Besides, Layout, Link, Place};
pub(crate) use stored::page;
