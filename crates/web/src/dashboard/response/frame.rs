//! The layout around dashboard pages: the navigation, and the button to sign out.

use askama::Template;

use crate::{
    assets,
    html::{Layout, LayoutExtras, NavLink, SiteAddress},
};

/// The layout of a dashboard page, for a browser with or without a session.
#[derive(Clone, Copy)]
pub(in crate::dashboard) struct Frame<'a> {
    site: &'a SiteAddress,
    /// The form token of the session. `None` if the user is not signed in.
    form_token: Option<&'a str>,
}

/// The button to sign out. It is a form, because following a link must not end a session.
#[derive(Template)]
#[template(path = "dashboard/sign_out.html")]
struct SignOut<'a> {
    base: &'a str,
    form_token: &'a str,
}

impl<'a> Frame<'a> {
    /// Returns the layout for browsers that are not signed in.
    pub(in crate::dashboard) fn public(site: &'a SiteAddress) -> Self {
        Self { site, form_token: None }
    }

    /// Returns the layout for a signed-in user.
    pub(in crate::dashboard) fn signed_in(site: &'a SiteAddress, form_token: &'a str) -> Self {
        Self { site, form_token: Some(form_token) }
    }

    /// Renders the whole page around `main`.
    pub(super) fn render(&self, title: &str, main: &impl Template) -> String {
        let Self { site, form_token } = *self;
        let base = &site.base_path;
        let sign_out = form_token.map(|form_token| SignOut { base, form_token }.render());
        let nav: &[NavLink] = if form_token.is_some() { &SIGNED_IN } else { &PUBLIC };
        let extras = LayoutExtras {
            stylesheet: Some(&assets::DASHBOARD.name),
            // Rendering writes into memory, so it does not fail.
            nav_end: sign_out.and_then(Result::ok).unwrap_or_default(),
        };
        Layout { site, title, nav, current: "" }.render_with(main, &extras)
    }
}

const SIGNED_IN: [NavLink; 4] = [
    NavLink { text: "Identities", to: "/dashboard" },
    NavLink { text: "Account", to: "/dashboard/account" },
    NavLink { text: "Activity", to: "/dashboard/activity" },
    NavLink { text: "Documentation", to: "/docs" },
];
const PUBLIC: [NavLink; 2] = [
    NavLink { text: "Dashboard", to: "/dashboard" },
    NavLink { text: "Documentation", to: "/docs" },
];
