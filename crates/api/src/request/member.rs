//! The types of the members of request bodies, and how each type is read.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sealpost_domain::{
    AcceptPolicy, AccountId, ApiKeyId, BadgeId, CheckName, Description, GovernanceSubject, Handle,
    KeyStatus, Label, MessageType, PartnerId, ReceiptPolicy, Refusal, Score, ThreadId, Timestamp,
    WebhookId,
};
use sealpost_service::{ActivityCursor, ProofFormat, SentCursor};
use serde_json::Value;

use super::fields::{Fields, invalid};

/// A label to search for in stored keys. Stored labels can be older than the rules for new labels, so this type accepts
/// labels that the rules refuse.
pub(crate) struct LabelFilter(pub(crate) Label);

/// A handle to search for, with or without `@`.
pub(crate) struct HandleFilter(pub(crate) Handle);

/// A type whose values are members of request bodies.
pub(crate) trait Member: Sized {
    /// True if a body without the member is refused.
    const IS_REQUIRED: bool;

    /// Reads the member with the name `field`. Refuses an invalid value, and a missing member if it is required.
    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal>;
}

/// A whole number from 1 to `MAX`, and `DEFAULT` if the member is absent or null. The OpenAPI document shows the member
/// as optional only if its field has the attribute `#[schemars(default)]`.
pub(crate) struct NumberUpTo<const MAX: u32, const DEFAULT: u32>(pub(crate) u32);

impl<const MAX: u32, const DEFAULT: u32> Member for NumberUpTo<MAX, DEFAULT> {
    const IS_REQUIRED: bool = false;

    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
        Ok(fields.optional_number(field, 1..=MAX)?.map_or_else(Self::default, Self))
    }
}

impl<const MAX: u32, const DEFAULT: u32> Default for NumberUpTo<MAX, DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const MAX: u32, const DEFAULT: u32> JsonSchema for NumberUpTo<MAX, DEFAULT> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("NumberUpTo{MAX}").into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "null"],
            "format": "uint32",
            "minimum": 1,
            "maximum": MAX,
        })
    }
}

/// An absent or empty text becomes `None`.
impl Member for Option<Description> {
    const IS_REQUIRED: bool = false;

    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
        let text = fields.optional_text(field)?.unwrap_or_default();
        Description::parse_new(&text).map_err(|fault| invalid(field, fault.to_string()))
    }
}

/// Refuses a time range that ends before it starts.
pub(crate) fn refuse_until_before_since(
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<(), Refusal> {
    if since.zip(until).is_some_and(|(since, until)| until < since) {
        return Err(invalid("until", "must not be before since"));
    }
    Ok(())
}

/// Implements [`Member`] for types that are parsed from a string: for required members as `T`, and for optional members
/// as `Option<T>`.
macro_rules! parsed_members {
    ($($type:ty: $parse:expr;)+) => {$(
        impl Member for $type {
            const IS_REQUIRED: bool = true;

            fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
                let value = Option::<Self>::read(fields, field)?;
                value.ok_or_else(|| fields.missing(field, &[]))
            }
        }

        impl Member for Option<$type> {
            const IS_REQUIRED: bool = false;

            fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
                fields.optional_parsed(field, $parse)
            }
        }
    )+};
}

/// Implements [`Member`] for types that [`Fields`] reads. The value in front of `=>` is [`Member::IS_REQUIRED`].
macro_rules! plain_members {
    ($($type:ty: $is_required:literal => $read:expr;)+) => {$(
        impl Member for $type {
            const IS_REQUIRED: bool = $is_required;

            fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
                $read(fields, field)
            }
        }
    )+};
}

plain_members! {
    bool: false => Fields::flag;
    Option<bool>: false => Fields::optional_flag;
    Option<String>: false => Fields::optional_text;
    Option<u32>: false => any_number;
    String: true => Fields::text;
    Vec<String>: true => Fields::texts;
    Vec<Value>: true => Fields::array;
}

parsed_members! {
    AcceptPolicy: |name| AcceptPolicy::from_name(name)
        .ok_or_else(|| one_of(&AcceptPolicy::ALL.map(AcceptPolicy::as_str)));
    AccountId: str::parse;
    ActivityCursor: str::parse;
    ApiKeyId: str::parse;
    BadgeId: str::parse;
    CheckName: CheckName::parse;
    GovernanceSubject: governance_subject;
    Handle: Handle::parse;
    HandleFilter: |text| Handle::parse(text.strip_prefix('@').unwrap_or(text)).map(HandleFilter);
    KeyStatus: |name| KeyStatus::from_name(name).ok_or("must be a state of a key, such as active");
    Label: Label::parse_new;
    LabelFilter: |text| Label::parse(text).map(LabelFilter);
    MessageType: MessageType::parse;
    PartnerId: PartnerId::parse;
    ProofFormat: |name| ProofFormat::from_name(name).ok_or("must be tlog or cose");
    ReceiptPolicy: |name| ReceiptPolicy::from_name(name)
        .ok_or_else(|| one_of(&ReceiptPolicy::ALL.map(ReceiptPolicy::as_str)));
    Score: str::parse;
    SentCursor: str::parse;
    ThreadId: ThreadId::parse;
    Timestamp: str::parse;
    WebhookId: str::parse;
}

fn any_number(fields: &mut Fields, field: &'static str) -> Result<Option<u32>, Refusal> {
    fields.optional_number(field, 0..=u32::MAX)
}

fn governance_subject(text: &str) -> Result<GovernanceSubject, &'static str> {
    let key = text.parse::<ApiKeyId>().map(GovernanceSubject::Key);
    key.or_else(|_no_key| text.parse::<AccountId>().map(GovernanceSubject::Account))
        .or(Err("must be an API key (ak_…) or an account (acct_…)"))
}

fn one_of(names: &[&str]) -> String {
    format!("must be one of: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_filter_accepts_a_label_that_is_older_than_the_rules() {
        let fields = || Fields::parse(br#"{"label":"a\u202e"}"#).unwrap();
        let new = Option::<Label>::read(&mut fields(), "label");
        assert_eq!(new.unwrap_err().field(), Some("label"));
        assert!(Option::<LabelFilter>::read(&mut fields(), "label").is_ok_and(|it| it.is_some()));
    }

    #[test]
    fn the_schema_of_a_number_has_the_bounds_of_its_type() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only the schema is read")]
        struct ByAttributes {
            #[schemars(with = "Option<u32>", range(min = 1, max = 100))]
            limit: u32,
        }
        #[derive(JsonSchema)]
        #[schemars(rename = "ByAttributes")]
        #[expect(dead_code, reason = "only the schema is read")]
        struct ByType {
            #[schemars(default)]
            limit: NumberUpTo<100, 20>,
        }
        let (by_type, by_attributes) =
            (schemars::schema_for!(ByType), schemars::schema_for!(ByAttributes));
        assert_eq!(
            serde_json::to_string(&by_type).unwrap(),
            serde_json::to_string(&by_attributes).unwrap()
        );
    }
}
