//! Lets each form of the dashboard take effect only once. If a browser sends a form again, for example after a second
//! click, the user gets the result of the first submission.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{
    TokenHash,
    ports::{Durability, StoreError},
};
use sealpost_storage::UsedForm;
use sealpost_wallet::{FormId, WalletError, open_form_result, seal_form_result};
use tokio::time::sleep;
use zeroize::Zeroizing;

use crate::{account::Accounts, error::Error, sealpost::core::Core};

/// The id of a form that a browser sent, and the hash of this id. The database stores only the hash.
#[derive(Clone)]
pub struct SentForm {
    id: Zeroizing<String>,
    hash: TokenHash,
}

/// The result of a form that was sent before.
pub struct FormResult {
    /// The content that the first use stored.
    pub content: Zeroizing<Vec<u8>>,
    /// True if the form was first used less than two minutes ago. Only then may the page show secrets again: later,
    /// another person may use the browser.
    pub is_recent: bool,
}

/// Generates the id of a form on a page.
pub fn new_form_id() -> Result<String, WalletError> {
    Ok(FormId::generate()?.expose().to_owned())
}

impl SentForm {
    /// Parses the id of a form. `None` if the id is malformed.
    pub fn parse(id: &str) -> Option<Self> {
        let hash = FormId::hash_of(id)?;
        Some(Self { id: Zeroizing::new(id.to_owned()), hash })
    }
}

impl Accounts {
    /// Records the use of a form. Returns `false` if the form was used before.
    ///
    /// Stores the [shared time](sealpost_storage::Reader::shared_time), because the clock of this node may be wrong.
    /// With a time far in the past, housekeeping would delete the record at once. With a time in the future, a
    /// repetition at that time would show secrets again.
    pub async fn use_form(&self, form: &SentForm) -> Result<bool, Error> {
        let hash = form.hash;
        let use_form = move |core: &Arc<Core>| {
            Ok(core.store.write(Durability::Durable, |tx| {
                let now = tx.shared_time(core.clock.now())?;
                tx.use_form(&hash, now)
            })?)
        };
        self.core.block(&self.core, use_form).await
    }

    /// Stores the result of a used form, encrypted under a key that is derived from the id of the form.
    pub async fn set_form_result(&self, form: &SentForm, result: &[u8]) -> Result<(), Error> {
        let (hash, sealed) = (form.hash, seal_form_result(&form.id, result)?);
        let write = move |core: &Arc<Core>| {
            Ok(core.store.write(Durability::Relaxed, |tx| tx.set_form_result(&hash, &sealed))?)
        };
        self.core.block(&self.core, write).await
    }

    /// Returns the result of a form that was used before. Waits up to `wait` for it, because the requested action may
    /// still run. `None` if no result is stored by then.
    pub async fn form_result(
        &self,
        form: &SentForm,
        wait: Duration,
    ) -> Result<Option<FormResult>, Error> {
        let mut left = wait;
        loop {
            if let Some(result) = self.stored_form_result(form).await? {
                return Ok(Some(result));
            }
            if left.is_zero() {
                return Ok(None);
            }
            let pause = left.min(RESULT_CHECKED_EVERY);
            sleep(pause).await;
            left -= pause;
        }
    }

    async fn stored_form_result(&self, form: &SentForm) -> Result<Option<FormResult>, Error> {
        let hash = form.hash;
        let read = move |core: &Arc<Core>| {
            Ok(core.store.read(|reader| {
                let used = reader.find_used_form(&hash)?;
                Ok::<_, StoreError>((used, reader.shared_time(core.clock.now())?))
            })?)
        };
        let (used, now) = self.core.block(&self.core, read).await?;
        let Some(UsedForm { used_at, result: Some(sealed) }) = used else { return Ok(None) };
        // The clock can be behind `used_at`, if it was ahead when the form was used.
        let is_recent = now.abs_diff(used_at) < SHOWN_AGAIN_FOR;
        let content = open_form_result(&form.id, &sealed);
        Ok(content.map(|content| FormResult { content, is_recent }))
    }

    /// Deletes the recorded use of a form, so that the user can send the form again after a rejection.
    pub async fn release_form(&self, form: &SentForm) -> Result<(), Error> {
        let hash = form.hash;
        let write = move |core: &Arc<Core>| {
            Ok(core.store.write(Durability::Relaxed, |tx| tx.release_form(&hash))?)
        };
        self.core.block(&self.core, write).await
    }
}

/// Time after the first use of a form for which a repetition shows secrets again.
const SHOWN_AGAIN_FOR: Duration = Duration::from_mins(2);
const RESULT_CHECKED_EVERY: Duration = Duration::from_millis(250);
