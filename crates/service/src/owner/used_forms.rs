//! Lets each form of the dashboard act once. A repeated form, such as after a reload, leads to the first result.

use std::sync::Arc;

use sealpost_domain::{TokenHash, ports::Durability};
use sealpost_wallet::{FormId, WalletError};

use crate::{account::Accounts, error::Error, sealpost::core::Core};

/// The use of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormUse {
    /// The form was not used before. It is used now.
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
    /// Records the use of a form, before its act.
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

    /// Lets the user send a form again, because its act was rejected.
    pub async fn release_form(&self, form: TokenHash) -> Result<(), Error> {
        let write = move |core: &Arc<Core>| {
            Ok(core.store.write(Durability::Relaxed, |tx| tx.release_form(&form))?)
        };
        self.core.block(&self.core, write).await
    }
}
