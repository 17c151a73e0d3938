//! Reads requests: client address, body, fields, credentials, and idempotency key.

mod body;
mod body_memory;
mod caller;
mod client_address;
mod fields;
mod forwarded;
mod headers;
mod member;
mod nearest;
mod unique_json;

pub(crate) use body::read_small as read_small_body;
pub(crate) use body_memory::BodyMemory;
pub(crate) use caller::{
    KeyRequest, PublicRequest, SessionRequest, bearer_token, credentials_in_headers,
};
pub use client_address::request_source;
pub(crate) use client_address::{client_address, source_behind};
pub(crate) use fields::{
    Fields, NoMembers, RequestBody, invalid, member_name, request_body, whole_number,
};
pub(crate) use headers::{idempotency_key, trace_parent};
pub(crate) use member::{HandleFilter, LabelFilter, Member, NumberUpTo, refuse_until_before_since};
#[cfg(test)]
pub(crate) use nearest::similar;
pub(crate) use nearest::{edit_distance, nearest};
