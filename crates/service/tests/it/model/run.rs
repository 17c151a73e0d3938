//! Runs a list of operations on the service and on the model, and compares every response.

mod account;
mod calls;
mod compare;
mod managing;
mod operator;

use std::{collections::BTreeMap, time::Duration};

use sealpost_domain::{
    Clock as _, LeaseToken, Suite, Timestamp,
    ports::{Durability, ExpiringRows},
};
use sealpost_service::{AuditVerdict, Credentials, KeyNamed, Settings};
use tokio::runtime::{Builder, Runtime};

use self::compare::same;
use super::{
    op::{Body, Event, Holder, Named, Op, Opener, Pick, Plan, Step, Token, Who},
    truth::{Called, Caller, KEYS_MAX, MESSAGE_BYTES_MAX, REGISTRATIONS_MAX, Shown, Truth},
    usage::Window,
};
use crate::support::World;

/// The result of a comparison. The error describes the first difference.
pub(super) type Checked = Result<(), String>;

pub(super) struct Run {
    world: World,
    truth: Truth,
    runtime: Runtime,
}

/// Returns settings with small limits, which random operations can reach. Housekeeping and transfers run only once an
/// hour, so no test case sees a run.
pub(super) fn settings() -> Settings {
    Settings {
        message_bytes_max: MESSAGE_BYTES_MAX,
        keys_per_account_max: u32::try_from(KEYS_MAX).unwrap(),
        webhooks_per_key_max: u32::try_from(REGISTRATIONS_MAX).unwrap(),
        housekeeping_every: Duration::from_hours(1),
        waiting_transfer_every: Duration::from_hours(1),
        suite: Suite::Classic,
        ..Settings::default()
    }
}

/// Name of the algorithm that seals messages with [`settings`]. [`with_channels`] uses `CHANNEL` instead.
pub(super) const CLASSIC: &str = "HPKE-X25519-HKDF-SHA256-AES-256-GCM-Ed25519";
pub(super) const CHANNEL: &str = "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519";

/// Returns settings for the channel suite, with few envelopes per channel and few cached channels.
pub(super) fn with_channels() -> Settings {
    Settings {
        suite: Suite::Channel,
        channel_envelopes_max: 3,
        channels_cached_max: 2,
        ..settings()
    }
}

/// Creates two accounts, one of them with two keys, and then runs the operations. Compares every response with the
/// model.
pub(super) fn run(world: World, algorithm: &'static str, ops: &[Op]) -> Checked {
    let truth = Truth::begin(world.clock.now().as_millis(), algorithm);
    let runtime = Builder::new_current_thread().build().unwrap();
    let mut run = Run { world, truth, runtime };
    for (at, op) in BEGINNING.iter().chain(ops).enumerate() {
        let number = at.checked_sub(BEGINNING.len());
        run.step(*op).map_err(|difference| match number {
            Some(number) => format!("operation {number}, {op:?}: {difference}"),
            None => format!("at the beginning: {difference}"),
        })?;
    }
    run.finish().map_err(|difference| format!("in the end: {difference}"))
}

impl Run {
    fn step(&mut self, op: Op) -> Checked {
        match op {
            Op::Activate { who, handle, body } => self.activate(who, handle, body),
            Op::Advance(step) => {
                self.advance(step);
                Ok(())
            }
            Op::Assign { account, partner } => self.assign(account, partner),
            Op::Decide { subject, verb } => self.decide(subject, verb),
            Op::Delete { who, key, webhook } => self.delete(who, key, webhook),
            Op::Enable { who, key, webhook } => self.enable(who, key, webhook),
            Op::List { who } => self.list(who),
            Op::Login { account, secret } => self.login(account, secret),
            Op::Logout { who, everywhere } => self.logout(who, everywhere),
            Op::Move { key, event } => self.move_key(key, event),
            Op::Open { who, envelope } => self.open(who, envelope),
            Op::Plan { key, plan } => self.set_plan(self.key(key), plan),
            Op::Redeliver { who, key, webhook, envelope } => {
                self.redeliver(who, key, webhook, envelope)
            }
            Op::Register { who, url } => self.register(who, url),
            Op::RotateSecret { who } => self.rotate_secret(who),
            Op::RotateWebhook { who, key, webhook } => self.rotate_webhook(who, key, webhook),
            Op::Send { who, to, message, name, times } => {
                (0..times).try_for_each(|_| self.send(who, to, message, name))
            }
            Op::Status { who, body, times } => (0..times).try_for_each(|_| self.status(who, body)),
        }
    }

    fn advance(&mut self, step: Step) {
        let now = self.truth.now;
        let until = match step {
            Step::Hours(hours) => now + 3_600_000 * i64::from(hours),
            Step::Into(window) => window.next(now),
            Step::LastOf(window) => window.next(now) - 1,
            Step::Millis(millis) => now + i64::from(millis),
            Step::Seconds(seconds) => now + 1000 * i64::from(seconds),
        };
        self.world.clock.advance(Duration::from_millis(u64::try_from(until - now).unwrap()));
        self.truth.now = until;
    }

    /// Checks the final state. Every acknowledged envelope must be stored, must open, and must have each expected
    /// delivery exactly once. No other envelope may be stored.
    fn finish(&mut self) -> Checked {
        self.open_everything()?;
        self.check_rows()?;
        self.world.sealpost.stop();
        let mut told = BTreeMap::<String, Vec<String>>::new();
        for delivery in self.world.dispatch.submitted.lock().unwrap().iter() {
            let webhooks = told.entry(delivery.event.id().to_string()).or_default();
            webhooks.push(delivery.target.webhook_id.to_string());
        }
        for webhooks in told.values_mut() {
            webhooks.sort();
        }
        let mut expected = BTreeMap::new();
        for envelope in self.truth.envelopes.iter().filter(|it| !it.told.is_empty()) {
            let mut webhooks = envelope.told.clone();
            webhooks.sort();
            expected.insert(envelope.id.clone(), webhooks);
        }
        same("deliveries", &expected, &told)?;
        self.check_queue()?;
        match self.world.operator().verify_audit(None).unwrap() {
            AuditVerdict::Whole { entries, .. } => same("audit trail", &self.truth.deeds, &entries),
            broken @ AuditVerdict::Broken { .. } => Err(format!("{broken:?}")),
        }
    }

    fn open_everything(&mut self) -> Checked {
        self.advance(Step::Into(Window::Day));
        for key in 0..self.truth.keys.len() {
            self.set_plan(key, Plan::Builder)?;
        }
        for at in 0..self.truth.envelopes.len() {
            let recipient = self.truth.envelopes[at].recipient;
            if self.truth.may_open(recipient) {
                if at % 100 == 99 {
                    self.advance(Step::Into(Window::Minute));
                }
                let caller = self.call(Token::Own, Called::Key(recipient))?;
                let said = self.open_as(caller, Ok(Some(at)))?;
                if self.truth.is_kept(at) {
                    said.map_err(|refused| format!("envelope {at} does not open: {refused:?}"))?;
                }
            }
        }
        Ok(())
    }

    /// Checks that the numbers of stored envelopes and idempotency keys equal those of the model.
    fn check_rows(&self) -> Checked {
        let expected = (self.truth.envelopes.len(), self.truth.named());
        same("envelopes stored and remembered", &expected, &rows(&self.world))
    }

    /// Checks that the delivery queue contains each expected delivery exactly once. The run makes no attempts, so every
    /// delivery is still queued.
    fn check_queue(&self) -> Checked {
        let now = self.world.clock.now();
        self.world.database.release_every_lease(now).unwrap();
        let due = self.world.claim(now, LeaseToken(9), Timestamp::from_millis(i64::MAX));
        let mut queue: Vec<_> = due
            .iter()
            .map(|it| (it.event.id().to_string(), it.target.webhook_id.to_string()))
            .collect();
        queue.sort();
        same("queue", &self.truth.queue(), &queue)
    }

    fn caller(&mut self, who: Who) -> Result<Caller, String> {
        let called = match who.key {
            Named::Absent => Called::Absent,
            Named::Key(pick) => Called::Key(self.key(pick)),
            Named::Malformed => Called::Malformed,
            Named::Unknown => Called::Unknown,
            Named::Unreadable => Called::Unreadable,
        };
        self.call(who.token, called)
    }

    fn opener(&mut self, who: Opener, envelope: Option<usize>) -> Result<Caller, String> {
        let recipient = envelope.map_or(0, |envelope| self.truth.envelopes[envelope].recipient);
        match who {
            Opener::Any(who) => self.caller(who),
            Opener::Recipient => self.call(Token::Own, Called::Key(recipient)),
        }
    }

    fn call(&mut self, token: Token, called: Called) -> Result<Caller, String> {
        let account = match called {
            Called::Key(key) => self.truth.keys[key].account,
            _ => 0,
        };
        Ok(Caller { shown: self.show(token, account)?, called })
    }

    fn holder(&mut self, who: Holder) -> Result<Shown, String> {
        let account = who.account.of(self.truth.accounts.len());
        self.show(who.token, account.unwrap_or(0))
    }

    fn show(&mut self, token: Token, account: usize) -> Result<Shown, String> {
        Ok(match token {
            Token::Absent => Shown::Absent,
            Token::Any(pick) => {
                pick.of(self.truth.sessions.len()).map_or(Shown::Malformed, Shown::Session)
            }
            Token::Malformed => Shown::Malformed,
            Token::Own => Shown::Session(self.session_of(account)?),
        })
    }

    /// Returns a live session of the account. Logs in first if there is none.
    fn session_of(&mut self, account: usize) -> Result<usize, String> {
        if let Some(live) = self.truth.live_session_of(account) {
            return Ok(live);
        }
        let secrets = self.truth.accounts[account].secrets.len();
        self.login_with(account, Some((account, secrets - 1)))?;
        Ok(self.truth.sessions.len() - 1)
    }

    fn key(&self, pick: Pick) -> usize {
        pick.of(self.truth.keys.len()).unwrap()
    }

    fn token(&self, shown: Shown) -> Option<String> {
        match shown {
            Shown::Absent => None,
            Shown::Malformed => Some("st_nonsense".to_owned()),
            Shown::Session(session) => Some(self.truth.sessions[session].token.clone()),
        }
    }

    fn credentials(&self, caller: Caller) -> Credentials {
        let key = match caller.called {
            Called::Absent => KeyNamed::None,
            Called::Key(key) => KeyNamed::Key(self.truth.keys[key].id.clone()),
            Called::Malformed => KeyNamed::Key("ak_nonsense".to_owned()),
            Called::Unknown => KeyNamed::Key(UNKNOWN_KEY.to_owned()),
            Called::Unreadable => KeyNamed::InvalidBody(sealpost_domain::Refusal::InvalidJson),
        };
        Credentials { token: self.token(caller.shown), key }
    }
}

/// Returns the numbers of stored envelopes and idempotency keys. Counts the rows that a purge would delete, and rolls
/// the purge back.
pub(super) fn rows(world: &World) -> (usize, usize) {
    let end_of_time = Timestamp::from_millis(1 << 47);
    let mut tx = world.database.begin(Durability::Relaxed).unwrap();
    let remembered =
        tx.purge_expired(ExpiringRows::IdempotencyKeys, end_of_time, 1_000_000).unwrap();
    let envelopes = tx.purge_envelopes(end_of_time, end_of_time, 1_000_000).unwrap();
    (usize::try_from(envelopes).unwrap(), usize::try_from(remembered).unwrap())
}

const BEGINNING: [Op; 4] = [
    activation(Token::Absent, Some(Pick(0))),
    activation(Token::Absent, None),
    activation(Token::Own, Some(Pick(1))),
    Op::Move { key: Pick(2), event: Event::Rotate },
];

const fn activation(token: Token, handle: Option<Pick>) -> Op {
    Op::Activate { who: Holder { token, account: Pick(0) }, handle, body: Body::Sound }
}

const UNKNOWN_KEY: &str = "ak_01h455vb4pex5vsknk084sn02q";
