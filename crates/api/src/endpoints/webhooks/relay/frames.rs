//! The text frames on the WebSocket of a relay, a webhook whose receiver connects to the service. The service sends
//! deliveries, and the receiver sends answers to them.

use sealpost_domain::ports::{RelayAnswer, RelayFrame};
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use crate::request::whole_number;

/// Renders a delivery as the JSON text of a frame.
pub(super) fn render(frame: RelayFrame) -> String {
    let RelayFrame { delivery, headers, body } = frame;
    let headers: Map<_, _> =
        headers.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    json!({ "delivery": delivery.to_string(), "headers": headers, "body": body }).to_string()
}

/// The JSON object with which a receiver answers a delivery. Other members are ignored.
#[derive(Deserialize)]
struct AnswerFrame {
    delivery: String,
    #[serde(default)]
    status: Value,
    #[serde(default)]
    retry_after: Value,
    #[serde(default)]
    body: Value,
}

/// Parses an answer. Returns `None` if the frame is not an object with the string `delivery`. A string that is no
/// number becomes 0, a number that no delivery has. A status outside 100 to 599 becomes `None`.
pub(super) fn parse(text: &str) -> Option<RelayAnswer> {
    // The derived parser would take the elements of an array for the members in their order.
    let object = text.trim_start().starts_with('{').then_some(text)?;
    let AnswerFrame { delivery, status, retry_after, body } = serde_json::from_str(object).ok()?;
    let status = whole_number(&status).and_then(|status| u16::try_from(status).ok());
    let retry_after = match retry_after {
        Value::String(text) => Some(text),
        Value::Number(seconds) => Some(whole_seconds(&seconds)),
        _ => None,
    };
    Some(RelayAnswer {
        delivery: delivery.parse().unwrap_or(0),
        status: status.filter(|status| (100..600).contains(status)),
        retry_after,
        body: body.as_str().map(str::to_owned),
    })
}

/// Formats the delay that an answer requests as a value of `Retry-After`, which has only digits. Rounds fractions of
/// seconds up.
fn whole_seconds(seconds: &Number) -> String {
    match seconds.as_f64().filter(|_| seconds.is_f64()) {
        Some(fractional) => format!("{:.0}", fractional.ceil()),
        None => seconds.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(delivery: u64, status: Option<u16>) -> RelayAnswer {
        RelayAnswer { delivery, status, retry_after: None, body: None }
    }

    #[test]
    fn an_answer_has_a_delivery_and_may_have_a_status() {
        for (text, parsed) in [
            (r#"{"delivery":"7","status":204}"#, Some(answer(7, Some(204)))),
            (r#"{"delivery":"7","status":204,"more":1}"#, Some(answer(7, Some(204)))),
            (" \n{\"delivery\":\"7\",\"status\":204}", Some(answer(7, Some(204)))),
            (r#"{"delivery":"7","status":204.0}"#, Some(answer(7, Some(204)))),
            (r#"{"delivery":"7","status":2.04e2}"#, Some(answer(7, Some(204)))),
            (r#"{"delivery":"7"}"#, Some(answer(7, None))),
            (r#"{"delivery":"7","status":99}"#, Some(answer(7, None))),
            (r#"{"delivery":"7","status":600}"#, Some(answer(7, None))),
            (r#"{"delivery":"7","status":"204"}"#, Some(answer(7, None))),
            (r#"{"delivery":"7","status":204.5}"#, Some(answer(7, None))),
            (r#"{"delivery":"x","status":204}"#, Some(answer(0, Some(204)))),
            (r#"{"delivery":7,"status":204}"#, None),
            (r#"{"status":204}"#, None),
            (r#"["7",204]"#, None),
            (r#"["7",204,null,null]"#, None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(parse(text), parsed, "{text}");
        }
        let full =
            parse(r#"{"delivery":"7","status":503,"retry_after":9,"body":"later"}"#).unwrap();
        let (retry_after, body) = (Some("9".to_owned()), Some("later".to_owned()));
        assert_eq!(full, RelayAnswer { delivery: 7, status: Some(503), retry_after, body });
    }

    #[test]
    fn a_requested_delay_has_whole_seconds_rounded_up() {
        for (seconds, expected) in [
            ("0", "0"),
            ("0.001", "1"),
            ("1.5", "2"),
            ("7.0", "7"),
            ("1e2", "100"),
            ("18446744073709551615", "18446744073709551615"),
            ("1e20", "100000000000000000000"),
        ] {
            let frame = format!(r#"{{"delivery":"7","status":503,"retry_after":{seconds}}}"#);
            assert_eq!(parse(&frame).unwrap().retry_after.as_deref(), Some(expected), "{seconds}");
        }
    }

    #[test]
    fn a_delivery_has_the_headers_and_the_exact_body() {
        let headers = vec![("webhook-id".to_owned(), "env_1".to_owned())];
        let frame = RelayFrame { delivery: 3, headers, body: "{\"a\":\"ä\"}".to_owned() };
        let rendered: Value = serde_json::from_str(&render(frame)).unwrap();
        let expected =
            json!({"delivery": "3", "headers": {"webhook-id": "env_1"}, "body": "{\"a\":\"ä\"}"});
        assert_eq!(rendered, expected);
    }
}
