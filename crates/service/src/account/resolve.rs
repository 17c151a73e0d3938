//! The use case that shows the identity behind an API key or a handle.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Handle, KeyStatus, Label, Recipient, RecipientFault, Refusal,
    ports::{Durability, KeyProfile, Lookup, StoreError},
};
use serde::Serialize;

use crate::{
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// The part of an identity that other identities can see.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Resolved {
    /// The API key of the identity, even if the request named a handle.
    pub api_key_id: ApiKeyId,
    /// The handle of the key; null if the key has none.
    pub handle: Option<Handle>,
    /// Display name of the identity; null if the policy of the key hides it.
    pub label: Option<Label>,
    /// Whether the key can send and receive.
    pub active: bool,
}

impl Sealpost {
    /// Finds the identity with this API key or handle.
    pub async fn resolve_identity(&self, caller: &Caller, id: String) -> Limited<Resolved> {
        self.run_as(caller, move |core, caller| {
            core.admitted(caller, Purpose::Manage, Durability::Relaxed, |_, _| Ok(Ok(())))
                .and_then(|()| core.find_identity(&id))
        })
        .await
    }
}

impl Core {
    fn find_identity(&self, id: &str) -> Result<Resolved, Error> {
        let mut lookup = self.store.lookup()?;
        let api_key_id = find_named_key(&mut *lookup, "id", id)??;
        let profile = lookup.find_profile(&api_key_id)?;
        let KeyProfile { handle, label, status } = profile.ok_or_else(|| unknown("id"))?;
        let active = status == KeyStatus::Active;
        Ok(Resolved { api_key_id, handle, label, active })
    }
}

/// Returns the API key that `text` contains, or the key that owns the handle in `text`. Does not check whether an API
/// key in `text` exists.
pub(crate) fn find_named_key(
    lookup: &mut dyn Lookup,
    field: &'static str,
    text: &str,
) -> Result<Result<ApiKeyId, Refusal>, StoreError> {
    let handle = match Recipient::parse(text) {
        Ok(Recipient::Key(id)) => return Ok(Ok(id)),
        Ok(Recipient::Handle(handle)) => handle,
        Err(RecipientFault::RawDid) => return Ok(Err(Refusal::RawDidRejected { field })),
        Err(RecipientFault::Unknown) => return Ok(Err(Refusal::of_id(text, unknown(field)))),
    };
    let owner = lookup.find_handle(&handle)?;
    Ok(owner.map(|owner| owner.api_key_id).ok_or_else(|| unknown(field)))
}

pub(crate) fn unknown(field: &'static str) -> Refusal {
    Refusal::KeyNotFound { field: Some(field) }
}
