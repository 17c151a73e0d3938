//! The page with the activity of the account.

use actix_web::web;
use askama::Template;
use sealpost_domain::Timestamp;
use sealpost_service::{ActivityCursor, ActivityPage, ListActivity, SessionView};
use serde::Deserialize;

use crate::dashboard::{
    response::PageResponse,
    session::SignedInUser,
    text::{ago, program, short_id, short_ids, what_happened},
};

#[derive(Template)]
#[template(path = "dashboard/activity.html")]
struct ActivityTemplate<'a> {
    base: &'a str,
    now: Timestamp,
    activity: ActivityPage,
    sessions: Vec<SessionView>,
}

/// The query string of the page.
#[derive(Default, Deserialize)]
pub(crate) struct ActivityQuery {
    #[serde(default)]
    cursor: String,
}

pub(crate) async fn show(
    user: SignedInUser,
    query: web::Query<ActivityQuery>,
) -> Result<PageResponse, PageResponse> {
    let cursor = query.cursor.parse::<ActivityCursor>().ok();
    let query = ListActivity { limit: ENTRIES_PER_PAGE, cursor };
    let (activity, sessions) = user
        .ask(async |owner| Ok((owner.activity(query).await?, owner.sessions().await?.first)))
        .await?;
    let now = user.app.api.clock.now();
    let main = ActivityTemplate { base: user.base(), now, activity, sessions };
    Ok(PageResponse::ok(user.frame(), "Activity", &main))
}

/// Names the author of an act for people. A session is named by its program while it is open.
fn author(actor: &str, sessions: &[SessionView]) -> String {
    let open = |name: &str| sessions.iter().find(|session| session.name == name);
    match actor.split_once(':') {
        Some(("session", name)) => match open(name) {
            Some(session) if session.is_this => format!("you, {}", program_of(session)),
            Some(session) => format!("you, {} (another session)", program_of(session)),
            None => "you, in a session that has ended".to_owned(),
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

/// Describes an act of the operator by its name in the audit trail. Other details are shown as they are.
fn detail_of(detail: &str) -> String {
    let (act, rest) = detail.split_once(' ').unwrap_or((detail, ""));
    let text = match act {
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
        _ => return detail.to_owned(),
    };
    if rest.is_empty() { text.to_owned() } else { format!("{text}: {rest}") }
}

const ENTRIES_PER_PAGE: u32 = 50;
