//! Stored envelopes: opening by the recipient; lists and receipts for the sender; evidence for both.

pub(crate) mod evidence;
pub(crate) mod list_sent;
pub(crate) mod open;

use std::sync::Arc;

use crate::{sealpost::core::Core, transparency::TransparencyLog};

/// Opens received envelopes, lists sent ones with their receipts, and creates evidence about both. Clones share their
/// state.
#[derive(Clone)]
pub struct Mailbox {
    core: Arc<Core>,
    log: TransparencyLog,
}

impl Mailbox {
    pub(crate) fn new(core: Arc<Core>, log: TransparencyLog) -> Self {
        Self { core, log }
    }
}
