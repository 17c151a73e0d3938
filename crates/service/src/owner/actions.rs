//! The changes that the owner of an account can make on the dashboard.

use std::sync::Arc;

use sealpost_domain::{
    ActivityKind, ApiKeyId, EnvelopeId, KeyStatus, Refusal, RequestSource,
    ports::{Durability, FactsQuery, KeyFacts},
};

use super::{
    account_owner::{NO_KEY, Owner},
    correspondents::{Correspondent, correspondents},
    pages::live_sessions,
};
use crate::{
    cache::event::CacheEvent,
    caller::{authenticated::AccountSession, credentials::NO_SESSION},
    error::Error,
    operator::{
        action::{Operator, OperatorError},
        keys::KeyRevoked,
    },
    policy::{PolicyChange, PolicyView},
    sealpost::core::Core,
    webhooks::{
        manage::{Manage, Managed},
        register::{Register, Registered},
        test::Tested,
    },
};

impl Owner<'_> {
    /// Registers a webhook for an active key.
    pub async fn register(&self, key: &ApiKeyId, register: Register) -> Result<Registered, Error> {
        let (session, key) = (self.session, *key);
        let origin = session.act_from(&self.source);
        self.sealpost
            .block(move |core| {
                check_key(core, &session, &key, |facts| {
                    require_active(facts)?;
                    if facts.standing.is_blocked() {
                        return Err(Refusal::GovernanceBlocked { field: None });
                    }
                    Ok(())
                })?;
                core.register_admitted(&key, register, &origin)
            })
            .await
    }

    /// Lists or changes the webhooks of a key. Listing and deleting work for a key in any state. Other changes need an
    /// active key, as in the API.
    pub async fn manage(&self, key: &ApiKeyId, action: Manage) -> Result<Managed, Error> {
        let (session, key) = (self.session, *key);
        let origin = session.act_from(&self.source);
        self.sealpost
            .block(move |core| {
                check_key(core, &session, &key, |facts| match action {
                    Manage::Delete { .. } | Manage::Deliveries(_) | Manage::List => Ok(()),
                    Manage::Enable { .. }
                    | Manage::Recover(_)
                    | Manage::Redeliver { .. }
                    | Manage::RotateSecret { .. }
                    | Manage::Update(_) => require_active(facts),
                })?;
                core.manage_admitted(&key, action, &origin)
            })
            .await
    }

    /// Sends a test event to a webhook of an active key, and waits for the end of the attempt.
    pub async fn test_webhook(&self, key: &ApiKeyId, webhook_id: String) -> Result<Tested, Error> {
        let (session, key) = (self.session, *key);
        let build = move |core: &Core| {
            check_key(core, &session, &key, require_active)?;
            core.test_event(session.account_id, &key, &webhook_id)
        };
        let event = self.sealpost.block(build).await?;
        self.sealpost.core.send_test(event).await
    }

    /// Changes the policy of an active key.
    pub async fn set_policy(
        &self,
        key: &ApiKeyId,
        change: PolicyChange,
    ) -> Result<PolicyView, Error> {
        let (session, key) = (self.session, *key);
        let origin = session.act_from(&self.source);
        self.sealpost
            .block(move |core| {
                check_key(core, &session, &key, require_active)?;
                core.set_policy(&key, &change, &origin)
            })
            .await
    }

    /// Adds the sender of an envelope to the blocklist of `key`, which received the envelope. Returns the sender.
    pub async fn block_sender(
        &self,
        key: &ApiKeyId,
        envelope_id: String,
    ) -> Result<Correspondent, Error> {
        let (session, key) = (self.session, *key);
        let origin = session.act_from(&self.source);
        self.sealpost
            .block(move |core| {
                check_key(core, &session, &key, require_active)?;
                let id: EnvelopeId = envelope_id.parse().or(Err(Refusal::EnvelopeNotFound))?;
                if id.timestamp() < core.kept_since(core.clock.now()) {
                    return Err(Refusal::EnvelopeNotFound.into());
                }
                let sender = core.store.read(|reader| reader.find_sender(&id, &key))?;
                let sender = sender.ok_or(Refusal::EnvelopeNotFound)?;
                let block = vec![sender.to_string()];
                let change = PolicyChange { block, ..PolicyChange::default() };
                core.set_policy(&key, &change, &origin)?;
                let named =
                    core.store.read(|reader| correspondents(reader, [sender]))?.remove(&sender);
                Ok(named.unwrap_or(Correspondent { api_key_id: sender, handle: None, label: None }))
            })
            .await
    }

    /// Ends the session with this name. Also succeeds if the session has already ended.
    pub async fn end_session(&self, name: &str) -> Result<(), Error> {
        let (session, name, source) = (self.session, name.to_owned(), self.source.clone());
        self.sealpost.block(move |core| end_session(core, &session, &name, &source)).await
    }
}

pub(super) fn revoke(
    core: &Core,
    session: &AccountSession,
    key: &ApiKeyId,
    source: &RequestSource,
) -> Result<KeyRevoked, Error> {
    check_key(core, session, key, |facts| match facts.status {
        KeyStatus::Revoked => Err(REVOKED),
        KeyStatus::Active | KeyStatus::Deactivated | KeyStatus::Rotating => Ok(()),
    })?;
    let actor = format!("account:{}", session.account_id);
    let operator = Operator::new(Arc::clone(&core.store), Arc::clone(&core.clock), actor)
        .for_owner(session.act_from(source));
    let revoked = operator.revoke_key(key);
    // The cache is invalidated even after an error, because a commit that failed may still have revoked the key.
    core.cache.invalidate_on(CacheEvent::KeyRevoked(key));
    revoked.map_err(|error| match error {
        OperatorError::Store(fault) => fault.into(),
        OperatorError::Wallet(fault) => fault.into(),
        OperatorError::Refused(refusal) => refusal.into(),
        // These errors mean that a concurrent transaction has revoked the key.
        OperatorError::HandleInUse(_)
        | OperatorError::HasHandle(_)
        | OperatorError::IllegalTransition(_)
        | OperatorError::KekInUse { .. }
        | OperatorError::NotFound(_)
        | OperatorError::Pointless(_) => REVOKED.into(),
    })
}

fn end_session(
    core: &Core,
    session: &AccountSession,
    name: &str,
    source: &RequestSource,
) -> Result<(), Error> {
    let now = core.clock.now();
    let sessions = core.store.read(|reader| live_sessions(reader, &session.account_id, now))?;
    let tokens = sessions.iter().map(|details| details.session.token);
    for token in tokens.filter(|token| token.short_name() == name) {
        core.store.write(Durability::Durable, |tx| {
            tx.delete_session(&token)?;
            let detail = Some(format!("session {name}"));
            core.record(tx, &session.act_from(source), ActivityKind::Logout, detail)
        })?;
        core.cache.invalidate_on(CacheEvent::SessionEnded(&token));
    }
    Ok(())
}

/// Checks that the session is valid, that its account owns the key, and that `check` accepts the key.
fn check_key(
    core: &Core,
    session: &AccountSession,
    key: &ApiKeyId,
    check: impl Fn(&KeyFacts) -> Result<(), Refusal>,
) -> Result<(), Error> {
    // A key of another account is refused before the transaction, because the transaction locks rows that sends of the
    // key need.
    let found = core.store.read(|reader| reader.find_key(key))?;
    if found.is_none_or(|key| key.account_id != session.account_id) {
        return Err(NO_KEY.into());
    }
    let query =
        FactsQuery { sessions: vec![session.token], callers: vec![*key], ..FactsQuery::default() };
    core.store.write_or_refuse(Durability::Relaxed, |tx| {
        let facts = tx.lock_facts(&query)?;
        let stored = facts.sessions.get(&session.token);
        if !stored.is_some_and(|stored| stored.is_live(core.clock.now())) {
            return Err(NO_SESSION.into());
        }
        let key = facts.keys.get(key).filter(|key| key.account_id == session.account_id);
        check(key.ok_or(NO_KEY)?)?;
        Ok(())
    })?;
    Ok(())
}

fn require_active(facts: &KeyFacts) -> Result<(), Refusal> {
    match facts.status {
        KeyStatus::Active => Ok(()),
        status @ (KeyStatus::Deactivated | KeyStatus::Revoked | KeyStatus::Rotating) => {
            Err(Refusal::KeyInactive { status, field: None })
        }
    }
}

const REVOKED: Refusal = Refusal::KeyInactive { status: KeyStatus::Revoked, field: None };
