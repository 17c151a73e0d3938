//! Stores which forms of the dashboard were sent, and their results, so that a repeated form has no second effect.

use diesel::prelude::*;
use sealpost_domain::{Timestamp, TokenHash, ports::StoreError};

use crate::{
    connection::{
        on_backend,
        transaction::{Reader, Transaction},
    },
    schema::used_forms as f,
};

impl Transaction {
    /// Records the use of a form. Returns false if the form was used before. Of several concurrent calls for a form,
    /// only one returns true.
    pub fn use_form(&mut self, form: &TokenHash, now: Timestamp) -> Result<bool, StoreError> {
        let insert = diesel::insert_into(f::table)
            .values((f::form.eq(form.0.to_vec()), f::used_at.eq(now.as_millis())));
        self.run(
            |conn| Ok(on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))? == 1),
        )
    }

    /// Stores the encrypted result of a used form.
    pub fn set_form_result(&mut self, form: &TokenHash, result: &[u8]) -> Result<(), StoreError> {
        let used = diesel::update(f::table.find(form.0.to_vec())).set(f::result.eq(result));
        self.execute(used).map(drop)
    }

    /// Withdraws the use of a form, so that the form can be sent again.
    pub fn release_form(&mut self, form: &TokenHash) -> Result<(), StoreError> {
        self.execute(diesel::delete(f::table.find(form.0.to_vec()))).map(drop)
    }
}

impl Reader {
    /// Finds a used form. `None` if the form was not used.
    pub fn find_used_form(&mut self, form: &TokenHash) -> Result<Option<UsedForm>, StoreError> {
        let used = f::table.find(form.0.to_vec()).select((f::used_at, f::result));
        self.first(used, |(at, result)| {
            Ok(UsedForm { used_at: Timestamp::from_millis(at), result })
        })
    }
}

/// A form of the dashboard that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedForm {
    /// Time of the first use.
    pub used_at: Timestamp,
    /// The encrypted result. `None` until the action of the form has ended.
    pub result: Option<Vec<u8>>,
}
