//! One statement a batch, with an array for each column, all equally long. Where every batch passes, arrays stand side by
//! side in the list of columns and not in FROM, where PostgreSQL writes each into a store of its own and reads it back.

mod queue;
mod send;
mod settle;

use diesel::sql_types::{Array, BigInt, Binary, SmallInt, Text};

pub(super) use self::{
    queue::{
        discard, due_of, expedite, lease, oldest_due, park, purge_envelopes, release, targets_above,
    },
    send::{
        add_overages, forget_stale, lock_usage_and_facts, open_channels, recall, remember, store,
    },
    settle::{keep, log, remove, set_health},
};
use super::RowId;

type Texts = Array<Text>;
type BigInts = Array<BigInt>;

/// As [`MetaRow`](crate::envelope::MetaRow) reads them.
type MetaColumns = (Text, Text, Text, SmallInt, Binary, BigInt, BigInt);

fn column<'a, R, V>(rows: &'a [R], value: impl Fn(&'a R) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

fn row_id((webhook_id, envelope_id): (String, String)) -> RowId {
    RowId { webhook_id, envelope_id }
}
