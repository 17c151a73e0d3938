//! The traits between the service, the database and the dispatcher, and the values that the database takes and returns.
//! All traits are synchronous.

mod closing;
mod contacts;
mod delivery;
mod dispatching;
mod envelopes;
mod error;
mod housekeeping;
mod journal;
mod keys;
mod ledger;
mod log;
mod nodes;
mod operator;
mod owner;
mod relays;
mod row_authenticator;
mod store;

pub use closing::{ClosedPortion, ClosingExtent, DeletedRows};
pub use contacts::{Contact, SentPage};
pub use delivery::{FailureRange, RecoverySummary, WaitingEnvelope, WaitingTransfer};
pub use dispatching::{
    Claim, Dispatch, EventSigner, ExpeditedDelivery, FinishTest, Outbox, TargetGuard, VettedUrl,
};
pub use envelopes::{AddressedEnvelope, SentEnvelope, SentList, SentQuery};
pub use error::{BoxedError, StoreError};
pub use housekeeping::{CountedTable, ExpiringRows, HousekeepingTurn, UncountedRows};
pub use journal::{JournaledAct, RevocationJournal};
pub use keys::{HandleOwner, KeyProfile, KeySnapshot, RevocationSummary};
pub use ledger::{
    AdmissionFacts, FactsQuery, IdempotencyRecord, IdempotencyResult, KeyFacts,
    NewIdempotencyRecord, OverageCount, ParkedDelivery, RecipientWebhook, RecipientWebhooks,
    WriteSet,
};
pub use log::{LogHead, LoggedStatement, NewLogEntry, PendingStatement, StatementKind, StoredTile};
pub use nodes::{Node, TaskTurn};
pub use operator::{AccountOverview, AccountSummary, KeyFilter, ServiceStats, WebhookOwner};
pub use owner::{DailyCount, EventSource, KeyOverview};
pub use relays::{
    OpenRelay, RelayAnswer, RelayConnection, RelayConnectionId, RelayEnd, RelayFrame, RelayLink,
    Relays,
};
pub use row_authenticator::RowAuthenticator;
pub use store::{Durability, OldestSnapshot};
