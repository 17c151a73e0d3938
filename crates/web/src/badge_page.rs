//! `GET /badges/{badge_id}`: a public page that shows a badge (a verifiable credential about an API key), its status
//! and its metrics.

use actix_web::{
    HttpResponse,
    http::{Method, StatusCode},
    web,
};
use askama::Template;
use sealpost_api::{Problem, refuse_method};
use sealpost_domain::{AssessmentMetric, BadgeStatus};
use sealpost_service::BadgeView;

use crate::{
    html::{Layout, private_page, text::when},
    state::WebState,
};

/// Mounts the badge page.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let badge = web::resource("/badges/{badge_id}").route(web::get().to(badge_page));
    config.service(badge.default_service(web::to(async || refuse_method(&Method::GET))));
}

/// Responds with the page of a badge, or with a 404 page if no badge has this id.
async fn badge_page(
    app: web::Data<WebState>,
    id: web::Path<String>,
) -> Result<HttpResponse, Problem> {
    let found = app.api.sealpost.badges.show(&id).await?;
    let layout = |title| Layout::new(&app.site, title);
    Ok(match &found {
        Some(badge) => {
            let page = BadgePage::new(badge);
            private_page(StatusCode::OK, layout("Badge").render(&page))
        }
        None => private_page(StatusCode::NOT_FOUND, layout("No such badge").render(&BadgeNotFound)),
    })
}

#[derive(Template)]
#[template(path = "badge.html")]
struct BadgePage<'a> {
    badge: &'a BadgeView,
    /// The CSS class for the status of the badge.
    status: &'static str,
    verdict: &'static str,
    metrics: Vec<MetricRow>,
}

#[derive(Template)]
#[template(path = "badge_not_found.html")]
struct BadgeNotFound;

/// A metric of the badge's assessment, with the threshold that a key must meet to get a badge.
struct MetricRow {
    name: &'static str,
    value: String,
    bound: String,
}

impl<'a> BadgePage<'a> {
    fn new(badge: &'a BadgeView) -> Self {
        let (status, verdict) = match badge.status {
            BadgeStatus::Expired => ("expired", "This badge has expired"),
            BadgeStatus::Revoked => ("revoked", "This badge was revoked"),
            BadgeStatus::Valid => ("valid", "This badge is valid"),
        };
        let row = |metric: AssessmentMetric| {
            let (bound, operator) = metric.threshold().parts();
            let sign = if operator == ">=" { "at least" } else { "at most" };
            MetricRow {
                name: metric.as_str(),
                value: metric.score(&badge.metrics).to_string(),
                bound: format!("{sign} {bound}"),
            }
        };
        let metrics = AssessmentMetric::ALL.into_iter().map(row).collect();
        Self { badge, status, verdict, metrics }
    }
}
