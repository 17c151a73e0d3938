//! Builds responses: JSON results of the service, problem documents, rate-limit headers and cached content.

mod exported_account;
mod problem;
mod rate_limit;
mod static_content;
mod status;
mod use_case;

pub use exported_account::exported_account;
pub(crate) use problem::WEBSOCKET_VERSION;
pub use problem::{Problem, ProblemDocument, whole_seconds};
pub(crate) use rate_limit::Counted;
pub use rate_limit::RateLimit;
pub use static_content::{PAGE_TYPE, StaticContent, content_hash};
pub use status::status_and_title;
pub(crate) use use_case::{
    JsonResponse, LimitedResponse, ask_as_key, ask_in_session, call_as_key, limits_of, with_replay,
};
