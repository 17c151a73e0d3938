//! `GET /badges/{badge_id}`: a badge for people.

use actix_web::{
    HttpResponse,
    http::{Method, StatusCode},
    web,
};
use askama::Template;
use sealpost_api::{Problem, refuse_method};
use sealpost_domain::{AssessmentMetric, BadgeStatus};
use sealpost_service::BadgeShown;

use crate::{
    pages::{self, Layout, Link},
    state::WebState,
};

/// Every route of badges' pages.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let badge = web::resource("/badges/{badge_id}").route(web::get().to(badge_page));
    config.service(badge.default_service(web::to(async || refuse_method(&Method::GET))));
}

/// The badge, or that there is none.
async fn badge_page(
    app: web::Data<WebState>,
    id: web::Path<String>,
) -> Result<HttpResponse, Problem> {
    let found = app.api.sealpost.show_badge(&id).await?;
    let around = |title| Layout { place: app.docs.place(), title, nav: &NAV, here: "" };
    Ok(match &found {
        Some(badge) => {
            let page = Page::of(badge);
            pages::private(StatusCode::OK, around("Badge").around(&page))
        }
        None => pages::private(StatusCode::NOT_FOUND, around("No such badge").around(&NoBadge)),
    })
}

#[derive(Template)]
#[template(path = "badge.html")]
struct Page<'a> {
    badge: &'a BadgeShown,
    /// Names the look in the stylesheet.
    status: &'static str,
    verdict: &'static str,
    metrics: Vec<Row>,
}

#[derive(Template)]
#[template(path = "no_badge.html")]
struct NoBadge;

/// One metric beside its bound.
struct Row {
    name: &'static str,
    value: String,
    bound: String,
}

impl<'a> Page<'a> {
    fn of(badge: &'a BadgeShown) -> Self {
        let (status, verdict) = match badge.status {
            BadgeStatus::Expired => ("expired", "This badge has expired"),
            BadgeStatus::Revoked => ("revoked", "This badge was revoked"),
            BadgeStatus::Valid => ("valid", "This badge is valid"),
        };
        let row = |metric: AssessmentMetric| {
            let (bound, must_be) = metric.threshold().parts();
            let sign = if must_be == ">=" { "at least" } else { "at most" };
            Row {
                name: metric.as_str(),
                value: metric.of(&badge.metrics).to_string(),
                bound: format!("{sign} {bound}"),
            }
        };
        let metrics = AssessmentMetric::ALL.into_iter().map(row).collect();
        Self { badge, status, verdict, metrics }
    }
}

const NAV: [Link; 1] = [Link { text: "Documentation", to: "/docs" }];
