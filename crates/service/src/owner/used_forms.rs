//! Lets each form of the dashboard take effect only once. If a browser sends a form again, for example after a reload,
//! the user gets the result of the first time.

use std::sync::Arc;

use sealpost_domain::{TokenHash, ports::Durability};
use sealpost_wallet::{FormId, WalletError};

use crate::{account::Accounts, error::Error, sealpost::core::Core};

/// The use of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormUse {
    /// The form was not used before. This use is now recorded.
    First,
    /// The form was used before. Contains the path of the page with the result; `None` if the act has not ended.
    Repeated(Option<String>),
}

/// Generates the id of a form on a page.
pub fn new_form_id() -> Result<String, WalletError> {
    Ok(FormId::generate()?.expose().to_owned())
}

/// Returns the hash of a form's id. `None` if the id is malformed.
pub fn form_hash(form_id: &str) -> Option<TokenHash> {
    FormId::hash_of(form_id)
}

impl Accounts {
    /// Records the use of a form, before the action that the form requests. Returns whether the form was used before.
    pub async fn use_form(&self, form: TokenHash) -> Result<FormUse, Error> {
        let use_form = move |core: &Arc<Core>| {
            let now = core.clock.now();
            Ok(core.store.write(Durability::Durable, |tx| {
                if tx.use_form(&form, now)? {
                    return Ok(FormUse::First);
                }
                tx.form_result(&form).map(FormUse::Repeated)
            })?)
        };
        self.core.block(&self.core, use_form).await
    }

    /// Stores the path of the page with the result of a used form.
    pub async fn set_form_result(&self, form: TokenHash, path: String) -> Result<(), Error> {
        let write = move |core: &Arc<Core>| {
            Ok(core.store.write(Durability::Relaxed, |tx| tx.set_form_result(&form, &path))?)
        };
        self.core.block(&self.core, write).await
    }

    /// Deletes the recorded use of a form, so that the user can send the form again after a rejection.
    pub async fn release_form(&self, form: TokenHash) -> Result<(), Error> {
        let write = move |core: &Arc<Core>| {
            Ok(core.store.write(Durability::Relaxed, |tx| tx.release_form(&form))?)
        };
        self.core.block(&self.core, write).await
    }
}
