//! The forms of an API key: its state, its plan, council actions (decisions that block the key or its account),
//! evidence for badges, and its webhooks.

use actix_web::web;
use sealpost_domain::{
    ApiKeyId, AssessmentMetrics, CheckName, GovernanceSubject, Score, Timestamp,
};
use sealpost_service::{Agreement, AssessmentSource, Attest, GuardedState};

use super::{KeyTab, finish, key_of};
use crate::{
    console::form::{ActFault, ActForm},
    dashboard::response::PageResponse,
};

type Key = web::Path<String>;
type Page = Result<PageResponse, PageResponse>;

pub(crate) async fn submit_state(act: ActForm, key: Key) -> Page {
    submit(&act, &key, KeyTab::State, change_state).await
}

pub(crate) async fn submit_plan(act: ActForm, key: Key) -> Page {
    submit(&act, &key, KeyTab::Plan, set_plan).await
}

pub(crate) async fn submit_council_action(act: ActForm, key: Key) -> Page {
    submit(&act, &key, KeyTab::Governance, decide).await
}

pub(crate) async fn submit_assessment(act: ActForm, key: Key) -> Page {
    submit(&act, &key, KeyTab::Evidence, assess).await
}

pub(crate) async fn submit_attestation(act: ActForm, key: Key) -> Page {
    submit(&act, &key, KeyTab::Evidence, attest).await
}

pub(crate) async fn submit_revocation_of_badge(act: ActForm, key: Key) -> Page {
    submit(&act, &key, KeyTab::Evidence, revoke_badge).await
}

pub(crate) async fn submit_webhook(act: ActForm, key: Key) -> Page {
    submit(&act, &key, KeyTab::Webhooks, disable_webhook).await
}

/// Performs the admin action of a form, and shows its tab again with the result.
async fn submit(
    act: &ActForm,
    key: &str,
    tab: KeyTab,
    perform: impl AsyncFnOnce(&ActForm, ApiKeyId) -> Result<&'static str, ActFault>,
) -> Page {
    let id = key_of(&act.user, key)?;
    let result = perform(act, id).await;
    finish(act, id, tab, result).await
}

async fn change_state(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    Ok(match act.form.text("do") {
        "deactivate" => {
            act.perform(move |operator| operator.deactivate_key(&id)).await.map(drop)?;
            "The key is deactivated."
        }
        "reactivate" => {
            act.perform(move |operator| operator.reactivate_key(&id)).await.map(drop)?;
            "The key is active again."
        }
        "rotate" => {
            act.perform(move |operator| operator.rotate_key(&id)).await.map(drop)?;
            "The sealing key is replaced."
        }
        "revoke" => {
            if act.form.text("typed") != id.to_string() {
                let text = "The typed key does not match. Nothing was revoked.";
                return Err(ActFault::field("typed", text));
            }
            act.perform(move |operator| operator.revoke_key(&id)).await.map(drop)?;
            "The key is permanently revoked."
        }
        _ => return Err(ActFault::field("reason-state", "Choose an act.")),
    })
}

async fn set_plan(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    let (plan, shown) = (act.form.text("plan"), act.form.text("shown_plan").to_owned());
    // If the plan of the key already allows overage (messages beyond the monthly limit), the page shows the box for
    // overage checked. Only `enterprise` allows overage. For other plans, ignores a box that was already checked when
    // the page was shown, so that the service does not reject the form.
    let is_preset = plan != "enterprise" && shown.ends_with("true");
    let agreement = Agreement {
        per_minute: limit(act, "per_minute")?,
        per_day: limit(act, "per_day")?,
        per_month: limit(act, "per_month")?,
        per_second: limit(act, "per_second")?,
        allow_overage: act.form.text("allow_overage") == "yes" && !is_preset,
    };
    let fixed = agreement.plan_named(plan);
    let fixed = fixed.map_err(|fault| ActFault::field("plan", format!("The plan {fault}.")))?;
    act.perform(move |operator| {
        let operator = operator.if_unchanged(GuardedState::Plan(id), &shown);
        match fixed {
            Some(plan) => operator.set_plan(&id, plan),
            None => operator.agree(&id, agreement),
        }
    })
    .await?;
    Ok("The plan is set.")
}

/// Reads a limit from the form. Returns `None` if the field is empty, which keeps the present limit.
fn limit(act: &ActForm, field: &str) -> Result<Option<u32>, ActFault> {
    let text = Some(act.form.text(field)).filter(|text| !text.is_empty());
    let number = text.map(str::parse).transpose();
    number.map_err(|_no_number| ActFault::field(field, NO_LIMIT))
}

async fn decide(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    let (subject, shown) = match act.form.text("subject") {
        "key" => (GovernanceSubject::Key(id), "shown_key_decision"),
        "account" => {
            let key = act.user.ask(move |operator| operator.show_key(&id)).await?;
            (GovernanceSubject::Account(key.account_id), "shown_account_decision")
        }
        _ => return Err(ActFault::field("subject", "Choose the key or its account.")),
    };
    let reason = act.reason()?;
    let (state, shown) = (GuardedState::Decision(subject.clone()), act.form.text(shown).to_owned());
    match act.form.text("do") {
        "propose" => {
            act.perform(move |o| o.if_unchanged(state, &shown).propose(subject, &reason)).await?
        }
        "enforce" => {
            act.perform(move |o| o.if_unchanged(state, &shown).enforce(subject, &reason)).await?
        }
        "lift" => {
            act.perform(move |o| o.if_unchanged(state, &shown).lift(subject, &reason)).await?
        }
        _ => return Err(ActFault::field("reason-governance", "Choose an act.")),
    };
    Ok(match act.form.text("do") {
        "propose" => "The council action is proposed.",
        "enforce" => "The council action is enforced.",
        _ => "The council action is lifted.",
    })
}

async fn assess(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
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

async fn attest(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    let check = CheckName::parse(act.form.text("check"));
    let check = check
        .map_err(|fault| ActFault::field("check", format!("The name of the check {fault}.")))?;
    let until = Some(act.form.text("valid_until")).filter(|text| !text.is_empty());
    let valid_until = until.map(str::parse::<Timestamp>).transpose().map_err(|fault| {
        ActFault::field("valid_until", format!("The end of the validity {fault}."))
    })?;
    let failed = match act.form.text("result") {
        "failed" => true,
        "passed" => false,
        _ => return Err(ActFault::field("result", "Choose passed or failed.")),
    };
    let attest = Attest { check, valid_until, failed };
    let source = AssessmentSource { by: None, reason: act.reason()? };
    act.perform(move |operator| operator.attest(&id, &attest, &source)).await?;
    Ok("The attestation is recorded.")
}

async fn revoke_badge(act: &ActForm, _: ApiKeyId) -> Result<&'static str, ActFault> {
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

async fn disable_webhook(act: &ActForm, _: ApiKeyId) -> Result<&'static str, ActFault> {
    let reason = format!("reason-{}", act.form.text("form"));
    let webhook = act.form.text("webhook_id").parse();
    let webhook =
        webhook.map_err(|_malformed| ActFault::field(&reason, "This is not a webhook (wh_…)."))?;
    act.perform(move |operator| operator.disable_webhook(&webhook)).await?;
    Ok("The webhook is disabled.")
}

const NO_LIMIT: &str = "A limit must be a whole number. The maximum is 4,294,967,295.";
