//! Tests of limits: rates, allowances, quotas, client addresses, connections, and the memory of request bodies.

mod addresses;
mod allowances;
mod body_memory;
mod clock;
mod connections;
mod counting;
mod handles;
mod quotas;
mod rate_limits;
mod shared_addresses;
mod sign_up;
mod stolen_sessions;
mod storage;
