//! Parses JSON objects whose member names are unique (RFC 7493, section 2.3). Parsers disagree which of two members
//! with the same name counts, so the service refuses such an object. Also limits the number of values, because a parsed
//! value takes far more time and memory than its text.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// An error in a JSON text.
pub(super) enum JsonError {
    /// An object has two members with this name.
    Repeated(String),
    /// The text has more than [`VALUES_MAX`] values.
    TooManyValues,
    Invalid(serde_json::Error),
}

/// Parses an object. At each depth, refuses two members with the same name, compared after their escapes are resolved.
/// Stops after [`VALUES_MAX`] values: the members of objects and the elements of arrays, at each depth.
pub(super) fn parse_object(text: &[u8]) -> Result<Map<String, Value>, JsonError> {
    let state = ParseState::default();
    let mut parser = serde_json::Deserializer::from_slice(text);
    let parsed = parser.deserialize_map(ObjectVisitor(&state));
    let parsed = parsed.and_then(|members| parser.end().map(|()| members));
    parsed.map_err(|error| match state.repeated.take() {
        Some(name) => JsonError::Repeated(name),
        None if state.values.get() > VALUES_MAX => JsonError::TooManyValues,
        None => JsonError::Invalid(error),
    })
}

/// The state of a parse, which all visitors share.
#[derive(Default)]
struct ParseState {
    /// The name of a repeated member, for the error.
    repeated: Cell<Option<String>>,
    /// The number of values so far.
    values: Cell<usize>,
}

/// Reads an object.
struct ObjectVisitor<'a>(&'a ParseState);

/// Reads any value.
#[derive(Clone, Copy)]
struct ValueVisitor<'a>(&'a ParseState);

impl<'de> Visitor<'de> for ObjectVisitor<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if members.contains_key(&name) {
                self.0.repeated.set(Some(name));
                return Err(A::Error::custom("a repeated member"));
            }
            members.insert(name, access.next_value_seed(ValueVisitor(self.0))?);
        }
        Ok(members)
    }
}

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let values = self.0.values.get().saturating_add(1);
        self.0.values.set(values);
        if values > VALUES_MAX {
            return Err(D::Error::custom("too many values"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = access.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        ObjectVisitor(self.0).visit_map(access).map(Value::Object)
    }
}

/// Maximum number of values in a body. The largest requests have far fewer: 100 messages have at most 600 values, and a
/// change of a policy has at most 100 names in each of its four lists.
pub(super) const VALUES_MAX: usize = 20_000;
