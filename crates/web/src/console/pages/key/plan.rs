//! The form that sets the plan of an API key.

use actix_web::web;
use sealpost_domain::ApiKeyId;
use sealpost_service::Agreement;

use super::{KeyTab, finish, key_of};
use crate::{
    console::form::{ActFault, ActForm},
    dashboard::response::PageResponse,
};

pub(crate) async fn submit(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let result = set_plan(&act, id).await;
    finish(&act, id, KeyTab::Plan, result).await
}

async fn set_plan(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    let agreement = Agreement {
        per_minute: limit(act, "per_minute")?,
        per_day: limit(act, "per_day")?,
        per_month: limit(act, "per_month")?,
        per_second: limit(act, "per_second")?,
        allow_overage: act.form.text("allow_overage") == "yes",
    };
    let fixed = agreement.plan_named(act.form.text("plan"));
    let fixed = fixed.map_err(|fault| ActFault::field("plan", format!("The plan {fault}.")))?;
    act.perform(move |operator| match fixed {
        Some(plan) => operator.set_plan(&id, plan),
        None => operator.agree(&id, agreement),
    })
    .await?;
    Ok("The plan is set.")
}

/// Reads a limit from the form. Returns `None` if the field is empty, which keeps the present limit.
fn limit(act: &ActForm, field: &str) -> Result<Option<u32>, ActFault> {
    let text = Some(act.form.text(field)).filter(|text| !text.is_empty());
    let number = text.map(str::parse).transpose();
    number.map_err(|_no_number| ActFault::field(field, "A limit must be a whole number."))
}
