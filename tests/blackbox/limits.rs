//! Tests of limits: rates, allowances, quotas, client addresses, connections, and the memory of request bodies.

mod addresses;
mod allowances;
mod body_memory;
mod connections;
mod counting;
mod handles;
mod quotas;
mod rate_limits;
mod sign_up;
mod storage;
