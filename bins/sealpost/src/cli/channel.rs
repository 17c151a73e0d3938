//! Settings of the channel suite.

use std::time::Duration;

use clap::Args;
use sealpost_service::Settings;

use super::positive;

/// How long and how often one encapsulation is used.
#[derive(Args, Clone)]
#[command(next_help_heading = "Channels (--suite channel)")]
pub(crate) struct ChannelArgs {
    /// How long envelopes are sealed under one channel; an hour at the most
    #[arg(long = "channel-life", env = "SEALPOST_CHANNEL_LIFE", default_value = "10m",
          value_name = "SPAN", value_parser = life)]
    pub(crate) life: Duration,
    /// Envelopes that are sealed under one channel at the most
    #[arg(
        long = "channel-envelopes",
        env = "SEALPOST_CHANNEL_ENVELOPES",
        default_value_t = 10_000,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub(crate) envelopes: u32,
    /// Channels kept in memory at the most, of those that are sealed under and of those that were opened
    #[arg(long, env = "SEALPOST_CHANNELS_CACHED", default_value_t = 10_000, value_name = "N",
          value_parser = positive)]
    pub(crate) channels_cached: usize,
}

fn life(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(life) if !life.is_zero() && life <= Settings::CHANNEL_LIFE_MAX => Ok(life),
        _ => Err("give a span of an hour at the most, such as 10m".to_owned()),
    }
}
