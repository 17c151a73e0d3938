//! Reads the members of a JSON request body strictly, in the order of the API contract. A body with several errors gets
//! the first of this order: missing, then invalid, then unknown members.

use std::ops::RangeInclusive;

use sealpost_domain::Refusal;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    nearest::similar,
    unique_json::{self, JsonError, VALUES_MAX},
};
use crate::state::ApiState;

/// The members of a JSON request body, which are removed as they are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    /// The members that have not been read yet.
    members: Map<String, Value>,
    /// The names of all members that the request type has read, including members that the body does not contain. The
    /// error about an unknown member suggests the most similar of these names.
    known: Vec<&'static str>,
}

/// A typed request body that can be read from the members of a JSON object.
pub(crate) trait RequestBody: Sized + 'static {
    /// Reads all members that the endpoint accepts. Implementations first call [`require`](Fields::require), so that a
    /// missing member is reported first.
    fn read(fields: &mut Fields) -> Result<Self, Refusal>;

    /// Checks values by rules that depend on the settings of the server. Called before unknown members are refused.
    fn check(&self, _app: &ApiState) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Defines a request body with its reader and its schema. The type of each member implements
/// [`Member`](super::Member). The reader first refuses missing members, and then reads the members in their order.
///
/// A rule can follow a member: `until: Option<Timestamp> => RULE,`. The rule is an expression of the type
/// `Result<(), Refusal>`. It can use this member and the members above, and is checked before the next member is read.
///
/// `check FUNCTION` can follow the struct. This function becomes [`RequestBody::check`].
macro_rules! request_body {
    (
        $(#[$doc:meta])*
        $visibility:vis struct $body:ident {
            $($(#[$member_doc:meta])* $member:ident: $type:ty $(=> $rule:expr)?,)*
        }
        $(check $check:path)?
    ) => {
        #[derive(schemars::JsonSchema)]
        $(#[$doc])*
        $visibility struct $body {
            $($(#[$member_doc])* $member: $type,)*
        }

        impl $crate::request::RequestBody for $body {
            fn read(
                fields: &mut $crate::request::Fields,
            ) -> Result<Self, sealpost_domain::Refusal> {
                fields.require_members(&[$((
                    $crate::request::member_name(stringify!($member)),
                    <$type as $crate::request::Member>::IS_REQUIRED,
                ),)*])?;
                $(
                    let name = $crate::request::member_name(stringify!($member));
                    let $member: $type = $crate::request::Member::read(fields, name)?;
                    $($rule?;)?
                )*
                Ok(Self { $($member,)* })
            }

            $(fn check(&self, app: &$crate::state::ApiState) -> Result<(), sealpost_domain::Refusal> {
                $check(self, app)
            })?
        }
    };
}

pub(crate) use request_body;

/// Returns the name of a member in JSON. The member `type` has the identifier `r#type` in Rust.
pub(crate) fn member_name(identifier: &'static str) -> &'static str {
    identifier.trim_start_matches("r#")
}

/// The body of an endpoint that accepts no members, except for the API key.
pub(crate) struct NoMembers;

impl RequestBody for NoMembers {
    fn read(_fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self)
    }
}

impl Fields {
    /// Parses a JSON object. An empty body is an object without members.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        if body.is_empty() {
            return Ok(Self::default());
        }
        let members = unique_json::parse_object(body).map_err(|fault| invalid_json(body, fault))?;
        Ok(Self { members, known: Vec::new() })
    }

    /// Reads the members as a typed body. Refuses members that were not read, and also `api_key_id` unless the body
    /// type reads it.
    pub(crate) fn into_body_without_key<B: RequestBody>(mut self) -> Result<B, Refusal> {
        let body = B::read(&mut self)?;
        match self.members.keys().next() {
            None => Ok(body),
            Some(name) => Err(unknown(name, self.known)),
        }
    }

    /// Reads the members as a typed body. Calls `check`, usually [`RequestBody::check`], before it refuses members that
    /// were not read.
    pub(crate) fn into_body<B: RequestBody>(
        mut self,
        check: impl FnOnce(&B) -> Result<(), Refusal>,
    ) -> Result<B, Refusal> {
        let body = B::read(&mut self)?;
        check(&body)?;
        self.refuse_unknown()?;
        Ok(body)
    }

    /// Refuses the request if one of these members is absent, null, or an empty string or array. The error names the
    /// first such member.
    pub(crate) fn require(&self, names: &[&'static str]) -> Result<(), Refusal> {
        let missing = names.iter().find(|name| self.lacks(name));
        missing.map_or(Ok(()), |field| Err(self.missing(field, names)))
    }

    /// Refuses the request if a required member is absent, null, or an empty string or array. The flag beside each name
    /// is true if the member is required. Allocates only for an error.
    pub(crate) fn require_members(&self, members: &[(&'static str, bool)]) -> Result<(), Refusal> {
        let mut required =
            members.iter().filter(|(_, is_required)| *is_required).map(|(name, _)| *name);
        let names = required.clone();
        let missing = required.find(|name| self.lacks(name));
        missing.map_or(Ok(()), |field| Err(self.missing(field, &names.collect::<Vec<_>>())))
    }

    /// Returns whether a member is absent, null, or an empty string or array.
    fn lacks(&self, name: &str) -> bool {
        self.members.get(name).is_none_or(is_empty)
    }

    /// Returns the error about a missing member. If the body has a similar member that is not in `known`, the error
    /// names this member as a probable misspelling.
    pub(crate) fn missing(&self, field: &'static str, known: &[&str]) -> Refusal {
        let mut unread = self.members.keys().filter(|name| !known.contains(&name.as_str()));
        match unread.find(|name| similar(&shorten(name), &[field]).is_some()) {
            Some(name) => Refusal::MisspeltField { field, given: shorten(name) },
            None => Refusal::MissingField { field },
        }
    }

    /// Refuses the request if one of these optional members is an empty string or array.
    pub(crate) fn refuse_empty(&self, names: &[&'static str]) -> Result<(), Refusal> {
        let is_given = |name: &&&str| self.members.get(**name).is_some_and(|it| !it.is_null());
        names.iter().filter(is_given).try_for_each(|name| self.require(&[*name]))
    }

    /// Reads a required string.
    pub(crate) fn text(&mut self, field: &'static str) -> Result<String, Refusal> {
        self.optional_text(field)?.ok_or_else(|| self.missing(field, &[]))
    }

    /// Reads an optional string. Returns `None` if the member is absent or null.
    pub(crate) fn optional_text(&mut self, field: &'static str) -> Result<Option<String>, Refusal> {
        self.optional(field, "must be a string")
    }

    /// Reads an optional string and parses it. Returns `None` if the member is absent or null.
    pub(crate) fn optional_parsed<T, F: std::fmt::Display>(
        &mut self,
        field: &'static str,
        parse: impl FnOnce(&str) -> Result<T, F>,
    ) -> Result<Option<T>, Refusal> {
        let text = self.optional_text(field)?;
        let parsed = text.map(|text| parse(&text)).transpose();
        parsed.map_err(|fault| invalid(field, fault.to_string()))
    }

    /// Reads a required array.
    pub(crate) fn array(&mut self, field: &'static str) -> Result<Vec<Value>, Refusal> {
        // Takes the values as they are: `optional` would build each value of a batch again.
        match self.take(field) {
            Some(Value::Array(values)) => Ok(values),
            _ => Err(invalid(field, "must be an array")),
        }
    }

    /// Reads a required array of strings.
    pub(crate) fn texts(&mut self, field: &'static str) -> Result<Vec<String>, Refusal> {
        self.optional_texts(field)?.ok_or_else(|| invalid(field, "must be an array of strings"))
    }

    /// Reads an optional array of strings. Returns `None` if the member is absent or null.
    pub(crate) fn optional_texts(
        &mut self,
        field: &'static str,
    ) -> Result<Option<Vec<String>>, Refusal> {
        self.optional(field, "must be an array of strings")
    }

    /// Reads an optional whole number within `range`. Returns `None` if the member is absent or null.
    pub(crate) fn optional_number(
        &mut self,
        field: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, Refusal> {
        let Some(value) = self.take(field) else { return Ok(None) };
        whole_number(&value).filter(|number| range.contains(number)).map(Some).ok_or_else(|| {
            let (min, max) = (range.start(), range.end());
            invalid(field, format!("must be a whole number from {min} to {max}"))
        })
    }

    /// Reads an optional boolean. Returns false if the member is absent or null.
    pub(crate) fn flag(&mut self, field: &'static str) -> Result<bool, Refusal> {
        Ok(self.optional_flag(field)?.unwrap_or(false))
    }

    /// Reads an optional boolean. Returns `None` if the member is absent or null.
    pub(crate) fn optional_flag(&mut self, field: &'static str) -> Result<Option<bool>, Refusal> {
        self.optional(field, "must be true or false")
    }

    /// Returns the member `api_key_id` without removing it. Returns `None` if the member is absent, null or empty.
    pub(crate) fn api_key_id(&self) -> Result<Option<&str>, Refusal> {
        match self.members.get(API_KEY_ID) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(&**text).filter(|text| !text.is_empty())),
            Some(_) => Err(invalid(API_KEY_ID, "must be a string")),
        }
    }

    /// Returns whether the body has the member, even if its value is null.
    pub(crate) fn contains(&self, field: &str) -> bool {
        self.members.contains_key(field)
    }

    /// Reads an optional member of the type `T`. Returns `None` if the member is absent or null. `problem` is the error
    /// for a value of another type.
    fn optional<T: DeserializeOwned>(
        &mut self,
        field: &'static str,
        problem: &str,
    ) -> Result<Option<T>, Refusal> {
        let value = self.take(field).map(serde_json::from_value).transpose();
        value.map_err(|_other_type| invalid(field, problem))
    }

    /// Removes a member. Returns `None` if the member is absent or null.
    fn take(&mut self, field: &'static str) -> Option<Value> {
        self.known.push(field);
        self.members.remove(field).filter(|value| !value.is_null())
    }

    /// Refuses the body if it has a member that was not read. Ignores `api_key_id`, which the caller checks if
    /// necessary.
    fn refuse_unknown(mut self) -> Result<(), Refusal> {
        if !self.known.contains(&API_KEY_ID) {
            self.known.push(API_KEY_ID);
        }
        let Some(name) = self.members.keys().find(|name| *name != API_KEY_ID) else {
            return Ok(());
        };
        Err(unknown(name, self.known))
    }
}

impl From<Map<String, Value>> for Fields {
    fn from(members: Map<String, Value>) -> Self {
        Self { members, known: Vec::new() }
    }
}

/// Returns the value of a number without a fraction, even if it is written as 1.0 or 1e0. Returns `None` for any other
/// value, and for a number outside `u32`.
pub(crate) fn whole_number(value: &Value) -> Option<u32> {
    value.as_f64().and_then(|number| number.to_string().parse().ok())
}

/// Returns the error for an invalid value. `problem` continues a sentence that starts with the field: "must be a
/// string".
pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Refusal {
    Refusal::InvalidField { field, problem: problem.into() }
}

/// Returns the error for a member that is not in `known`.
fn unknown(name: &str, known: Vec<&'static str>) -> Refusal {
    // Shortens the name first, because the time of a comparison grows with the product of the two lengths.
    let field = shorten(name);
    let nearest = similar(&field, &known);
    Refusal::UnknownField { field, nearest, known }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

const API_KEY_ID: &str = "api_key_id";
/// Converts an error of the JSON parser. Replaces messages about wrong types, because they would quote the body.
/// Removes line and column from the message, because the refusal has members for them.
fn invalid_json(body: &[u8], fault: JsonError) -> Refusal {
    let error = match fault {
        JsonError::Repeated(name) => return Refusal::RepeatedField { field: shorten(&name) },
        JsonError::TooManyValues => return Refusal::TooManyValues { limit: VALUES_MAX },
        JsonError::Invalid(error) => error,
    };
    if let Some(problem) = other_encoding(body) {
        return Refusal::MalformedJson { line: 1, column: 1, problem: problem.to_owned() };
    }
    if error.is_data() {
        return Refusal::InvalidJson;
    }
    let message = error.to_string();
    let problem = message.rsplit_once(" at line ").map_or(&*message, |(problem, _)| problem);
    let problem = problem.replace("EOF while parsing", "the body ends within");
    Refusal::MalformedJson { line: error.line(), column: error.column(), problem }
}

/// Recognizes by its first bytes a body that is compressed, has a byte order mark, or is in UTF-16 or UTF-32. Returns a
/// description for the error, and `None` for any other body.
fn other_encoding(body: &[u8]) -> Option<&'static str> {
    match body {
        [0xEF, 0xBB, 0xBF, ..] => Some("a byte order mark (leave it out)"),
        [0x1F, 0x8B, ..] => Some("gzip data (send the body uncompressed)"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some("zstd data (send the body uncompressed)"),
        [0x78, 0x01 | 0x5E | 0x9C | 0xDA, ..] => Some("zlib data (send the body uncompressed)"),
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, ..] | [_, 0, ..] => {
            Some("text in UTF-16 or UTF-32 (send the body in UTF-8)")
        }
        _ => None,
    }
}

fn shorten(name: &str) -> String {
    name.chars().take(NAME_LENGTH_MAX).collect()
}

/// Maximum length in characters of an unknown or repeated name in comparisons and errors. A longer name is truncated.
const NAME_LENGTH_MAX: usize = 64;

#[cfg(test)]
mod tests;
