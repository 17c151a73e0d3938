//! The body of `POST /v1/webhooks`: an action with its members.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use sealpost_domain::{Refusal, TimeFault, Timestamp};
use sealpost_service::{Cursor, Deliveries, DeliveryState, Manage, Recover};

use crate::request::{Fields, RequestBody, invalid};

/// An action on the webhooks of the API key.
#[derive(JsonSchema)]
#[schemars(tag = "action", rename_all = "snake_case")]
pub(super) enum Action {
    /// Deletes a webhook.
    Delete {
        /// The webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
    },
    /// Shows pending deliveries and attempts of a webhook.
    Deliveries {
        /// The webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
        /// Shows only entries in this state.
        #[schemars(with = "Option<String>", extend("enum" = ["pending", "succeeded", "failed", "exhausted", null]))]
        state: Option<DeliveryState>,
        /// The maximum number of entries.
        #[schemars(with = "Option<u32>", range(min = 1, max = 100), extend("default" = 20))]
        limit: u32,
        /// The `next_cursor` of the previous page.
        #[schemars(with = "Option<String>")]
        cursor: Option<Cursor>,
    },
    /// Enables a disabled webhook and sends its pending deliveries.
    Enable {
        /// The webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
    },
    /// Shows all webhooks.
    List,
    /// Sends all events again that failed since a time.
    Recover {
        /// The webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
        /// The start of the time range.
        since: Timestamp,
        /// The end of the time range; by default the present.
        until: Option<Timestamp>,
        /// Only counts the events.
        #[schemars(with = "Option<bool>")]
        dry_run: bool,
    },
    /// Sends one event now, also if it was delivered before.
    Redeliver {
        /// The webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
        /// The id of the event: the envelope's id, or `evt_…` for other events.
        #[schemars(length(min = 1))]
        envelope_id: String,
    },
    /// Creates a new secret. For some time events carry the signatures of both secrets.
    RotateSecret {
        /// The webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
    },
}

impl RequestBody for Action {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["action"])?;
        match fields.text("action")?.as_str() {
            "delete" => Ok(Self::Delete { webhook_id: webhook_id(fields)? }),
            "deliveries" => deliveries(fields),
            "enable" => Ok(Self::Enable { webhook_id: webhook_id(fields)? }),
            "list" => Ok(Self::List),
            "recover" => recover(fields),
            "redeliver" => redeliver(fields),
            "rotate_secret" => Ok(Self::RotateSecret { webhook_id: webhook_id(fields)? }),
            _ => Err(invalid("action", ACTIONS)),
        }
    }
}

impl Action {
    /// Returns the input of the use case.
    pub(super) fn into_input(self) -> Manage {
        match self {
            Self::Delete { webhook_id } => Manage::Delete { webhook_id },
            Self::Deliveries { webhook_id, state, limit, cursor } => {
                Manage::Deliveries(Deliveries { webhook_id, state, limit, cursor })
            }
            Self::Enable { webhook_id } => Manage::Enable { webhook_id },
            Self::List => Manage::List,
            Self::Recover { webhook_id, since, until, dry_run } => {
                Manage::Recover(Recover { webhook_id, since, until, dry_run })
            }
            Self::Redeliver { webhook_id, envelope_id } => {
                Manage::Redeliver { webhook_id, envelope_id }
            }
            Self::RotateSecret { webhook_id } => Manage::RotateSecret { webhook_id },
        }
    }
}

fn webhook_id(fields: &mut Fields) -> Result<String, Refusal> {
    fields.require(&["webhook_id"])?;
    fields.text("webhook_id")
}

fn deliveries(fields: &mut Fields) -> Result<Action, Refusal> {
    let webhook_id = webhook_id(fields)?;
    let limit = fields.optional_number("limit", LIMITS)?.unwrap_or(LIMIT_DEFAULT);
    let cursor = fields.optional_text("cursor")?;
    let cursor = cursor.map(|text| text.parse::<Cursor>()).transpose();
    let cursor = cursor.map_err(|fault| invalid("cursor", fault.to_string()))?;
    let state = match fields.optional_text("state")? {
        None => None,
        Some(name) => {
            Some(DeliveryState::from_name(&name).ok_or_else(|| invalid("state", STATES))?)
        }
    };
    Ok(Action::Deliveries { webhook_id, state, limit, cursor })
}

fn recover(fields: &mut Fields) -> Result<Action, Refusal> {
    fields.require(&["webhook_id", "since"])?;
    let webhook_id = fields.text("webhook_id")?;
    let since = instant("since", &fields.text("since")?)?;
    let until = fields.optional_text("until")?;
    let until = until.map(|text| instant("until", &text)).transpose()?;
    if until.is_some_and(|until| until < since) {
        return Err(invalid("until", "must not be before since"));
    }
    Ok(Action::Recover { webhook_id, since, until, dry_run: fields.flag("dry_run")? })
}

fn redeliver(fields: &mut Fields) -> Result<Action, Refusal> {
    fields.require(&["webhook_id", "envelope_id"])?;
    let webhook_id = fields.text("webhook_id")?;
    Ok(Action::Redeliver { webhook_id, envelope_id: fields.text("envelope_id")? })
}

fn instant(field: &'static str, text: &str) -> Result<Timestamp, Refusal> {
    text.parse().map_err(|fault: TimeFault| invalid(field, fault.to_string()))
}

const ACTIONS: &str =
    "must be list, delete, deliveries, enable, recover, redeliver or rotate_secret";
const STATES: &str = "must be pending, succeeded, failed or exhausted";
const LIMITS: RangeInclusive<u32> = 1..=100;
const LIMIT_DEFAULT: u32 = 20;
