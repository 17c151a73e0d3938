//! Stores which forms of the dashboard were sent, and where their results are shown.

use diesel::prelude::*;
use sealpost_domain::{
    Timestamp, TokenHash,
    ports::{FormRepo, StoreError},
};

use crate::{
    connection::{on_backend, transaction::Transaction},
    schema::used_forms as f,
};

impl FormRepo for Transaction {
    fn use_form(&mut self, form: &TokenHash, now: Timestamp) -> Result<bool, StoreError> {
        let insert = diesel::insert_into(f::table)
            .values((f::form.eq(form.0.to_vec()), f::used_at.eq(now.as_millis())));
        self.run(
            |conn| Ok(on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))? == 1),
        )
    }

    fn set_form_result(&mut self, form: &TokenHash, path: &str) -> Result<(), StoreError> {
        let used = diesel::update(f::table.find(form.0.to_vec())).set(f::result.eq(path));
        self.run(|conn| Ok(used.execute(conn).map(drop)?))
    }

    fn form_result(&mut self, form: &TokenHash) -> Result<Option<String>, StoreError> {
        let result = f::table.find(form.0.to_vec()).select(f::result);
        self.run(|conn| Ok(result.first::<Option<String>>(conn).optional()?.flatten()))
    }

    fn release_form(&mut self, form: &TokenHash) -> Result<(), StoreError> {
        let used = diesel::delete(f::table.find(form.0.to_vec()));
        self.run(|conn| Ok(used.execute(conn).map(drop)?))
    }
}
