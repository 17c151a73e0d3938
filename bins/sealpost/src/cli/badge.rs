//! The arguments of the operator commands for badges, and for their evidence: assessments and attestations.

use clap::{Args, Subcommand};
use sealpost_domain::{ApiKeyId, BadgeId, CheckName, Score, Timestamp};

#[derive(Args)]
pub(crate) struct AssessArgs {
    /// API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
    /// Score for clarity, from 0 to 1
    #[arg(long, value_name = "X")]
    pub(crate) clarity: Score,
    /// Score for coherence, from 0 to 1
    #[arg(long, value_name = "X")]
    pub(crate) coherence: Score,
    /// Confidence of the assessor, from 0 to 1
    #[arg(long, value_name = "X")]
    pub(crate) confidence: Score,
    /// Drift, the distance from the declared behaviour, from 0 to 1
    #[arg(long, value_name = "X")]
    pub(crate) drift: Score,
    /// Name of the assessor; if omitted, your user name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) assessor: Option<String>,
    /// Reason for the scores, or the method that produced them
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = reason)]
    pub(crate) reason: String,
}

#[derive(Args)]
pub(crate) struct AttestArgs {
    /// API key
    #[arg(value_name = "AK")]
    pub(crate) api_key_id: ApiKeyId,
    /// Name of the check, as in the circuits file, which lists the compliance checks of each jurisdiction
    #[arg(long, value_name = "NAME", value_parser = CheckName::parse)]
    pub(crate) check: CheckName,
    /// Time at which the attestation expires, such as 2027-01-31T12:00:00Z or a day in UTC; if omitted, the attestation
    /// has no expiry time of its own
    #[arg(long, value_name = "T")]
    pub(crate) valid_until: Option<Timestamp>,
    /// Record that the key failed the check
    #[arg(long)]
    pub(crate) failed: bool,
    /// Name of the attester; if omitted, your user name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) attester: Option<String>,
    /// Reason for the attestation, or the method of the check
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = reason)]
    pub(crate) reason: String,
}

#[derive(Subcommand)]
pub(crate) enum BadgeCommand {
    /// Revoke a badge permanently; verifiers see the revocation in its status list
    Revoke {
        /// Badge to revoke (bdg_...)
        #[arg(value_name = "BDG")]
        badge_id: BadgeId,
        /// Reason for the audit trail; not published
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: String,
    },
}

fn name(text: &str) -> Result<String, String> {
    bounded(text, 1, 100)
}

fn reason(text: &str) -> Result<String, String> {
    bounded(text, 0, 1_000)
}

/// Parses a required reason: 1 to 1,000 characters, without the white space around them.
pub(super) fn given_reason(text: &str) -> Result<String, String> {
    bounded(text.trim(), 1, 1_000)
}

/// Accepts a text of `least` to `most` characters.
pub(super) fn bounded(text: &str, least: usize, most: usize) -> Result<String, String> {
    if (least..=most).contains(&text.chars().count()) {
        Ok(text.to_owned())
    } else {
        Err(format!("give {least} to {most} characters"))
    }
}
