//! Limits: rates, allowances, quotas, client addresses, and the memory of request bodies.

mod addresses;
mod allowances;
mod body_memory;
mod counting;
mod quotas;
mod rate_limits;
