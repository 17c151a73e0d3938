//! The forms that record an assessment (quality metrics) or an attestation (a passed compliance check) of an API key,
//! and the form that revokes a badge.

use actix_web::web;
use sealpost_domain::{AssessmentMetrics, CheckName, Score, Timestamp};
use sealpost_service::{AssessmentSource, Attest};

use super::{key_of, path_of};
use crate::{console::form::ActForm, dashboard::response::PageResponse};

pub(crate) async fn assess(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let metrics = AssessmentMetrics {
        clarity: score(&act, "clarity")?,
        coherence: score(&act, "coherence")?,
        confidence: score(&act, "confidence")?,
        drift: score(&act, "drift")?,
    };
    let source = AssessmentSource { by: None, reason: act.reason().to_owned() };
    act.perform(move |operator| operator.assess(&id, metrics, &source)).await?;
    Ok(act.done(&path_of(&id)))
}

pub(crate) async fn attest(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let check = CheckName::parse(act.form.text("check"));
    let check = check.map_err(|fault| act.invalid(&format!("{fault}.")))?;
    let until = Some(act.form.text("valid_until")).filter(|text| !text.is_empty());
    let valid_until = until.map(str::parse::<Timestamp>).transpose();
    let valid_until =
        valid_until.map_err(|fault| act.invalid(&format!("The end of the validity {fault}.")))?;
    let attest = Attest { check, valid_until, failed: act.form.text("result") == "failed" };
    let source = AssessmentSource { by: None, reason: act.reason().to_owned() };
    act.perform(move |operator| operator.attest(&id, &attest, &source)).await?;
    Ok(act.done(&path_of(&id)))
}

pub(crate) async fn revoke_badge(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let badge = act.form.text("badge_id").parse();
    let badge = badge.map_err(|_malformed| act.invalid("This is not a badge (bdg_…)."))?;
    let reason = act.reason().to_owned();
    act.perform(move |operator| operator.revoke_badge(&badge, &reason)).await?;
    Ok(act.done(&path_of(&id)))
}

fn score(act: &ActForm, field: &str) -> Result<Score, PageResponse> {
    act.form.text(field).parse().map_err(|fault| act.invalid(&format!("The {field} {fault}.")))
}
