//! The page with the activity of the account.

use actix_web::web;
use askama::Template;
use sealpost_domain::{ActivityKind, ApiKeyId, Timestamp};
use sealpost_service::{
    ActivityCursor, ActivityPage, ActivityView, ListActivity, SessionView, Truncated,
};
use serde::Deserialize;

use super::scope::Scope;
use crate::{
    dashboard::{
        session::SignedInUser,
        text::{ago, program, what_happened},
    },
    html::{
        PageResponse, PageResult,
        text::{short_id, short_ids, when},
    },
};

#[derive(Template)]
#[template(path = "dashboard/activity.html")]
struct ActivityTemplate<'a> {
    base: &'a str,
    now: Timestamp,
    activity: ActivityPage,
    sessions: Truncated<SessionView>,
    scope: Scope,
}

/// The query string of the page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ActivityQuery {
    cursor: String,
}

pub(crate) async fn show(user: SignedInUser, query: web::Query<ActivityQuery>) -> PageResult {
    let cursor = query.cursor.parse::<ActivityCursor>().ok();
    let query = ListActivity { limit: ENTRIES_PER_PAGE, cursor };
    let (activity, sessions) =
        user.ask(async |owner| Ok((owner.activity(query).await?, owner.sessions().await?))).await?;
    let scope = Scope::load(&user, None, "").await?;
    let now = user.app.api.clock.now();
    let main = ActivityTemplate { base: user.base(), now, activity, sessions, scope };
    Ok(PageResponse::ok(user.frame(), "Activity", &main))
}

/// Returns a text for the page that names the author of an entry. An open session is shown with the name of its client
/// program, such as a browser.
fn author(actor: &str, sessions: &Truncated<SessionView>) -> String {
    let open = |name: &str| sessions.first.iter().find(|session| session.name == name);
    match actor.split_once(':') {
        Some(("session", name)) => match open(name) {
            Some(session) if session.is_this => format!("you, {}", program_of(session)),
            Some(session) => format!("you, {} (another session)", program_of(session)),
            None if sessions.has_more => "you, in another session".to_owned(),
            None => "you, in an ended session".to_owned(),
        },
        Some(("token", id)) => format!("a program with the API token {}", short_id(id)),
        None if actor == "operator" => "the operator of the service".to_owned(),
        None if actor == "client" => "a client that was not signed in".to_owned(),
        _ => actor.to_owned(),
    }
}

fn program_of(session: &SessionView) -> String {
    session.user_agent.as_deref().map_or_else(|| "unknown program".to_owned(), program)
}

/// Returns two texts for an entry on the page: the action, and the changed identity or webhook.
///
/// The detail of an operator's action has up to three words: the action in the audit trail, the changed object, and the
/// new plan if the plan was changed.
fn described(entry: &ActivityView, scope: &Scope) -> (String, String) {
    let detail = entry.detail.as_deref().unwrap_or_default();
    if entry.kind != ActivityKind::Operator {
        return (what_happened(&entry.kind).to_owned(), named(detail, scope));
    }
    let (act, rest) = detail.split_once(' ').unwrap_or((detail, ""));
    let (subject, plan) = rest.split_once(' ').unwrap_or((rest, ""));
    let text = match act {
        "account.replace-secrets" => "Login secret and recovery code replaced",
        "account.reset-secret" => "Login secret and recovery code reset",
        "assessment.record" => "Assessment recorded",
        "attestation.record" => "Attestation recorded",
        "badge.revoke" => "Badge revoked",
        "governance.enforce" => "Governance decision enforced",
        "governance.lift" => "Governance decision lifted",
        "governance.propose" => "Governance decision proposed",
        "handle.assign" => "Handle given to an identity",
        "handle.release" => "Handle released",
        "key.deactivate" => "Identity deactivated",
        "key.finish_rotation" => "Sealing key replaced",
        "key.reactivate" => "Identity reactivated",
        "key.revoke" => "Identity revoked",
        "key.start_rotation" => "Replacement of the sealing key started",
        "partner.assign" => "Partner assigned",
        "partner.restore" => "Suspension of the partner ended",
        "partner.suspend" => "Partner suspended",
        "plan.set" => "Plan changed",
        "session.end" => "Sessions ended",
        "token.end" | "token.revoke" => "API token revoked",
        "webhook.disable" => "Webhook disabled",
        _ => act,
    };
    let text = if plan.is_empty() { text.to_owned() } else { format!("{text} to {plan}") };
    (text, named(subject, scope))
}

/// Replaces each id in a text. The id of an identity of the account becomes the label of the identity. Any other id is
/// shortened.
fn named(text: &str, scope: &Scope) -> String {
    let name = |word: &str| match word.parse::<ApiKeyId>() {
        Ok(id) => scope.label_of(&id),
        Err(_) => short_ids(word),
    };
    text.split(' ').map(name).collect::<Vec<_>>().join(" ")
}

const ENTRIES_PER_PAGE: u32 = 50;
