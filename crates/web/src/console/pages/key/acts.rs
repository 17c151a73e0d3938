//! The forms of an API key: its state, its plan, council actions (decisions that block the key or its account),
//! evidence for badges, and its webhooks.

use sealpost_domain::{
    ApiKeyId, AssessmentMetrics, CheckName, GovernanceSubject, Score, Timestamp,
};
use sealpost_service::{
    Agreement, AssessmentSource, Attest, GuardedState, Operator, OperatorError,
};

use crate::{
    console::{form::ActForm, pages::account::council_action},
    html::forms::FormRefusal,
};

/// Performs the admin action of the form at `part` of the key's path. Returns the text that confirms the action.
pub(super) async fn perform(
    act: &ActForm,
    id: ApiKeyId,
    part: &str,
) -> Result<&'static str, FormRefusal> {
    match part {
        "/assess" => assess(act, id).await,
        "/attest" => attest(act, id).await,
        "/badge" => revoke_badge(act).await,
        "/governance" => decide(act, id).await,
        "/plan" => set_plan(act, id).await,
        "/state" => change_state(act, id).await,
        "/webhook" => disable_webhook(act).await,
        _ => Err(FormRefusal::field("reason-state", "Choose an act.")),
    }
}

async fn change_state(act: &ActForm, id: ApiKeyId) -> Result<&'static str, FormRefusal> {
    let (change, notice): (StateChange, _) = match act.form.text("do") {
        "deactivate" => (|o, id| o.deactivate_key(id).map(drop), "The key is deactivated."),
        "reactivate" => (|o, id| o.reactivate_key(id).map(drop), "The key is active again."),
        "rotate" => (|o, id| o.rotate_key(id).map(drop), "The sealing key is replaced."),
        "revoke" if act.form.text("typed") != id.to_string() => {
            let text = "The typed key does not match. Nothing was revoked.";
            return Err(FormRefusal::field("typed", text));
        }
        "revoke" => (|o, id| o.revoke_key(id).map(drop), "The key is permanently revoked."),
        _ => return Err(FormRefusal::field("reason-state", "Choose an act.")),
    };
    act.perform(move |operator| change(operator, &id)).await?;
    Ok(notice)
}

/// A change of the state of a key as a method of the operator.
type StateChange = fn(&Operator, &ApiKeyId) -> Result<(), OperatorError>;

async fn set_plan(act: &ActForm, id: ApiKeyId) -> Result<&'static str, FormRefusal> {
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
    let fixed = fixed.map_err(|fault| FormRefusal::field("plan", format!("The plan {fault}.")))?;
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
fn limit(act: &ActForm, field: &str) -> Result<Option<u32>, FormRefusal> {
    let text = Some(act.form.text(field)).filter(|text| !text.is_empty());
    let number = text.map(str::parse).transpose();
    number.map_err(|_no_number| FormRefusal::field(field, NO_LIMIT))
}

async fn decide(act: &ActForm, id: ApiKeyId) -> Result<&'static str, FormRefusal> {
    let (subject, shown) = match act.form.text("subject") {
        "key" => (GovernanceSubject::Key(id), "shown_key_decision"),
        "account" => {
            let key = act.user.ask(move |operator| operator.show_key(&id)).await?;
            (GovernanceSubject::Account(key.account_id), "shown_account_decision")
        }
        _ => return Err(FormRefusal::field("subject", "Choose the key or its account.")),
    };
    let reason = act.reason()?;
    let (state, shown) = (GuardedState::Decision(subject.clone()), act.form.text(shown).to_owned());
    let Some((decide, notice)) = council_action(act.form.text("do")) else {
        return Err(FormRefusal::field("reason-governance", "Choose an act."));
    };
    act.perform(move |o| decide(&o.if_unchanged(state, &shown), &subject, &reason)).await?;
    Ok(notice)
}

async fn assess(act: &ActForm, id: ApiKeyId) -> Result<&'static str, FormRefusal> {
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

async fn attest(act: &ActForm, id: ApiKeyId) -> Result<&'static str, FormRefusal> {
    let check = CheckName::parse(act.form.text("check"));
    let check = check
        .map_err(|fault| FormRefusal::field("check", format!("The name of the check {fault}.")))?;
    let until = Some(act.form.text("valid_until")).filter(|text| !text.is_empty());
    let valid_until = until.map(str::parse::<Timestamp>).transpose().map_err(|fault| {
        FormRefusal::field("valid_until", format!("The end of the validity {fault}."))
    })?;
    let failed = match act.form.text("result") {
        "failed" => true,
        "passed" => false,
        _ => return Err(FormRefusal::field("result", "Choose passed or failed.")),
    };
    let attest = Attest { check, valid_until, failed };
    let source = AssessmentSource { by: None, reason: act.reason()? };
    act.perform(move |operator| operator.attest(&id, &attest, &source)).await?;
    Ok("The attestation is recorded.")
}

async fn revoke_badge(act: &ActForm) -> Result<&'static str, FormRefusal> {
    let badge = act.form.text("badge_id").parse();
    let badge = badge
        .map_err(|_malformed| FormRefusal::field("badge_id", "This is not a badge (bdg_…)."))?;
    let reason = act.reason()?;
    act.perform(move |operator| operator.revoke_badge(&badge, &reason)).await?;
    Ok("The badge is revoked.")
}

fn score(act: &ActForm, field: &str) -> Result<Score, FormRefusal> {
    let score = act.form.text(field).parse();
    score.map_err(|fault| FormRefusal::field(field, format!("The {field} {fault}.")))
}

async fn disable_webhook(act: &ActForm) -> Result<&'static str, FormRefusal> {
    let reason = format!("reason-{}", act.form.text("form"));
    let webhook = act.form.text("webhook_id").parse();
    let webhook = webhook
        .map_err(|_malformed| FormRefusal::field(&reason, "This is not a webhook (wh_…)."))?;
    act.perform(move |operator| operator.disable_webhook(&webhook)).await?;
    Ok("The webhook is disabled.")
}

const NO_LIMIT: &str = "A limit must be a whole number. The maximum is 4,294,967,295.";
