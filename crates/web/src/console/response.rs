//! The layout and the error pages of the console.

use actix_web::http::StatusCode;
use askama::Template;
use sealpost_domain::with_causes;
use sealpost_service::{Error, OperatorRole, SignedInOperator};

use crate::{
    assets,
    html::{
        INVALID_QUERY, Layout, Nav, NavLink, Notice, PageResponse, Rejection, Sidebar, SiteAddress,
    },
};

/// The layout of a page of the console.
#[derive(Clone, Copy)]
pub(super) struct ConsoleFrame<'a> {
    pub(super) site: &'a SiteAddress,
    /// The signed-in operator, and the token that each form of the session must contain. `None` if the browser has no
    /// session.
    pub(super) session: Option<(&'a SignedInOperator, &'a str)>,
    /// The path of the link in the sidebar to mark as current.
    pub(super) current: &'a str,
    pub(super) notice: Notice<'a>,
}

/// The name of the operator, and the button to sign out.
#[derive(Template)]
#[template(path = "console/sign_out.html")]
struct SignOut<'a> {
    base: &'a str,
    operator: &'a SignedInOperator,
    form_token: &'a str,
}

#[derive(Template)]
#[template(path = "console/error.html")]
struct ErrorPage<'a> {
    base: &'a str,
    title: &'a str,
    detail: &'a str,
}

impl<'a> ConsoleFrame<'a> {
    /// Returns the layout for browsers that are not signed in.
    pub(super) fn public(site: &'a SiteAddress) -> Self {
        Self { site, session: None, current: "", notice: Notice::default() }
    }

    /// Responds with a page in this layout.
    pub(super) fn respond(
        self,
        status: StatusCode,
        title: &str,
        main: &impl Template,
    ) -> PageResponse {
        let Self { site, session, current, notice } = self;
        let base = &site.base_path;
        let sign_out = session.and_then(|(operator, form_token)| {
            SignOut { base, operator, form_token }.render().ok()
        });
        let title = format!("{title} · Console");
        let layout = Layout {
            nav: &NAV,
            current: "/console",
            stylesheet: Some(&assets::DASHBOARD.name),
            sidebar: session.map(|_| Sidebar { label: "Console", links: &SIDEBAR, current }),
            nav_end: sign_out.unwrap_or_default(),
            notice,
            ..Layout::new(site, &title)
        };
        PageResponse::new(status, layout.render(main))
    }
}

/// Responds with an error page.
pub(super) fn error_page(frame: ConsoleFrame<'_>, rejection: &Rejection) -> PageResponse {
    let title = match rejection.status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::INTERNAL_SERVER_ERROR => "Internal error",
        _ => "Nothing was done",
    };
    let main = ErrorPage { base: &frame.site.base_path, title, detail: &rejection.text };
    frame.respond(rejection.status, title, &main).with_headers_of(rejection)
}

/// Responds with an error page for an address whose query has a repeated parameter or an invalid value.
pub(super) fn invalid_query(frame: ConsoleFrame<'_>) -> PageResponse {
    let title = "Wrong address";
    let main = ErrorPage { base: &frame.site.base_path, title, detail: INVALID_QUERY };
    frame.respond(StatusCode::BAD_REQUEST, title, &main)
}

/// Converts an error of the service into the text and the status of an error page. Logs an internal error.
pub(super) fn rejection_of(error: &Error) -> Rejection {
    if let Some(refusal) = error.refusal() {
        return Rejection::from(refusal);
    }
    tracing::error!(
        error = with_causes(error),
        "the service failed to process a request of the console"
    );
    Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, FAILED)
}

/// Responds with 500 because the server was built without the state of the console.
pub(super) fn internal_error(site: &SiteAddress) -> PageResponse {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    let rejection = Rejection::new(status, "The console is not configured.");
    error_page(ConsoleFrame::public(site), &rejection)
}

/// Returns true if the role of the operator allows changes. Templates show forms only to such operators.
pub(super) fn may_act(operator: &SignedInOperator) -> bool {
    operator.role == OperatorRole::Operator
}

const FAILED: &str = "The service failed to process the request. It may have been processed in part: \
    look at the audit trail.";
const SIDEBAR: [NavLink; 4] = [
    NavLink { text: "Keys", to: "/console" },
    NavLink { text: "Accounts", to: "/console/accounts" },
    NavLink { text: "Service", to: "/console/service" },
    NavLink { text: "Audit trail", to: "/console/audit" },
];
const NAV: Nav =
    Nav { home: "/console", links: &[NavLink { text: "Console", to: "/console" }], footer: &[] };
