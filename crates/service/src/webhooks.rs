//! The webhooks of an API key: how their owner sees them, their deliveries, and their relay connections.

pub(crate) mod cursor;
pub(crate) mod deliveries;
pub(crate) mod relay;
pub(crate) mod view;

use std::sync::Arc;

use sealpost_domain::ports::TargetGuard;

use crate::sealpost::core::Core;

/// Registers and changes webhooks, lists and repeats their deliveries, and connects relays (webhooks whose receivers
/// connect to the service). Clones share their state.
#[derive(Clone)]
pub struct Webhooks {
    pub(crate) core: Arc<Core>,
    pub(crate) guard: Arc<dyn TargetGuard>,
}

impl Webhooks {
    pub(crate) fn new(core: Arc<Core>, guard: Arc<dyn TargetGuard>) -> Self {
        Self { core, guard }
    }
}
