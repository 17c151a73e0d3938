use sealpost_domain::Code;

use super::*;

#[test]
fn only_an_object_is_a_body() {
    for body in ["[]", "1", "\"x\"", "null", &"[".repeat(10_000)] {
        assert_eq!(Fields::parse(body.as_bytes()).unwrap_err(), Refusal::InvalidJson, "{body}");
    }
    assert!(Fields::parse(b"").is_ok());
}

#[test]
fn a_syntax_error_is_named_with_its_place() {
    let bodies: [(&[u8], &str); 7] = [
        (b"{", "the body ends within an object at line 1, column 1"),
        (b"{\n  \"to\" \"bob\"\n}", "expected `:` at line 2, column 8"),
        (b"{\"to\":\"bob\",}", "trailing comma at line 1, column 13"),
        (b"{\"to\":secret}", "expected value at line 1, column 7"),
        (b"{}}", "trailing characters at line 1, column 3"),
        (b"\xff", "expected value at line 1, column 1"),
        ("\u{feff}{}".as_bytes(), "a byte order mark (leave it out) at line 1, column 1"),
    ];
    for (body, problem) in bodies {
        let refusal = Fields::parse(body).unwrap_err();
        assert_eq!(refusal.code(), Code::InvalidJson);
        let expected = format!("the body is not valid JSON: {problem}; send a JSON object");
        assert_eq!(refusal.to_string(), expected);
    }
}

#[test]
fn a_body_in_another_encoding_is_named() {
    let bodies: [(&[u8], &str); 7] = [
        (b"\xff\xfe{\0}\0", "UTF-16"),
        (b"\xfe\xff\0{\0}", "UTF-16"),
        (b"{\0}\0", "UTF-16"),
        (b"\0{\0}", "UTF-16"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"\x28\xb5\x2f\xfd\0", "zstd"),
        (b"\x78\x9c\xab\0", "zlib"),
    ];
    for (body, named) in bodies {
        let refusal = Fields::parse(body).unwrap_err();
        assert_eq!(refusal.code(), Code::InvalidJson);
        assert!(refusal.to_string().contains(named), "{refusal}");
    }
}

#[test]
fn two_equal_members_are_refused_at_each_depth() {
    for (body, name) in [
        (r#"{"to":"a","to":"b"}"#, "to"),
        (r#"{"to":"a","to":"a"}"#, "to"),
        (r#"{"to":null,"to":null}"#, "to"),
        (r#"{"to":1,"\u0074o":1}"#, "to"),
        (r#"{"a":{"b":[{"c":1,"d":2,"c":[]}]}}"#, "c"),
        (r#"{"a":[[{"":1,"":2}]]}"#, ""),
    ] {
        let refusal = Fields::parse(body.as_bytes()).unwrap_err();
        assert_eq!(refusal, Refusal::RepeatedField { field: name.to_owned() }, "{body}");
    }
    let different = r#"{"a":{"a":1,"A":2},"b":[{"a":1},{"a":1.5}],"c":-1,"d":true,"e":"\u0061"}"#;
    let members = Fields::parse(different.as_bytes()).unwrap().members;
    assert_eq!(Value::Object(members), serde_json::from_str::<Value>(different).unwrap());
}

#[test]
fn a_body_has_a_bounded_number_of_values_over_all_depths() {
    // Each element has four values: an object in the array, its member, and the two elements of this member.
    let body = |elements: usize, more: usize| {
        let objects = vec![r#"{"b":[0,"x"]}"#; elements].join(",");
        let numbers = vec!["1"; more].join(",");
        format!(r#"{{"a":[{objects}],"n":[{numbers}]}}"#)
    };
    let limit = VALUES_MAX;
    let elements = (limit - 2) / 4;
    let rest = limit - 2 - 4 * elements;
    assert!(Fields::parse(body(elements, rest).as_bytes()).is_ok());
    let refusal = Fields::parse(body(elements, rest + 1).as_bytes()).unwrap_err();
    assert_eq!(refusal, Refusal::TooManyValues { limit });
    assert_eq!((refusal.code(), refusal.field()), (Code::InvalidJson, None));
    // The parser stops at the limit, so it does not notice that the text is incomplete.
    let endless = format!(r#"{{"n":[{}"#, "1,".repeat(limit));
    assert_eq!(Fields::parse(endless.as_bytes()).unwrap_err(), Refusal::TooManyValues { limit });
}

#[test]
fn only_a_whole_number_within_its_range_is_accepted() {
    let read = |text: &str| {
        Fields::parse(format!("{{\"limit\":{text}}}").as_bytes())
            .unwrap()
            .optional_number("limit", 1..=100)
    };
    assert_eq!((read("1"), read("100"), read("null")), (Ok(Some(1)), Ok(Some(100)), Ok(None)));
    // JSON Schema (2020-12) counts a number with a zero fraction as an integer.
    assert_eq!((read("1.0"), read("1e2")), (Ok(Some(1)), Ok(Some(100))));
    for text in ["0", "101", "-1", "1.5", "100.1", "\"1\"", "true", "[1]", "4294967297"] {
        let problem = "must be a whole number from 1 to 100";
        assert_eq!(read(text), Err(invalid("limit", problem)), "{text}");
    }
}

#[test]
fn the_first_missing_field_is_named_before_an_invalid_one() {
    let fields = Fields::parse(br#"{"to":7,"message":""}"#).unwrap();
    assert_eq!(fields.require(&["to", "message"]), Err(Refusal::MissingField { field: "message" }));
    let none = Fields::parse(br#"{"to":null,"message":[]}"#).unwrap();
    assert_eq!(none.require(&["to", "message"]), Err(Refusal::MissingField { field: "to" }));
}

struct Example;

impl RequestBody for Example {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["webhook_id"])?;
        fields.text("webhook_id")?;
        fields.flag("dry_run")?;
        Ok(Self)
    }
}

fn read_example(body: &str) -> Result<(), Refusal> {
    Fields::parse(body.as_bytes())?.into_body(|_| Ok(())).map(|Example| ())
}

/// Returns the text of the refusal, which is about an unknown member.
fn unknown(read: Result<(), Refusal>) -> String {
    let refusal = read.unwrap_err();
    assert_eq!(refusal.code(), Code::InvalidField);
    refusal.to_string()
}

#[test]
fn an_unknown_member_is_refused_with_the_nearest_known_member() {
    let refused = read_example(r#"{"webhook_id":"x","dryrun":true}"#);
    assert_eq!(unknown(refused), "dryrun is an unknown field; did you mean dry_run?");
    let null = read_example(r#"{"webhook_id":"x","Webhook-Id":null}"#);
    assert_eq!(unknown(null), "Webhook-Id is an unknown field; did you mean webhook_id?");
    let none = Fields::parse(br#"{"apikey":1}"#).unwrap().into_body(|_| Ok(())).map(|NoMembers| ());
    assert_eq!(unknown(none), "apikey is an unknown field; did you mean api_key_id?");
}

#[test]
fn an_unknown_member_without_a_similar_one_is_refused_with_all_known_members() {
    let refused = read_example(r#"{"webhook_id":"x","secret":true}"#);
    assert_eq!(
        unknown(refused),
        "secret is an unknown field; this request takes webhook_id, dry_run, api_key_id"
    );
}

#[test]
fn a_misspelt_required_member_is_named_beside_the_missing_one() {
    for name in ["webhookid", "webhook_ids", "Webhook-ID", "webhook"] {
        let refusal = read_example(&format!(r#"{{"dry_run":true,"{name}":"x"}}"#)).unwrap_err();
        let given = name.to_owned();
        assert_eq!(refusal, Refusal::MisspeltField { field: "webhook_id", given });
        assert_eq!((refusal.code(), refusal.field()), (Code::MissingField, Some("webhook_id")));
    }
    let other = read_example(r#"{"hook":"x"}"#).unwrap_err();
    assert_eq!(other, Refusal::MissingField { field: "webhook_id" });
}

#[test]
fn missing_and_invalid_members_are_refused_before_unknown_ones() {
    let missing = read_example(r#"{"dryrun":true}"#);
    assert_eq!(missing, Err(Refusal::MissingField { field: "webhook_id" }));
    let invalid_flag = read_example(r#"{"webhook_id":"x","dryrun":true,"dry_run":1}"#);
    assert_eq!(invalid_flag, Err(invalid("dry_run", "must be true or false")));
}

#[test]
fn api_key_id_is_a_known_member_of_each_body() {
    assert_eq!(read_example(r#"{"webhook_id":"x","api_key_id":7}"#), Ok(()));
}

#[test]
fn a_long_unknown_name_is_shortened() {
    let refused = read_example(&format!(r#"{{"webhook_id":"x","{}":1}}"#, "ü".repeat(100_000)));
    assert_eq!(refused.unwrap_err().field(), Some(&*"ü".repeat(64)));
}

request_body! {
    struct Range {
        r#type: String,
        first: Option<u32>,
        last: Option<u32> => if last < first { Err(invalid("last", "is too low")) } else { Ok(()) },
        dry_run: bool,
    }
}

#[test]
fn a_rule_is_checked_before_the_next_member_is_read() {
    let read = |body: &str| -> Result<_, Refusal> {
        let Range { r#type, first, last, dry_run } =
            Fields::parse(body.as_bytes())?.into_body(|_| Ok(()))?;
        Ok((r#type, first, last, dry_run))
    };
    let range = read(r#"{"type":"a","first":1,"last":2}"#);
    assert_eq!(range, Ok(("a".to_owned(), Some(1), Some(2), false)));
    let reversed = read(r#"{"type":"a","first":2,"last":1,"dry_run":7,"more":1}"#);
    assert_eq!(reversed, Err(invalid("last", "is too low")));
    let invalid_flag = read(r#"{"type":"a","first":1,"last":2,"dry_run":7,"more":1}"#);
    assert_eq!(invalid_flag, Err(invalid("dry_run", "must be true or false")));
    let missing = read(r#"{"first":2,"last":1}"#);
    assert_eq!(missing, Err(Refusal::MissingField { field: "type" }));
}
