//! The page of the service: the numbers of stored objects, the state of this node, all nodes, delivery
//! and housekeeping.

use askama::Template;
use sealpost_domain::with_causes;
use sealpost_service::StatsView;

use crate::{
    console::user::ConsoleUser,
    html::{
        PageResult,
        text::{failure, megabytes, short_id, thousands, when},
    },
};

#[derive(Template)]
#[template(path = "console/service.html")]
struct ServicePage<'a> {
    base: &'a str,
    /// The numbers of objects in the database. `None` if the database cannot be read.
    stats: Option<StatsView>,
    version: &'static str,
    queue_depth: usize,
    queue_bytes: u64,
    /// The error that the health check of this node returned, with its causes. `None` if the node is healthy.
    fault: Option<String>,
    is_short_of_space: bool,
}

pub(crate) async fn show(user: ConsoleUser) -> PageResult {
    let stats = user.ask(sealpost_service::Operator::stats).await;
    let api = user.state.admin.api.clone();
    let (queue_depth, queue_bytes) =
        (api.sealpost.sending.queue_depth(), api.sealpost.sending.queue_bytes());
    let checked = actix_web::web::block(move || {
        let fault = api.sealpost.check().err().map(|error| with_causes(&error));
        (fault, api.sealpost.is_short_of_space().unwrap_or(false))
    });
    let lost = |_canceled| (Some("the check was canceled".to_owned()), false);
    let (fault, is_short_of_space) = checked.await.unwrap_or_else(lost);
    let stats = match (stats, &fault) {
        (Ok(stats), _) => Some(stats),
        (Err(_), Some(_)) => None,
        (Err(page), None) => return Err(page),
    };
    let version = env!("CARGO_PKG_VERSION");
    let main = ServicePage {
        base: user.base(),
        stats,
        version,
        queue_depth,
        queue_bytes: u64::try_from(queue_bytes).unwrap_or(u64::MAX),
        fault,
        is_short_of_space,
    };
    Ok(user.show("/console/service", "Service", &main))
}
