//! The acts (changes) on keys, webhooks, policies, tokens and accounts. Each act is implemented once, for all authors.
//!
//! - An [`Actor`](actor::Actor) acts on one key: a caller of the API, or the owner of the account.
//! - A [`ProvenOwner`](owner::ProvenOwner) performs the acts that a stolen session must not perform.
//! - An [`Operator`](audited::Operator) acts on all accounts.
//!
//! The transaction of an act by an `Actor` or a `ProvenOwner` first checks the credentials of the author. If an act
//! needs several transactions, the first one checks. These acts rely on the authentication of the request instead: all
//! acts of an operator, and the end of sessions and API tokens by the owner of the account.
//!
//! The activity log of the account names the author. For the acts in [`audited`], the audit trail names the author too.

pub(crate) mod actor;
pub(crate) mod audit_chain;
pub(crate) mod audited;
pub(crate) mod closing;
pub(crate) mod handles;
pub(crate) mod keys;
pub(crate) mod owner;
pub(crate) mod policy;
pub(crate) mod secrets;
pub(crate) mod sessions;
pub(crate) mod tokens;
pub(crate) mod webhooks;
