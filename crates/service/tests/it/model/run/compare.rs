//! Converts responses to the form of the model, and compares them.

use std::fmt::Debug;

use sealpost_domain::Refusal;
use sealpost_service::{Error, Limited};
use serde::Serialize;
use serde_json::Value;

use super::{
    super::{
        op::Body,
        truth::{Refused, Said},
    },
    Checked,
};

pub(super) fn same<T: Debug + PartialEq>(what: &str, expected: &T, got: &T) -> Checked {
    if expected == got {
        return Ok(());
    }
    Err(format!("{what}\n  expected {expected:?}\n  got      {got:?}"))
}

/// Converts a result to JSON, or to the parts of a refusal that callers see.
pub(super) fn shown<T: Serialize>(result: Result<T, Error>) -> Result<Value, Refused> {
    match result {
        Ok(answer) => Ok(serde_json::to_value(answer).unwrap()),
        Err(error) => match error.refusal() {
            None => Err(Refused::new("INTERNAL_ERROR")),
            Some(refusal) => Err(Refused {
                code: refusal.code().as_str(),
                field: refusal.field().map(|name| &*name.to_owned().leak()),
                retry_after_s: refusal.retry_after_s(),
            }),
        },
    }
}

/// Converts a result and the rate limits to the form that callers see.
pub(super) fn said<T: Serialize>(limited: Limited<T>) -> Said<Value> {
    let limits = limited.limits.map(|limits| serde_json::to_value(limits.report()).unwrap());
    Said { result: shown(limited.result), limits }
}

/// Removes unpredictable values from a response. Each path in `fresh` lists the member names that lead to one value.
pub(super) fn without(answer: Result<Value, Refused>, fresh: &[&[&str]]) -> Result<Value, Refused> {
    let mut answer = answer?;
    for path in fresh {
        let Some((name, parents)) = path.split_last() else { continue };
        let parent = parents.iter().fold(&mut answer, |value, parent| &mut value[*parent]);
        parent.as_object_mut().unwrap().remove(*name);
    }
    Ok(answer)
}

/// Returns the text in the member `field` of a response. Fails if the text does not begin with `prefix`.
pub(super) fn text(answer: &Value, field: &str, prefix: &str) -> Result<String, String> {
    match answer[field].as_str() {
        Some(text) if text.starts_with(prefix) => Ok(text.to_owned()),
        _ => Err(format!("{field} should begin with {prefix}: {}", answer[field])),
    }
}

/// Checks that the usage after an admitted request is within the limits per minute and per day.
pub(super) fn check_within<T>(said: &Said<T>) -> Checked {
    let limited = said.result.as_ref().err().is_some_and(|it| it.retry_after_s.is_some());
    let Some(limits) = said.limits.as_ref().filter(|_| !limited) else { return Ok(()) };
    let number = |window: &str, field: &str| limits[window][field].as_u64().unwrap();
    let over = ["minute", "day"].into_iter().find(|it| number(it, "used") > number(it, "limit"));
    over.map_or(Ok(()), |window| Err(format!("more than the {window} allows: {limits}")))
}

/// Returns the refusal of a faulty body: as the service returns it, and as the model does. Returns `None` for a sound
/// body.
pub(super) fn fault(body: Body) -> Option<(Refusal, Refused)> {
    match body {
        Body::Faulty => Some((Refusal::InvalidJson, Refused::new("INVALID_JSON"))),
        Body::Sound => None,
    }
}

/// Sorts an array without an order in the API contract.
pub(super) fn sorted(mut array: Value) -> Value {
    if let Some(array) = array.as_array_mut() {
        array.sort_by_key(Value::to_string);
    }
    array
}
