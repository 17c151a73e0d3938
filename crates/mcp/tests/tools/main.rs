//! Tests of the tools over an in-memory transport, with a mock service in this process.

#![cfg(test)]

mod http;
mod outputs;
mod peer;
mod service;
mod way;
