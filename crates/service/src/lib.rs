//! Sealpost's use cases: what another Rust service embeds.
