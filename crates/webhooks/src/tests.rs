//! Tests of the whole dispatcher over real sockets. Also contains the helpers of these tests.

mod address_families;
pub(crate) mod connections;
mod deliveries;
mod ended_webhooks;
pub(crate) mod fake_resolver;
pub(crate) mod fixture;
pub(crate) mod memory_outbox;
mod relays;
mod response_sequences;
mod responses;
mod shutdown;
mod signatures;
mod test_receiver;
mod tls_sessions;
mod unresponsive_receivers;
