//! The layout around dashboard pages: header, sidebar, notice and the button to sign out.

use askama::Template;

use crate::{
    assets,
    html::{Layout, NavLink, Notice, Sidebar, SiteAddress, current_link},
};

/// The layout of a dashboard page, for a browser with or without a session.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) site: &'a SiteAddress,
    /// `None` if the user is not signed in.
    pub(crate) session: Option<FrameSession<'a>>,
    pub(crate) notice: Notice<'a>,
}

/// The session of the signed-in user, for the layout.
#[derive(Clone, Copy)]
pub(crate) struct FrameSession<'a> {
    pub(crate) form_token: &'a str,
    pub(crate) account: &'a str,
    /// The path of the page, which decides the current item of the sidebar.
    pub(crate) path: &'a str,
}

/// The account, and the button to sign out. The button is a form, because following a link must not end a session.
#[derive(Template)]
#[template(path = "dashboard/sign_out.html")]
struct SignOut<'a> {
    base: &'a str,
    form_token: &'a str,
    account: &'a str,
}

impl<'a> Frame<'a> {
    /// Returns the layout for browsers that are not signed in.
    pub(crate) fn public(site: &'a SiteAddress) -> Self {
        Self { site, session: None, notice: Notice::default() }
    }

    /// Renders the whole page around `main`.
    pub(super) fn render(&self, title: &str, main: &impl Template) -> String {
        let Self { site, session, notice } = *self;
        let base = &site.base_path;
        let sign_out = session.map(|FrameSession { form_token, account, .. }| {
            SignOut { base, form_token, account }.render().unwrap_or_default()
        });
        let layout = Layout {
            current: "/dashboard",
            stylesheet: Some(&assets::DASHBOARD.name),
            sidebar: session.map(|session| Sidebar {
                label: "Dashboard",
                links: &SIDEBAR,
                current: current_link(&SIDEBAR, session.path),
            }),
            // Rendering writes into memory, so it does not fail.
            nav_end: sign_out.unwrap_or_default(),
            notice,
            ..Layout::new(site, title)
        };
        layout.render(main)
    }
}

const SIDEBAR: [NavLink; 8] = [
    NavLink { text: "Overview", to: "/dashboard" },
    NavLink { text: "Identities", to: "/dashboard/keys" },
    NavLink { text: "Sent", to: "/dashboard/sent" },
    NavLink { text: "Events", to: "/dashboard/events" },
    NavLink { text: "Webhooks", to: "/dashboard/webhooks" },
    NavLink { text: "API tokens", to: "/dashboard/tokens" },
    NavLink { text: "Activity", to: "/dashboard/activity" },
    NavLink { text: "Account", to: "/dashboard/account" },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_marks_one_item_of_the_sidebar() {
        for (path, item) in [
            ("/dashboard", "/dashboard"),
            ("/dashboard/keys/ak_1/events", "/dashboard/keys"),
            ("/dashboard/events", "/dashboard/events"),
            ("/dashboard/tokens/tok_1", "/dashboard/tokens"),
            ("/dashboard/account/close", "/dashboard/account"),
            ("/dashboard/account/export", "/dashboard/account"),
        ] {
            assert_eq!(current_link(&SIDEBAR, path), item);
        }
    }
}
