//! The forms that record an assessment (quality metrics) or an attestation (a passed compliance check) of an API key,
//! and the form that revokes a badge.

use actix_web::web;
use sealpost_domain::{ApiKeyId, AssessmentMetrics, CheckName, Score, Timestamp};
use sealpost_service::{AssessmentSource, Attest};

use super::{KeyTab, finish, key_of};
use crate::{
    console::form::{ActFault, ActForm},
    dashboard::response::PageResponse,
};

pub(crate) async fn assess(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let result = record_assessment(&act, id).await;
    finish(&act, id, KeyTab::Evidence, result).await
}

pub(crate) async fn attest(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let result = record_attestation(&act, id).await;
    finish(&act, id, KeyTab::Evidence, result).await
}

pub(crate) async fn revoke_badge(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let result = revoke(&act).await;
    finish(&act, id, KeyTab::Evidence, result).await
}

async fn record_assessment(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    let metrics = AssessmentMetrics {
        clarity: score(act, "clarity")?,
        coherence: score(act, "coherence")?,
        confidence: score(act, "confidence")?,
        drift: score(act, "drift")?,
    };
    let source = AssessmentSource { by: None, reason: act.reason()? };
    act.perform(move |operator| operator.assess(&id, metrics, &source)).await?;
    Ok("The assessment is recorded.")
}

async fn record_attestation(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    let check = CheckName::parse(act.form.text("check"));
    let check = check.map_err(|fault| ActFault::field("check", format!("{fault}.")))?;
    let until = Some(act.form.text("valid_until")).filter(|text| !text.is_empty());
    let valid_until = until.map(str::parse::<Timestamp>).transpose().map_err(|fault| {
        ActFault::field("valid_until", format!("The end of the validity {fault}."))
    })?;
    let attest = Attest { check, valid_until, failed: act.form.text("result") == "failed" };
    let source = AssessmentSource { by: None, reason: act.reason()? };
    act.perform(move |operator| operator.attest(&id, &attest, &source)).await?;
    Ok("The attestation is recorded.")
}

async fn revoke(act: &ActForm) -> Result<&'static str, ActFault> {
    let badge = act.form.text("badge_id").parse();
    let badge =
        badge.map_err(|_malformed| ActFault::field("badge_id", "This is not a badge (bdg_…)."))?;
    let reason = act.reason()?;
    act.perform(move |operator| operator.revoke_badge(&badge, &reason)).await?;
    Ok("The badge is revoked.")
}

fn score(act: &ActForm, field: &str) -> Result<Score, ActFault> {
    let score = act.form.text(field).parse();
    score.map_err(|fault| ActFault::field(field, format!("The {field} {fault}.")))
}
