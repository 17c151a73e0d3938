//! The service of Sealpost, without HTTP and SQL: activate identities, log in, send and open messages, issue badges,
//! and manage webhooks. A Rust program can embed this crate, and `sealpost-api` serves it over HTTP.
//!
//! [`Sealpost`] starts and stops everything, and has a field for each topic:
//!
//! | field | service |
//! |---|---|
//! | `accounts` | [`Accounts`] activates identities, and manages sessions, keys, tokens, secrets and policies. |
//! | `badges` | [`Badges`] issues and verifies badges, and checks keys against compliance circuits. |
//! | `mailbox` | [`Mailbox`] opens received envelopes, lists sent ones, and creates evidence. |
//! | `sending` | [`Sending`] seals messages and stores them in batches. |
//! | `transparency_log` | [`TransparencyLog`] serves the files of the log, and keeps the cosignatures of witnesses. |
//! | `webhooks` | [`Webhooks`] registers and changes webhooks, repeats deliveries, and connects relays. |
//!
//! [`Sealpost::authenticate`] converts credentials into a [`Caller`], which every function that acts for an API key
//! takes. These functions are async and need a tokio runtime. Database work runs on the blocking threads of this
//! runtime, with a bounded number of threads at the same time.
//!
//! The embedding program opens the database (`sealpost-storage`), and implements three traits of `sealpost-domain`:
//! [`Dispatch`](sealpost_domain::ports::Dispatch) sends the requests to webhooks,
//! [`TargetGuard`](sealpost_domain::ports::TargetGuard) decides which URLs a webhook can have, and
//! [`Clock`](sealpost_domain::Clock) is the source of the time.

mod account;
mod acts;
mod badges;
mod cache;
mod caller;
mod compliance;
mod envelopes;
mod error;
mod housekeeping;
mod issuer;
mod operator;
mod operator_access;
mod owner;
mod periodic_thread;
mod sealpost;
mod send;
mod settings;
mod transparency;
mod webhooks;

pub use account::{
    Accounts,
    activate::*,
    activity::*,
    export::{ExportPosition, document::*},
    key_status::*,
};
pub use acts::{
    actor::*,
    audited::*,
    closing::*,
    handles::*,
    keys::*,
    owner::*,
    policy::*,
    secrets::*,
    sessions::*,
    tokens::*,
    webhooks::{change::*, redeliver::*, register::*, test::*},
};
pub use badges::{Badges, issue::*, verify::*};
pub use caller::{admission::*, bearer::*, credentials::*};
pub use compliance::{circuits_file::*, validate::*};
pub use envelopes::{Mailbox, evidence::*, list_sent::*, open::*};
pub use error::Error;
pub use issuer::{did_document::*, signer::*};
pub use operator::{
    assessments::*,
    audit::*,
    encryption::{encrypted_rows::*, issuer_keys::*, kek::*, reencrypt::*},
    governance::*,
    guarded_state::*,
    invites::*,
    lists::*,
    log::*,
    recovery::*,
    stats::*,
};
pub use operator_access::{access::*, credentials::*, password_file::*};
pub use owner::{
    Owner, correspondents::*, event_log::*, event_report::*, form_token, health::*,
    response_times::*, sent::*, used_forms::*, views::*,
};
pub use periodic_thread::{PeriodicThread, StopSignal};
pub use sealpost::{Sealpost, core::Parts, unlock::*};
pub use sealpost_limits::{UsageReport, WindowReport};
pub use sealpost_wallet::random;
pub use send::{Sending, command::*, message::*, send_batch::*};
pub use settings::{Activation, Settings};
pub use transparency::{TransparencyLog, kept::find_log_fault, proof::*};
pub use webhooks::{Webhooks, cursor::*, deliveries::*, relay::*, view::*};
