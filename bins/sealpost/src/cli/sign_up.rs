//! The arguments of the operator commands for sign-up: invites, and handles.

use clap::{Args, Subcommand};
use sealpost_domain::{ApiKeyId, Handle, InviteId};

use super::{
    badge::bounded,
    lists::{PageArgs, handle},
};
use crate::settings::Span;

#[derive(Subcommand)]
pub(crate) enum HandleCommand {
    /// Give a handle to a key; the handle can be reserved, and must be free or belong to a revoked key
    Assign {
        #[command(flatten)]
        handle: HandleArgs,
        /// API key
        #[arg(value_name = "AK")]
        api_key_id: ApiKeyId,
    },
    /// Free a handle, so that any account can take it
    Release(HandleArgs),
}

#[derive(Args)]
pub(crate) struct HandleArgs {
    /// Handle, the readable name of a key, with or without `@`
    #[arg(value_name = "HANDLE", value_parser = handle)]
    pub(crate) handle: Handle,
}

#[derive(Subcommand)]
pub(crate) enum InviteCommand {
    /// Create an invite and print its secret, which is shown only once
    Create(InviteArgs),
    /// List invites without their secrets, newest first
    List(PageArgs<InviteId>),
    /// Revoke an invite; accounts that it has opened stay
    Revoke {
        /// Id of the invite (ivt_...)
        #[arg(value_name = "IVT")]
        invite_id: InviteId,
    },
}

#[derive(Args)]
pub(crate) struct InviteArgs {
    /// Number of accounts that the invite can open
    #[arg(long, default_value_t = 1, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) uses: u32,
    /// Time until the invite expires, at most 10 years
    #[arg(long, default_value = "30d", value_name = "SPAN", value_parser = lifetime)]
    pub(crate) expires: Span,
    /// Note for operators, at most 200 characters
    #[arg(long, value_name = "TEXT", value_parser = note)]
    pub(crate) note: Option<String>,
}

fn lifetime(text: &str) -> Result<Span, String> {
    match text.parse() {
        Ok(span @ Span(life)) if !life.is_zero() && life <= LIFETIME_MAX => Ok(span),
        _ => Err("give a span above 0 and of at most 10 years, such as 30d".to_owned()),
    }
}

fn note(text: &str) -> Result<String, String> {
    bounded(text, 1, 200)
}

const LIFETIME_MAX: std::time::Duration = std::time::Duration::from_hours(3650 * 24);
