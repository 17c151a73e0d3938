//! Lookups of profiles, inside and outside a transaction.

use diesel::prelude::*;
use sealpost_domain::{
    ApiKeyId, Label,
    ports::{KeyProfile, PolicyLookup, StoreError},
};

use crate::{
    connection::{AnyConnection, fault::Fault, reader::Reader, transaction::Transaction},
    rows::columns,
    schema::{api_keys as k, handles as h},
};

macro_rules! look_up_on {
    ($runner:ty) => {
        impl PolicyLookup for $runner {
            fn find_profile(&mut self, id: &ApiKeyId) -> Result<Option<KeyProfile>, StoreError> {
                self.run(|conn| find_profile(conn, id))
            }
        }
    };
}

look_up_on!(Reader<'_>);
look_up_on!(Transaction);

fn find_profile(conn: &mut AnyConnection, id: &ApiKeyId) -> Result<Option<KeyProfile>, Fault> {
    let row = k::table
        .left_join(h::table)
        .filter(k::id.eq(id.to_string()))
        .select((k::label, k::status, h::handle.nullable()))
        .first::<(String, String, Option<String>)>(conn)
        .optional()?;
    row.map(|(label, status, handle)| {
        Ok(KeyProfile {
            handle: handle.as_deref().map(columns::handle).transpose()?,
            label: Label::parse(&label).ok().ok_or(Fault::Corrupt("label"))?,
            status: columns::key_status(&status)?,
        })
    })
    .transpose()
}
