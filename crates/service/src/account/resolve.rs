//! The use case that shows the identity behind an API key or a handle.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Handle, KeyStatus, Label, Recipient, RecipientFault, Refusal, ports::KeyProfile,
};
use sealpost_storage::{Abort, Reader};
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
        self.ask_as(caller, Purpose::Manage, move |core| core.find_identity(&id)).await
    }
}

impl Core {
    fn find_identity(&self, id: &str) -> Result<Resolved, Error> {
        let (api_key_id, profile) = self.store.read(|reader| {
            let key = find_named_key(reader, "id", id)?;
            Ok::<_, Abort>((key, reader.find_profile(&key)?))
        })?;
        let KeyProfile { handle, label, status } = profile.ok_or_else(|| unknown("id"))?;
        let active = status == KeyStatus::Active;
        Ok(Resolved { api_key_id, handle, label, active })
    }
}

/// Returns the API key that `text` contains, or the key that owns the handle in `text`. Does not check whether an API
/// key in `text` exists.
pub(crate) fn find_named_key(
    reader: &mut Reader,
    field: &'static str,
    text: &str,
) -> Result<ApiKeyId, Abort> {
    let handle = match Recipient::parse(text) {
        Ok(Recipient::Key(id)) => return Ok(id),
        Ok(Recipient::Handle(handle)) => handle,
        Err(RecipientFault::RawDid) => return Err(Refusal::RawDidRejected { field }.into()),
        Err(RecipientFault::Unknown) => return Err(Refusal::of_id(text, unknown(field)).into()),
    };
    let owner = reader.find_handle(&handle)?;
    Ok(owner.ok_or_else(|| unknown(field))?.api_key_id)
}

pub(crate) fn unknown(field: &'static str) -> Refusal {
    Refusal::KeyNotFound { field: Some(field) }
}
