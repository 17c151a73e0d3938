//! The pages of an API key: tabs for its data, for its webhooks, and for each kind of admin action.

mod acts;

use actix_web::{http::StatusCode, web};
use askama::Template;
use sealpost_domain::{ApiKeyId, AssessmentMetric, CheckName, GovernanceSubject, KeyStatus, Plan};
use sealpost_service::{GuardedState, KeyDetails, KeyEvidence};

use crate::{
    console::{form::ActForm, response::may_act, user::ConsoleUser},
    dashboard::{
        charts::{UsageMeter, usage_meters},
        health::{WebhookState, state_of, why_unhealthy},
    },
    html::{
        PageResponse, PageResult,
        forms::Draft,
        text::{day, failure, short_id, short_score, thousands, what_blocks, when},
    },
};

/// A tab: one of the pages of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyTab {
    Overview,
    Webhooks,
    Plan,
    State,
    Governance,
    Evidence,
}

#[derive(Template)]
#[template(path = "console/key.html")]
struct KeyPage<'a> {
    base: &'a str,
    form_token: &'a str,
    may_act: bool,
    tab: KeyTab,
    details: KeyDetails,
    evidence: KeyEvidence,
    meters: [UsageMeter; 3],
    plans: &'static [&'static str],
    /// The names of all checks in the compliance circuits of this service. A circuit is the set of checks of a
    /// jurisdiction.
    checks: Vec<CheckName>,
    /// The open council actions against the key and against its account, as texts for [`GuardedState::Decision`]. If
    /// one of them changes after the page was shown, the service refuses the form.
    shown_key_decision: String,
    shown_account_decision: String,
    /// The values of the form for the plan. Empty if the plan has changed since the page was shown, so that the form
    /// shows the present plan.
    plan_draft: Draft<'a>,
    draft: Draft<'a>,
}

impl KeyTab {
    const ALL: [Self; 6] =
        [Self::Overview, Self::Webhooks, Self::Plan, Self::State, Self::Governance, Self::Evidence];

    fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Webhooks => "Webhooks",
            Self::Plan => "Plan",
            Self::State => "State",
            Self::Governance => "Governance",
            Self::Evidence => "Evidence",
        }
    }

    /// Returns the tab with this part of a path, or the tab that shows the form with this part.
    fn of(part: &str) -> Self {
        match part {
            "" => Self::Overview,
            "/webhook" | "/webhooks" => Self::Webhooks,
            "/plan" => Self::Plan,
            "/state" => Self::State,
            "/governance" => Self::Governance,
            _ => Self::Evidence,
        }
    }

    /// Returns the part of the tab's path that follows the path of the key.
    fn to(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Webhooks => "/webhooks",
            Self::Plan => "/plan",
            Self::State => "/state",
            Self::Governance => "/governance",
            Self::Evidence => "/evidence",
        }
    }

    fn path_of(self, key: ApiKeyId) -> String {
        format!("/console/keys/{key}{}", self.to())
    }
}

/// Shows the tab at `part` of the key's path. The address of a form that is no tab redirects to the tab with the form.
pub(crate) async fn show(user: ConsoleUser, key: web::Path<String>, part: &str) -> PageResult {
    let (id, tab) = (key_of(&user, &key)?, KeyTab::of(part));
    if tab.to() != part {
        return Ok(PageResponse::redirect(&user.state.site, &tab.path_of(id)));
    }
    page(&user, id, tab, Draft::default()).await
}

/// Performs the admin action of the form at `part`, and redirects to its tab, which confirms the action. If the form
/// was rejected, the response is the tab with the form and the reason.
pub(crate) async fn submit(act: ActForm, key: web::Path<String>, part: &str) -> PageResult {
    let (id, tab) = (key_of(&act.user, &key)?, KeyTab::of(part));
    let result = acts::perform(&act, id, part).await;
    act.respond(&tab.path_of(id), result, async |draft| page(&act.user, id, tab, draft).await).await
}

async fn page(user: &ConsoleUser, id: ApiKeyId, tab: KeyTab, draft: Draft<'_>) -> PageResult {
    // Reads the texts of the decisions before the details. If a decision changes between the two reads, the page has
    // the old text, and the service refuses its form.
    let [shown_key_decision, shown_account_decision] = user
        .ask(move |operator| {
            let account = operator.show_key(&id)?.account_id;
            let subjects = [GovernanceSubject::Key(id), GovernanceSubject::Account(account)];
            let [key, account] = subjects.map(GuardedState::Decision);
            Ok([operator.state_text(&key)?, operator.state_text(&account)?])
        })
        .await?;
    let details = user.ask(move |operator| operator.key_details(&id)).await?;
    let evidence = user.ask(move |operator| operator.key_evidence(&id)).await?;
    let title = details.key.label.as_str().to_owned();
    let api = &user.state.admin.api;
    let is_outdated = is_outdated(draft.text("shown_plan"), &details);
    let main = KeyPage {
        base: user.base(),
        form_token: &user.form_token,
        may_act: may_act(&user.operator),
        tab,
        meters: usage_meters(&details.usage, api.clock.now()),
        shown_key_decision,
        shown_account_decision,
        details,
        evidence,
        plans: &Plan::NAMES,
        checks: api.sealpost.badges.known_checks(),
        plan_draft: if is_outdated { Draft::default() } else { draft },
        draft,
    };
    Ok(user.show_form("/console", &title, draft, &main))
}

/// Returns true if the plan of a key differs from `shown`, the plan when the page with the form was shown. False if
/// `shown` is empty.
fn is_outdated(shown: &str, details: &KeyDetails) -> bool {
    !shown.is_empty() && shown != details.plan_text
}

/// Parses the API key in a path. If the API key is malformed, returns the 404 page as the error.
fn key_of(user: &ConsoleUser, text: &str) -> Result<ApiKeyId, PageResponse> {
    text.parse().map_err(|_malformed| user.reject(StatusCode::NOT_FOUND, "There is no such key."))
}

/// The parts of paths with a page and no form.
pub(crate) const PAGES: [&str; 3] = ["", "/webhooks", "/evidence"];
/// The parts of paths to which forms are sent. Each has its action in [`acts::perform`].
pub(crate) const FORMS: [&str; 7] =
    ["/state", "/plan", "/governance", "/assess", "/attest", "/badge", "/webhook"];
