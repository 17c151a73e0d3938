//! Use cases of accounts: activation (creating identities), activity, export, and the status of a key.

pub(crate) mod activate;
pub(crate) mod activity;
pub(crate) mod export;
pub(crate) mod key_status;

use std::sync::Arc;

use parking_lot::Mutex;

use crate::{sealpost::core::Core, transparency::TransparencyLog};

/// Opens and closes accounts, and manages their keys, sessions, tokens and secrets. Clones share their state.
#[derive(Clone)]
pub struct Accounts {
    pub(crate) core: Arc<Core>,
    log: TransparencyLog,
    /// Held while this node collects the contacts of a key (the keys to which it has sent messages), so that only one
    /// request at a time does this.
    pub(crate) contact_collection: Arc<Mutex<()>>,
}

impl Accounts {
    pub(crate) fn new(core: Arc<Core>, log: TransparencyLog) -> Self {
        Self { core, log, contact_collection: Arc::default() }
    }
}
