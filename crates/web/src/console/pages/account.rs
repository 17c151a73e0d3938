//! The list of accounts, and the page of one account with its forms.

use actix_web::{http::StatusCode, web};
use askama::Template;
use sealpost_domain::{AccountId, GovernanceSubject, PartnerId};
use sealpost_service::{
    AccountDetails, AccountView, DecisionView, GuardedState, Operator, OperatorError,
};
use serde::Deserialize;

use crate::{
    console::{form::ActForm, response::may_act, user::ConsoleUser},
    html::{
        PageResponse, PageResult,
        forms::{Draft, FormRefusal},
        text::{day, short_id, what_blocks, when},
    },
};

/// The query parameters of the list of accounts.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct AccountSearch {
    cursor: String,
}

#[derive(Template)]
#[template(path = "console/accounts.html")]
struct AccountsPage<'a> {
    base: &'a str,
    accounts: Vec<AccountView>,
    next_cursor: Option<AccountId>,
}

#[derive(Template)]
#[template(path = "console/account.html")]
struct AccountPage<'a> {
    base: &'a str,
    form_token: &'a str,
    may_act: bool,
    details: AccountDetails,
    shown: ShownStates,
    /// True if the account has keys that the page does not show.
    has_more_keys: bool,
    draft: Draft<'a>,
}

/// The states of an account when its page was shown, as texts in hidden fields of the page's forms. If a state has
/// changed since, the service refuses the action: see [`GuardedState`]. If a form lacks a field, the service does not
/// check its state.
struct ShownStates {
    /// The open council action (a decision of operators to block) against the account.
    decision: String,
    /// The partner of the account. A partner groups accounts, so that operators can suspend them together.
    partner: String,
    /// The suspension of this partner. Empty if the account has no partner.
    suspension: String,
}

impl ShownStates {
    fn read(operator: &Operator, id: AccountId) -> Result<Self, OperatorError> {
        let partner = operator.state_text(&GuardedState::Partner(id))?;
        let suspension = match PartnerId::parse(&partner) {
            Ok(partner) => {
                let subject = GovernanceSubject::Partner(partner);
                operator.state_text(&GuardedState::Decision(subject))?
            }
            Err(_no_partner) => String::new(),
        };
        let subject = GovernanceSubject::Account(id);
        let decision = operator.state_text(&GuardedState::Decision(subject))?;
        Ok(Self { decision, partner, suspension })
    }

    fn from_form(act: &ActForm) -> Self {
        let text = |name| act.form.text(name).to_owned();
        Self {
            decision: text("shown_decision"),
            partner: text("shown_partner"),
            suspension: text("shown_suspension"),
        }
    }

    /// Returns an operator whose actions are refused if the open council action against the account has changed since
    /// the page was shown.
    fn for_decision(&self, operator: &Operator, id: AccountId) -> Operator {
        let state = GuardedState::Decision(GovernanceSubject::Account(id));
        operator.if_unchanged(state, &self.decision)
    }

    /// Returns an operator whose actions are refused if the partner of the account has changed since the page was
    /// shown.
    fn for_assignment(&self, operator: &Operator, id: AccountId) -> Operator {
        operator.if_unchanged(GuardedState::Partner(id), &self.partner)
    }

    /// Returns an operator whose actions are refused if the partner of the account, or the suspension of `partner`, has
    /// changed since the page was shown.
    fn for_suspension(&self, operator: &Operator, id: AccountId, partner: &PartnerId) -> Operator {
        let state = GuardedState::Decision(GovernanceSubject::Partner(partner.clone()));
        self.for_assignment(operator, id).if_unchanged(state, &self.suspension)
    }
}

pub(crate) async fn list(user: ConsoleUser, search: web::Query<AccountSearch>) -> PageResult {
    let cursor: Option<AccountId> = user.parameter(&search.cursor)?;
    let page = user.ask(move |operator| operator.accounts(cursor.as_ref(), LIMIT)).await?;
    let next_cursor = page.entries.last().filter(|_| page.more).map(|last| last.account_id);
    let main = AccountsPage { base: user.base(), accounts: page.entries, next_cursor };
    Ok(user.show("/console/accounts", "Accounts", &main))
}

pub(crate) async fn show(user: ConsoleUser, account: web::Path<String>) -> PageResult {
    let id = account_of(&user, &account)?;
    page(&user, id, Draft::default()).await
}

pub(crate) async fn submit(act: ActForm, account: web::Path<String>) -> PageResult {
    let id = account_of(&act.user, &account)?;
    let path = format!("/console/accounts/{id}");
    let result = perform(&act, id).await;
    act.respond(&path, result, async |draft| page(&act.user, id, draft).await).await
}

async fn page(user: &ConsoleUser, id: AccountId, draft: Draft<'_>) -> PageResult {
    // Reads the texts before the details. If a state changes between the two reads, the page has the old text, and the
    // service refuses its forms.
    let (shown, details) = user
        .ask(move |operator| Ok((ShownStates::read(operator, id)?, operator.show_account(&id)?)))
        .await?;
    let key_count = u64::try_from(details.keys.len()).unwrap_or(u64::MAX);
    let main = AccountPage {
        base: user.base(),
        form_token: &user.form_token,
        may_act: may_act(&user.operator),
        has_more_keys: details.account.key_count > key_count,
        details,
        shown,
        draft,
    };
    Ok(user.show_form("/console/accounts", &format!("Account {id}"), draft, &main))
}

/// Performs the admin action that the field `do` of the form selects. Returns the text that confirms the action on the
/// page.
async fn perform(act: &ActForm, id: AccountId) -> Result<&'static str, FormRefusal> {
    let reason = act.reason()?;
    let subject = GovernanceSubject::Account(id);
    let shown = ShownStates::from_form(act);
    if let Some((decide, notice)) = council_action(act.form.text("do")) {
        act.perform(move |o| decide(&shown.for_decision(o, id), &subject, &reason)).await?;
        return Ok(notice);
    }
    Ok(match act.form.text("do") {
        "end_sessions" => {
            act.perform(move |o| o.end_sessions(Some(&id))).await?;
            "All sessions of the account are ended."
        }
        "assign" => {
            let partner = PartnerId::parse(act.form.text("partner"));
            let partner = partner.map_err(|fault| {
                FormRefusal::field("partner", format!("The name of the partner {fault}."))
            })?;
            act.perform(move |o| shown.for_assignment(o, id).assign_partner(&id, &partner)).await?;
            "The partner is assigned."
        }
        "suspend" => {
            let partner = partner_of(act, id).await?;
            act.perform(move |o| {
                shown.for_suspension(o, id, &partner).suspend_partner(&partner, &reason)
            })
            .await?;
            "The partner is suspended."
        }
        "restore" => {
            let partner = partner_of(act, id).await?;
            act.perform(move |o| {
                shown.for_suspension(o, id, &partner).restore_partner(&partner, &reason)
            })
            .await?;
            "The suspension of the partner is ended."
        }
        _ => {
            let field = format!("reason-{}", act.form.text("form"));
            return Err(FormRefusal::field(&field, "Choose an act."));
        }
    })
}

/// Returns the council action that the field `do` of a form selects, and the text that confirms it. `None` if the field
/// selects no council action.
pub(super) fn council_action(name: &str) -> Option<(CouncilAction, &'static str)> {
    match name {
        "propose" => Some((Operator::propose, "The council action is proposed.")),
        "enforce" => Some((Operator::enforce, "The council action is enforced.")),
        "lift" => Some((Operator::lift, "The council action is lifted.")),
        _ => None,
    }
}

/// A council action as a method of the operator: takes its subject and its reason.
type CouncilAction = fn(&Operator, &GovernanceSubject, &str) -> Result<DecisionView, OperatorError>;

/// Returns the present partner of an account. Rejects the form if the account has no partner.
async fn partner_of(act: &ActForm, id: AccountId) -> Result<PartnerId, FormRefusal> {
    let account = act.user.ask(move |operator| operator.show_account(&id)).await?.account;
    let partner = account.partner.and_then(|name| PartnerId::parse(&name).ok());
    partner.ok_or_else(|| FormRefusal::field("partner", "The account has no partner."))
}

/// Parses the account id in a path. If the account id is malformed, returns the 404 page as the error.
fn account_of(user: &ConsoleUser, text: &str) -> Result<AccountId, PageResponse> {
    let missing = |_malformed| user.reject(StatusCode::NOT_FOUND, "There is no such account.");
    text.parse().map_err(missing)
}

const LIMIT: u32 = 50;
