//! Operators' commands about badges and what they rest on.

use clap::{Args, Subcommand, builder::NonEmptyStringValueParser};
use sealpost_domain::{ApiKeyId, BadgeId, CheckName, Score, Timestamp};

#[derive(Args)]
pub(crate) struct AssessArgs {
    /// The API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
    /// A decimal from 0 to 1, like the other metrics
    #[arg(long, value_name = "X")]
    pub(crate) clarity: Score,
    /// Agreement with itself
    #[arg(long, value_name = "X")]
    pub(crate) coherence: Score,
    /// How sure the assessor is
    #[arg(long, value_name = "X")]
    pub(crate) confidence: Score,
    /// Distance from what was declared
    #[arg(long, value_name = "X")]
    pub(crate) drift: Score,
    /// Who assessed it, where that is not you
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) assessor: Option<String>,
    /// Why, or how
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = reason)]
    pub(crate) reason: String,
}

#[derive(Args)]
pub(crate) struct AttestArgs {
    /// The API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
    /// What was checked, as the circuits file names it
    #[arg(long, value_name = "NAME", value_parser = CheckName::parse)]
    pub(crate) check: CheckName,
    /// Until when it counts: 2027-01-31T12:00:00Z, or a day in UTC; for ever when not given
    #[arg(long, value_name = "T")]
    pub(crate) valid_until: Option<Timestamp>,
    /// The check failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Who attests it, where that is not you
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) attester: Option<String>,
    /// Why, or how
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = reason)]
    pub(crate) reason: String,
}

#[derive(Subcommand)]
pub(crate) enum BadgeCommand {
    /// Takes a badge back, for good; verifiers find it in its status list
    Revoke {
        /// The badge (bdg_...)
        #[arg(value_name = "BDG")]
        badge_id: BadgeId,
        /// Why; kept in the audit trail, and not published
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        reason: String,
    },
}

fn name(text: &str) -> Result<String, String> {
    bounded(text, 1, 100)
}

fn reason(text: &str) -> Result<String, String> {
    bounded(text, 0, 1_000)
}

fn bounded(text: &str, least: usize, most: usize) -> Result<String, String> {
    if (least..=most).contains(&text.chars().count()) {
        Ok(text.to_owned())
    } else {
        Err(format!("give {least} to {most} characters"))
    }
}
