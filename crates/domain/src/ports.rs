//! The traits between the service, the database and the dispatcher, and the values that the database takes and returns.
//! All traits are synchronous.

mod closing;
mod delivery;
mod dispatching;
mod envelopes;
mod housekeeping;
mod journal;
mod keys;
mod ledger;
mod log;
mod overview;
mod relays;
mod store;

pub use closing::{ClosedPortion, Closing, ClosingExtent, DeletedRows};
pub use delivery::{FailureRange, RecoverySummary, WaitingEnvelope, WaitingTransfer};
pub use dispatching::{
    Claim, Dispatch, EventSigner, ExpeditedDelivery, FinishTest, Outbox, TargetGuard, VettedUrl,
};
pub use envelopes::{AddressedEnvelope, SentEnvelope, SentList, SentQuery};
pub use housekeeping::{
    CountedTable, DailyCounts, ExpiringRows, HousekeepingTurn, Node, TaskTurn, UncountedRows,
};
pub use journal::{JournaledAct, RevocationJournal};
pub use keys::{Contact, HandleOwner, KeyProfile, KeySnapshot, RevocationSummary, SentPage};
pub use ledger::{
    AdmissionFacts, FactsQuery, IdempotencyRecord, IdempotencyResult, KeyFacts,
    NewIdempotencyRecord, OverageCount, ParkedDelivery, RecipientWebhook, RecipientWebhooks,
    WriteSet,
};
pub use log::{
    EnvelopeList, LogHead, LoggedStatement, NewLogEntry, PendingStatement, StatementKind,
    StoredTile,
};
pub use overview::{
    AccountOverview, AccountSummary, DailyCount, EventSource, KeyFilter, KeyOverview, ServiceStats,
    WebhookOwner,
};
pub use relays::{
    OpenRelay, RelayAnswer, RelayConnection, RelayConnectionId, RelayEnd, RelayFrame, RelayLink,
    Relays,
};
pub use store::{BoxedError, Durability, OldestSnapshot, RowAuthenticator, StoreError};
