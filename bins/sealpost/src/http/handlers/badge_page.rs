//! `GET /badges/{badge_id}`: a badge for people. Rendered here, without a script, from nothing but the page and its
//! stylesheet.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
    web,
};
use askama::Template;
use sealpost_domain::{BadgeStatus, Metric};
use sealpost_service::BadgeShown;

use super::ask;
use crate::http::{App, Problem};

/// The badge, or that there is none.
pub(crate) async fn badge_page(
    app: web::Data<App>,
    id: web::Path<String>,
) -> Result<HttpResponse, Problem> {
    let found = ask(&app, move |sealpost| sealpost.show_badge(&id)).await?.0;
    let status = if found.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let page = match &found {
        Some(badge) => Page::of(badge).render(),
        None => NoBadge.render(),
    };
    Ok(HttpResponse::build(status)
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .body(page.map_err(|_unwritable| Problem::Lost)?))
}

/// `GET /assets/badge.css`.
pub(crate) async fn badge_stylesheet() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "public, max-age=600"))
        .insert_header((header::CONTENT_TYPE, "text/css; charset=utf-8"))
        .body(STYLESHEET)
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
        let row = |metric: Metric| {
            let (bound, must_be) = metric.bound().parts();
            let sign = if must_be == ">=" { "at least" } else { "at most" };
            Row {
                name: metric.as_str(),
                value: metric.of(&badge.metrics).to_string(),
                bound: format!("{sign} {bound}"),
            }
        };
        let metrics = Metric::ALL.into_iter().map(row).collect();
        Self { badge, status, verdict, metrics }
    }
}

/// Nothing but the stylesheet is loaded, nothing is run, and nobody frames the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const STYLESHEET: &str = include_str!("../../../assets/badge.css");
