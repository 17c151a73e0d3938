//! What stands around a page of the dashboard: the layout that all pages have, with the ways of whoever is signed in.

use askama::Template;

use crate::pages::{Besides, Layout, Link, Place, assets};

/// The surroundings of one browser's pages.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    place: &'a Place,
    /// Of whoever is signed in.
    form_token: Option<&'a str>,
}

/// A button, since only a form may end a session.
#[derive(Template)]
#[template(path = "dashboard/sign_out.html")]
struct SignOut<'a> {
    base: &'a str,
    form_token: &'a str,
}

impl<'a> Frame<'a> {
    /// Around what everybody may see.
    pub(super) fn public(place: &'a Place) -> Self {
        Self { place, form_token: None }
    }

    /// Around what only the owner of an account may see.
    pub(super) fn signed_in(place: &'a Place, form_token: &'a str) -> Self {
        Self { place, form_token: Some(form_token) }
    }

    /// The whole page.
    pub(super) fn around(&self, title: &str, main: &impl Template) -> String {
        let Self { place, form_token } = *self;
        let base = &place.base_path;
        let sign_out = form_token.map(|form_token| SignOut { base, form_token }.render());
        let nav: &[Link] = if form_token.is_some() { &OWN } else { &PUBLIC };
        let besides = Besides {
            stylesheet: Some(assets::dashboard()),
            // A template writes into memory alone, which does not fail.
            nav_end: sign_out.and_then(Result::ok).unwrap_or_default(),
        };
        Layout { place, title, nav, here: "" }.around_with(main, &besides)
    }
}

const OWN: [Link; 3] = [
    Link { text: "Identities", to: "/dashboard" },
    Link { text: "Account", to: "/dashboard/account" },
    Link { text: "Documentation", to: "/docs" },
];
const PUBLIC: [Link; 2] =
    [Link { text: "Dashboard", to: "/dashboard" }, Link { text: "Documentation", to: "/docs" }];
