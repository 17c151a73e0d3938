//! The fields of a JSON object, read strictly: what is missing is said before what is wrong.

use std::ops::RangeInclusive;

use sealpost_domain::Refusal;
use serde_json::{Map, Value};

/// The fields of a body. Unknown ones are ignored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Reads a body; an empty one has no fields.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        if body.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_slice(body).map(Self).map_err(|_not_an_object| Refusal::InvalidJson)
    }

    /// Refuses the first of these fields that is absent, null, or an empty string or array.
    pub(crate) fn require(&self, names: &[&'static str]) -> Result<(), Refusal> {
        let missing = names.iter().find(|name| self.0.get(**name).is_none_or(is_empty));
        missing.map_or(Ok(()), |field| Err(Refusal::MissingField { field }))
    }

    /// The text of a field that was required.
    pub(crate) fn text(&mut self, field: &'static str) -> Result<String, Refusal> {
        self.optional_text(field)?.ok_or(Refusal::MissingField { field })
    }

    /// The text of a field, where it is there and not null.
    pub(crate) fn optional_text(&mut self, field: &'static str) -> Result<Option<String>, Refusal> {
        match self.0.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(invalid(field, "must be a string")),
        }
    }

    /// The texts of a field that was required.
    pub(crate) fn texts(&mut self, field: &'static str) -> Result<Vec<String>, Refusal> {
        let wrong = || invalid(field, "must be an array of strings");
        let Some(Value::Array(values)) = self.0.remove(field) else { return Err(wrong()) };
        values
            .into_iter()
            .map(|value| match value {
                Value::String(text) => Ok(text),
                _ => Err(wrong()),
            })
            .collect()
    }

    /// The whole number of a field, where it is there and not null.
    pub(crate) fn optional_number(
        &mut self,
        field: &'static str,
        within: RangeInclusive<u32>,
    ) -> Result<Option<u32>, Refusal> {
        let Some(value) = self.0.remove(field).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.filter(|number| within.contains(number)).map(Some).ok_or_else(|| {
            let (least, most) = (within.start(), within.end());
            invalid(field, format!("must be a whole number from {least} to {most}"))
        })
    }

    /// Whether a field is true; absent and null are false.
    pub(crate) fn flag(&mut self, field: &'static str) -> Result<bool, Refusal> {
        match self.0.remove(field) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(invalid(field, "must be true or false")),
        }
    }
}

/// An unacceptable value.
pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Refusal {
    Refusal::InvalidField { field, problem: problem.into() }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_a_body() {
        for body in ["[]", "1", "\"x\"", "null", "{", "{\"a\":\"\\ud800\"}", "\u{feff}{}"] {
            assert_eq!(Fields::parse(body.as_bytes()).unwrap_err(), Refusal::InvalidJson, "{body}");
        }
        assert!(Fields::parse(b"").is_ok());
        assert!(Fields::parse(b"\xff").is_err());
        assert!(Fields::parse("[".repeat(10_000).as_bytes()).is_err());
    }

    #[test]
    fn only_a_whole_number_within_its_bounds_is_one() {
        let read = |text: &str| {
            Fields::parse(format!("{{\"limit\":{text}}}").as_bytes())
                .unwrap()
                .optional_number("limit", 1..=100)
        };
        assert_eq!((read("1"), read("100"), read("null")), (Ok(Some(1)), Ok(Some(100)), Ok(None)));
        for text in ["0", "101", "-1", "1.0", "\"1\"", "true", "[1]", "4294967297"] {
            let problem = "must be a whole number from 1 to 100";
            assert_eq!(read(text), Err(invalid("limit", problem)), "{text}");
        }
    }

    #[test]
    fn the_first_missing_field_is_named_before_a_wrong_one() {
        let fields = Fields::parse(br#"{"to":7,"message":""}"#).unwrap();
        assert_eq!(
            fields.require(&["to", "message"]),
            Err(Refusal::MissingField { field: "message" })
        );
        let none = Fields::parse(br#"{"to":null,"message":[]}"#).unwrap();
        assert_eq!(none.require(&["to", "message"]), Err(Refusal::MissingField { field: "to" }));
    }
}
