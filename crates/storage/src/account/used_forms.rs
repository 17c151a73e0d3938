//! Stores which forms of the dashboard were sent, and where their results are shown.

use diesel::prelude::*;
use sealpost_domain::{Timestamp, TokenHash, ports::StoreError};

use crate::{
    connection::{on_backend, transaction::Transaction},
    schema::used_forms as f,
};

impl Transaction {
    /// Records the use of a form. Returns false if the form was used before. Of concurrent uses, one returns true.
    pub fn use_form(&mut self, form: &TokenHash, now: Timestamp) -> Result<bool, StoreError> {
        let insert = diesel::insert_into(f::table)
            .values((f::form.eq(form.0.to_vec()), f::used_at.eq(now.as_millis())));
        self.run(
            |conn| Ok(on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))? == 1),
        )
    }

    /// Stores the path of the page that shows the result of a used form.
    pub fn set_form_result(&mut self, form: &TokenHash, path: &str) -> Result<(), StoreError> {
        let used = diesel::update(f::table.find(form.0.to_vec())).set(f::result.eq(path));
        self.run(|conn| Ok(used.execute(conn).map(drop)?))
    }

    /// Returns the path of the page that shows the result of a used form. `None` if no path is stored.
    pub fn form_result(&mut self, form: &TokenHash) -> Result<Option<String>, StoreError> {
        let result = f::table.find(form.0.to_vec()).select(f::result);
        self.run(|conn| Ok(result.first::<Option<String>>(conn).optional()?.flatten()))
    }

    /// Deletes the use of a form, so that the form can be sent again.
    pub fn release_form(&mut self, form: &TokenHash) -> Result<(), StoreError> {
        let used = diesel::delete(f::table.find(form.0.to_vec()));
        self.run(|conn| Ok(used.execute(conn).map(drop)?))
    }
}
