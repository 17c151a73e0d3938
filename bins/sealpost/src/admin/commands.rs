//! The table of the operator commands: each row calls a use case and prints its result.

use sealpost_domain::{AssessmentMetrics, ports::KeyFilter};
use sealpost_node::{complete_journal, keys, recover_database};
use sealpost_service::{AssessmentSource, Attest, InviteTerms, ListPage, Operator, check_reason};

use super::{
    audit,
    desk::Desk,
    kek,
    output::Output,
    plan,
    text::{KEY_COLUMNS, WEBHOOK_COLUMNS, account_text, closing_report, key_text},
};
use crate::{
    cli::{
        AccountCommand, AssessArgs, AttestArgs, BadgeCommand, GovernanceCommand, HandleCommand,
        InviteCommand, IssuerCommand, JournalCommand, KeyCommand, KeyListArgs, LogCommand, Noun,
        PartnerCommand, PlanCommand, SessionCommand, TokenCommand, WebhookCommand,
    },
    command_error::CommandError,
};

pub(super) fn perform(desk: &Desk, output: Output, noun: &Noun) -> Result<(), CommandError> {
    let Desk { operator, settings, database, clock } = desk;
    match noun {
        Noun::Account(command) => account(desk, output, command),
        Noun::Assess(args) => assess(operator, output, args),
        Noun::Attest(args) => attest(operator, output, args),
        Noun::Audit(command) => audit::run(desk, output, command),
        Noun::Badge(BadgeCommand::Revoke { badge_id, reason }) => {
            output.show(&operator.revoke_badge(badge_id, checked("--reason", reason)?)?)
        }
        Noun::Governance(command) => governance(operator, output, command),
        Noun::Handle(HandleCommand::Assign { handle, api_key_id }) => {
            output.show(&operator.assign_handle(&handle.handle, api_key_id)?)
        }
        Noun::Handle(HandleCommand::Release(args)) => {
            output.show(&operator.release_handle(&args.handle)?)
        }
        Noun::Invite(command) => invite(operator, output, command),
        Noun::Issuer(IssuerCommand::List) => {
            let page = ListPage { entries: operator.issuer_keys()?, more: false };
            output.list(&page, &ISSUER_COLUMNS)
        }
        Noun::Issuer(IssuerCommand::Rotate(keks)) => {
            let keyring = keys::open(&desk.key_source(keks)?, database)?;
            output.show(&operator.rotate_issuer(&keyring)?)
        }
        Noun::Journal(JournalCommand::Complete(keks)) => {
            desk.use_keys(keks)?;
            output.show(&complete_journal(settings, database, operator, clock)?)
        }
        Noun::Kek(command) => kek::run(desk, output, command),
        Noun::Key(command) => key(operator, output, command),
        Noun::Log(LogCommand::Restart(_)) => output.show(&operator.restart_log()?),
        Noun::Partner(command) => partner(operator, output, command),
        Noun::Plan(PlanCommand::Set(args)) => plan::set(operator, output, args),
        Noun::Recover(args) => {
            desk.use_keys(&args.keks)?;
            output.show(&recover_database(settings, database, operator, &args.journal)?)
        }
        Noun::Session(SessionCommand::End { account_id, all: _ }) => {
            output.show(&operator.end_sessions(account_id.as_ref())?)
        }
        Noun::Stats => output.show(&operator.stats()?),
        Noun::Token(TokenCommand::List { account_id }) => {
            output.list(&operator.api_tokens(account_id)?, &TOKEN_COLUMNS)
        }
        Noun::Token(TokenCommand::Revoke { token_id }) => {
            output.show(&operator.revoke_api_token(token_id)?)
        }
        Noun::Webhook(WebhookCommand::Disable { webhook_id }) => {
            output.show(&operator.disable_webhook(webhook_id)?)
        }
        Noun::Webhook(WebhookCommand::List { owner, page }) => {
            let page = operator.webhooks(&owner.owner()?, page.cursor.as_ref(), page.limit)?;
            output.list(&page, &WEBHOOK_COLUMNS)
        }
    }
}

fn account(desk: &Desk, output: Output, command: &AccountCommand) -> Result<(), CommandError> {
    use AccountCommand as C;
    let operator = &desk.operator;
    match command {
        C::Close { account_id, .. } => {
            output.show_as(&operator.close_account(account_id)?, closing_report)
        }
        C::Erase { account_id, .. } => {
            output.show_as(&operator.erase_account(account_id)?, closing_report)
        }
        C::List(page) => {
            output.list(&operator.accounts(page.cursor.as_ref(), page.limit)?, &ACCOUNT_COLUMNS)
        }
        C::Show { account_id } => output.show_as(&operator.show_account(account_id)?, account_text),
        C::ResetSecret { account_id, keks } => {
            desk.use_keys(keks)?;
            output.show(&operator.reset_secret(account_id)?)
        }
    }
}

fn invite(
    operator: &Operator,
    output: Output,
    command: &InviteCommand,
) -> Result<(), CommandError> {
    match command {
        InviteCommand::Create(args) => {
            let (uses, expires_in, note) = (args.uses, args.expires.0, args.note.clone());
            output.show(&operator.create_invite(&InviteTerms { uses, expires_in, note })?)
        }
        InviteCommand::List(page) => {
            output.list(&operator.invites(page.cursor.as_ref(), page.limit)?, &INVITE_COLUMNS)
        }
        InviteCommand::Revoke { invite_id } => output.show(&operator.revoke_invite(invite_id)?),
    }
}

fn key(operator: &Operator, output: Output, command: &KeyCommand) -> Result<(), CommandError> {
    use KeyCommand as C;
    match command {
        C::Deactivate(key) => output.show(&operator.deactivate_key(&key.api_key_id)?),
        C::List(KeyListArgs { account, handle, label, status, plan, page }) => {
            let (handle, label, plan) = (handle.clone(), label.clone(), plan.clone());
            let filter = KeyFilter { account: *account, handle, label, status: *status, plan };
            let page = operator.keys(&filter, page.cursor.as_ref(), page.limit)?;
            output.list(&page, &KEY_COLUMNS)
        }
        C::Reactivate(key) => output.show(&operator.reactivate_key(&key.api_key_id)?),
        C::Revoke { key, .. } => output.show(&operator.revoke_key(&key.api_key_id)?),
        C::Rotate(key) => output.show(&operator.rotate_key(&key.api_key_id)?),
        C::Show(key) => output.show_as(&operator.key_details(&key.api_key_id)?, key_text),
    }
}

fn governance(
    operator: &Operator,
    output: Output,
    it: &GovernanceCommand,
) -> Result<(), CommandError> {
    use GovernanceCommand as C;
    let (C::Enforce(verdict) | C::Lift(verdict) | C::Propose(verdict)) = it;
    let (subject, reason) = (&verdict.subject, checked("--reason", &verdict.reason.text)?);
    let decision = match it {
        C::Enforce(_) => operator.enforce(subject, reason),
        C::Lift(_) => operator.lift(subject, reason),
        C::Propose(_) => operator.propose(subject, reason),
    };
    output.show(&decision?)
}

fn partner(
    operator: &Operator,
    output: Output,
    command: &PartnerCommand,
) -> Result<(), CommandError> {
    use PartnerCommand as C;
    let reason = |text| checked("--reason", text);
    match command {
        C::Assign { account_id, partner } => {
            output.show(&operator.assign_partner(account_id, partner)?)
        }
        C::Restore(it) => {
            output.show(&operator.restore_partner(&it.partner, reason(&it.reason.text)?)?)
        }
        C::Suspend(it) => {
            output.show(&operator.suspend_partner(&it.partner, reason(&it.reason.text)?)?)
        }
    }
}

fn assess(operator: &Operator, output: Output, args: &AssessArgs) -> Result<(), CommandError> {
    let &AssessArgs { clarity, coherence, confidence, drift, .. } = args;
    let metrics = AssessmentMetrics { clarity, coherence, confidence, drift };
    let source = source("--assessor", args.assessor.as_ref(), &args.reason)?;
    output.show(&operator.assess(&args.api_key_id, metrics, &source)?)
}

fn attest(operator: &Operator, output: Output, args: &AttestArgs) -> Result<(), CommandError> {
    let attest =
        Attest { check: args.check.clone(), valid_until: args.valid_until, failed: args.failed };
    let source = source("--attester", args.attester.as_ref(), &args.reason)?;
    output.show(&operator.attest(&args.api_key_id, &attest, &source)?)
}

/// Returns the author and the reason of an assessment or attestation. `option` is the name of the command-line option
/// for the author, for errors.
fn source(
    option: &str,
    by: Option<&String>,
    reason: &str,
) -> Result<AssessmentSource, CommandError> {
    if let Some(name) = by {
        checked(option, name)?;
    }
    if !reason.is_empty() {
        checked("--reason", reason)?;
    }
    Ok(AssessmentSource { by: by.cloned(), reason: reason.to_owned() })
}

/// Returns the text, unless it could deceive its readers, such as a text with control characters. The console and the
/// operator API apply the same rule to reasons.
fn checked<'t>(option: &str, text: &'t str) -> Result<&'t str, CommandError> {
    check_reason(text).map_err(|fault| CommandError::usage(format!("{option} {fault}")))?;
    Ok(text)
}

const ACCOUNT_COLUMNS: [&str; 5] =
    ["account_id", "created_at", "key_count", "partner", "closed_at"];
const INVITE_COLUMNS: [&str; 6] = ["invite_id", "status", "used", "uses", "expires_at", "note"];
const ISSUER_COLUMNS: [&str; 6] =
    ["issuer_key_id", "kid", "created_at", "signs_from", "status", "whpk"];
const TOKEN_COLUMNS: [&str; 6] =
    ["token_id", "api_key_id", "scopes", "last_used_at", "expires_at", "name"];
