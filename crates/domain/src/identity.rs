//! Accounts and their identities. An identity is an API key with a DID and secret keys, and may have a handle.

mod account;
mod api_token;
mod did;
mod handle;
mod id;
mod id_kind;
mod key;
mod reserved_handles;
mod secret;

pub use account::{Account, AccountSecrets, Invite, InviteStatus, Label, Session, SessionDetails};
pub use api_token::{ApiToken, TokenScope, TokenScopes};
pub use did::Did;
pub use handle::{Handle, HandleFault};
pub use id::{
    AccountId, ActivityId, ApiKeyId, ApiTokenId, AssessmentId, AttestationId, BadgeId, ChannelId,
    DecisionId, EnvelopeId, IdFault, InviteId, IssuerKeyId, OwnEventId, RequestId, WebhookId,
};
pub use id_kind::id_kind;
pub use key::{ApiKey, IllegalTransition, IssuerKey, KeyEvent, KeyStatus, OwnedKey};
pub use reserved_handles::{ReservedHandles, ReservedHandlesFault};
pub use secret::{TokenHash, Wrapped};
