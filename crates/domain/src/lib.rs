//! Domain types of Sealpost: identities, API keys, envelopes, webhooks, plans, governance decisions and badges. Also
//! defines all refusals of the API, the values that the database takes and returns, and the traits between crates.
//!
//! This crate does no I/O, has no async code, and reads neither a clock nor a source of randomness. It depends on no
//! other crate of the workspace. `examples/states.rs` shows its use.

mod activity;
mod badges;
mod deceptive_text;
mod errors;
mod governance;
mod identity;
mod messaging;
mod named_enum;
mod plans;
pub mod ports;
mod time;
mod webhooks;

pub use activity::{Activity, ActivityActor, ActivityKind, RequestSource, UserAgent};
pub use badges::{assessment::*, badge::*, circuit::*, score::*};
pub use deceptive_text::{TextError, refuse_deceptive};
pub use errors::{FormatError, causes::*, code::*, detail::*, refusal::*};
pub use governance::*;
pub use identity::{
    account::*, api_token::*, did::*, handle::*, id::*, id_kind::*, key::*, reserved_handles::*,
    secret::*,
};
pub use messaging::{context::*, envelope::*, receipt::*, recipient_policy::*, trace_parent::*};
pub use plans::{EnterpriseTerms, Plan, Usage, Window, WindowUse};
pub use time::{Clock, Timestamp};
pub use webhooks::{
    attempt::*, bounce::*, delivery::*, event::*, event_details::*, event_id::*, event_kind::*,
    health::*, incident::*, rotation::*, stored_event::*, threshold::*, webhook::*,
};
