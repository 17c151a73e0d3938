//! The responses of the dashboard: pages in the layout of the dashboard, redirects and error pages.

use std::time::Duration;

use actix_web::{
    HttpRequest,
    http::{StatusCode, header},
    web,
};
use askama::Template;
use sealpost_api::whole_seconds;
use sealpost_domain::with_causes;
use sealpost_service::Error;

use crate::{
    assets,
    html::{
        Flash, INVALID_QUERY, Layout, NavLink, Notice, PageResponse, Rejection, Sidebar,
        SiteAddress, current_link, forms::Draft,
    },
    state::WebState,
};

/// The layout of a dashboard page, for a browser with or without a session.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) site: &'a SiteAddress,
    /// `None` if the user is not signed in.
    pub(super) session: Option<FrameSession<'a>>,
    pub(super) notice: Notice<'a>,
}

/// The session of the signed-in user, for the layout.
#[derive(Clone, Copy)]
pub(super) struct FrameSession<'a> {
    pub(super) form_token: &'a str,
    pub(super) account: &'a str,
    /// The path of the page, which decides the current item of the sidebar.
    pub(super) path: &'a str,
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
    pub(super) fn public(site: &'a SiteAddress) -> Self {
        Self { site, session: None, notice: Notice::default() }
    }

    /// Renders the whole page around `main`.
    fn render(&self, title: &str, main: &impl Template) -> String {
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

#[derive(Template)]
#[template(path = "dashboard/error.html")]
struct ErrorPage<'a> {
    base: &'a str,
    title: &'a str,
    detail: &'a str,
}

impl PageResponse {
    /// Responds with a page and status 200.
    pub(super) fn ok(frame: Frame<'_>, title: &str, main: &impl Template) -> Self {
        Self::new(StatusCode::OK, frame.render(title, main))
    }

    /// Responds with the page of a form. After a rejection, the response has the status and the headers of the
    /// rejection.
    pub(super) fn for_form(
        frame: Frame<'_>,
        title: &str,
        draft: Draft<'_>,
        main: &impl Template,
    ) -> Self {
        let page = |status| Self::new(status, frame.render(title, main));
        match draft.rejection() {
            None => page(StatusCode::OK),
            Some(rejection) => page(rejection.status).with_headers_of(rejection),
        }
    }

    /// Redirects to the sign-in page, and deletes the cookie of the ended session. `path` is the path of the sign-in
    /// page with its query.
    pub(super) fn redirect_to_sign_in(app: &WebState, path: &str) -> Self {
        Self::redirect(&app.site, path).with_cookie(&app.session_cookie().deletion())
    }

    pub(super) fn not_found(frame: Frame<'_>) -> Self {
        let detail = "This page does not exist, or it belongs to another account.";
        Self::error_page(frame, StatusCode::NOT_FOUND, "Not found", detail)
    }

    pub(super) fn method_not_allowed(frame: Frame<'_>, allowed: &str) -> Self {
        let detail = "This address does not support this kind of request. Go back and use the buttons of the page.";
        Self::error_page(frame, StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", detail)
            .with(header::ALLOW, allowed.to_owned())
    }

    /// Rejects an address whose query has a repeated parameter or an invalid value.
    pub(super) fn invalid_query(frame: Frame<'_>) -> Self {
        Self::error_page(frame, StatusCode::BAD_REQUEST, "Wrong address", INVALID_QUERY)
    }

    /// Rejects a form that does not come from a page of this session.
    pub(super) fn foreign_form(frame: Frame<'_>) -> Self {
        let detail = "The form was not sent from a page of your current session. Nothing was done. Open the page again \
            and repeat the action.";
        Self::error_page(frame, StatusCode::FORBIDDEN, NOTHING_DONE, detail)
    }

    /// Rejects a form that was sent before, if the result of its first use is not known yet.
    pub(super) fn repeated_form(frame: Frame<'_>) -> Self {
        let detail = "This form was sent before, and it acts only once. Its first result is not known yet: look at your \
            identities before you open the form again.";
        Self::error_page(frame, StatusCode::CONFLICT, NOTHING_DONE, detail)
    }

    /// Rejects a request because the account has reached the rate limit of the dashboard.
    pub(super) fn too_many_requests(frame: Frame<'_>, retry_after: Duration) -> Self {
        let seconds = whole_seconds(retry_after);
        let text = format!(
            "Your account requested too many pages within a minute. Nothing was done. Try again in {seconds} s."
        );
        Self::error_page(frame, StatusCode::TOO_MANY_REQUESTS, "Too many requests", &text)
            .with(header::RETRY_AFTER, seconds.to_string())
    }

    /// Refuses a live stream because a limit is reached.
    pub(super) fn live_limit(frame: Frame<'_>) -> Self {
        let detail = "The service has its largest number of live logs. Reload the page instead.";
        Self::error_page(frame, StatusCode::SERVICE_UNAVAILABLE, "Too many live logs", detail)
            .with(header::RETRY_AFTER, "60".to_owned())
    }

    pub(super) fn unreadable_form(frame: Frame<'_>) -> Self {
        let detail = "The form was incomplete, too long, or arrived too slowly. Nothing was done. Try again.";
        Self::error_page(frame, StatusCode::BAD_REQUEST, NOTHING_DONE, detail)
    }

    pub(super) fn internal_error(frame: Frame<'_>) -> Self {
        let detail = "The service failed to process the request. It may have been processed in part: look at \
            your identities, then try again.";
        Self::error_page(frame, StatusCode::INTERNAL_SERVER_ERROR, "Internal error", detail)
    }

    /// Responds with an error page for an error of the service. If the service refused the request, the page has the
    /// status and the text of the refusal. Any other error is logged, and the page has status 500.
    pub(super) fn service_error(frame: Frame<'_>, error: &Error) -> Self {
        let Some(refusal) = error.refusal() else {
            tracing::error!(
                error = with_causes(error),
                "the service failed to process a request of the dashboard"
            );
            return Self::internal_error(frame);
        };
        let rejection = Rejection::from(refusal);
        match rejection.status {
            StatusCode::NOT_FOUND => Self::not_found(frame),
            status => Self::error_page(frame, status, NOTHING_DONE, &rejection.text)
                .with_headers_of(&rejection),
        }
    }

    fn error_page(frame: Frame<'_>, status: StatusCode, title: &str, detail: &str) -> Self {
        let main = ErrorPage { base: &frame.site.base_path, title, detail };
        Self::new(status, frame.render(title, &main))
    }
}

impl Flash {
    /// Redirects to the page of the dashboard that shows the result.
    pub(super) fn redirect(&self, app: &WebState) -> PageResponse {
        PageResponse::redirect_to_result(&app.site, self, app.result_cookie())
    }
}

/// Returns the shared state of the pages, or an error page if the server was built without this state. Extractors use
/// this function, because they receive only the request.
pub(super) fn web_state(request: &HttpRequest) -> Result<web::Data<WebState>, PageResponse> {
    let app = request.app_data::<web::Data<WebState>>().cloned();
    app.ok_or_else(|| PageResponse::internal_error(Frame::public(&SiteAddress::new(""))))
}

const NOTHING_DONE: &str = "Nothing was done";
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
