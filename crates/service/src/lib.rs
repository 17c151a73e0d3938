//! The service of Sealpost, without HTTP and SQL: activate identities, log in, send and open messages, issue badges,
//! and manage webhooks. A Rust program can embed this crate, and `sealpost-api` serves it over HTTP.
//!
//! [`Sealpost`] starts and stops everything, and has a field for each topic:
//!
//! | field | service |
//! |---|---|
//! | `accounts` | [`Accounts`] activates identities, and manages sessions, keys, tokens, secrets and policies. |
//! | `badges` | [`Badges`] issues and verifies badges, and checks keys against compliance circuits. |
//! | `mailbox` | [`Mailbox`] opens received envelopes, and lists and proves sent ones. |
//! | `sending` | [`Sending`] seals messages and stores them in batches. |
//! | `transparency_log` | [`TransparencyLog`] serves the files of the log, and keeps the cosignatures of witnesses. |
//! | `webhooks` | [`Webhooks`] registers and changes webhooks, repeats deliveries, and connects relays. |
//!
//! [`Sealpost::authenticate`] converts credentials into a [`Caller`], which every function that acts for an API key
//! takes. These functions are async and need a tokio runtime. Database work runs on a bounded number of its blocking
//! threads.
//!
//! The database is `sealpost-storage`. Dispatcher, URL guard and clock are traits of `sealpost-domain`, which the
//! embedding program implements.

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
    activate::{Activate, Activated, NeededInvite},
    activity::{ActivityCursor, ActivityPage, ActivityView, ListActivity},
    export::{
        ExportPosition,
        document::{
            AccountExport, ExportedAccount, ExportedDay, ExportedEnvelope, ExportedKey,
            ExportedSession,
        },
    },
    key_status::{GovernanceView, KeyStanding, Resolved},
};
pub use acts::{
    actor::{Actor, KeyOwner},
    audited::{Operator, OperatorClient, OperatorError, OperatorProcess},
    closing::{AccountClosed, KeptData},
    handles::HandleReleased,
    keys::{Agreement, KeyRevoked, KeyView, PlanView},
    owner::{ConfirmationFault, ProvenOwner},
    policy::{PolicyChange, PolicyView},
    secrets::{Recovery, SecretReset, SecretsReplaced},
    sessions::{LoggedIn, Login, Scope, SessionsEnded},
    tokens::{ApiTokenCreated, ApiTokenList, ApiTokenRevoked, ApiTokenView, CreateApiToken},
    webhooks::{
        change::{Deleted, Retiring, Update, Updated, WebhookSecretRotated},
        redeliver::{Enabled, Recover, Recovered, Redelivered},
        register::{Register, Registered},
        test::Tested,
    },
};
pub use badges::{
    Badges,
    issue::{BadgeView, DryRun, Issue, Issued, IssuedBadge},
    verify::{BadgeVerdict, BadgeVerified},
};
pub use caller::{
    admission::{Limited, Limits, Purpose},
    bearer::Access,
    credentials::{AccountSession, Caller, Credentials, KeyNamed},
};
pub use compliance::{
    circuits_file::{CircuitsFault, built_in_circuits, parse_circuits},
    validate::{Explanation, Members, Tried, Validate, Validated},
};
pub use envelopes::{
    Mailbox,
    evidence::EvidenceView,
    list_sent::{ListSent, Receipt, SentCursor, SentPage, SentView},
    open::Opened,
};
pub use error::Error;
pub use issuer::{
    did_document::DidDocument,
    signer::{Issuer, refresh_issuer},
};
pub use operator::{
    assessments::{AssessmentSource, AssessmentView, Attest, AttestationView, BadgeRevoked},
    audit::{AuditVerdict, AuditView},
    encryption::{
        encrypted_rows::EncryptedRows,
        issuer_keys::{IssuerKeyStatus, IssuerKeyView},
        kek::KekRetired,
        reencrypt::Rewrapped,
    },
    governance::{DecisionView, PartnerAssigned},
    invites::{InviteCreated, InviteTerms, InviteView},
    lists::{
        AccountDetails, AccountView, BadgeListed, KeyDetails, KeyEvidence, KeyRowView, ListPage,
    },
    log::LogRestarted,
    recovery::{DatabaseRecovered, EndedCredentials},
    stats::{NodeView, StatsView, TaskView},
};
pub use operator_access::{
    access::{AccessSettings, OperatorAccess, OperatorSession},
    credentials::{OperatorCall, OperatorCredentials, SignedInOperator},
    password_file::{LineFault, LineOrWalletFault, OperatorRole, PasswordFile, PasswordFileFault},
};
pub use owner::{
    account_owner::{Owner, form_token},
    correspondents::{Correspondent, EventOrigin},
    event_cursor::EventLogCursor,
    event_log::{EventLogEntry, EventLogPage, ListEvents, LoggedWebhook},
    event_report::{AttemptHeaders, EventReport, ReportedAttempt},
    health::{AttemptCount, ConnectedRelay, RecentAttempts, WebhookReport},
    response_times::{DayTimes, ResponseTimes},
    sent::{SentEntry, SentLog},
    used_forms::{FormUse, form_hash, new_form_id},
    views::{KeyPage, PendingCount, SessionView, Truncated},
};
pub use periodic_thread::PeriodicThread;
pub use sealpost::{
    Sealpost,
    core::Parts,
    unlock::{UnlockError, unlock},
};
pub use sealpost_limits::{UsageReport, WindowReport};
pub use sealpost_wallet::random;
pub use send::{
    Sending,
    command::{BatchResult, RefusedMessage},
    message::{NewMessage, SendContext, Sent, SentMessage},
    send_batch::{BatchIdempotency, SendBatch, SentBatch},
};
pub use settings::{Activation, Settings};
pub use transparency::{TransparencyLog, proof::ProofFormat};
pub use webhooks::{
    Webhooks,
    cursor::{Cursor, CursorFault, DeliveryState},
    deliveries::{Deliveries, DeliveriesPage, DeliveryView},
    relay::Relay,
    view::{WaitingChoice, WaitingCount, WebhookList, WebhookView},
};
