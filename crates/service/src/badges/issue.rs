//! Issues a badge if the newest [assessment](sealpost_domain::Assessment) (measured scores) of the key meets all
//! thresholds. If the request names a jurisdiction, the key must also pass the compliance circuit (set of checks) of
//! the jurisdiction.

use std::sync::Arc;

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Assessment, AssessmentMetrics, Badge, BadgeId, BadgeRefusal, BadgeStatus, Circuits,
    Jurisdiction, Refusal, Timestamp, check_thresholds,
    ports::{Durability, StoreError},
    unmet_thresholds,
};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::{WalletError, random};
use serde::Serialize;

use super::Badges;
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
    compliance::validate::{Explanation, evaluate, parse_jurisdiction},
    error::Error,
    sealpost::core::Core,
};

/// The options of a new badge.
#[derive(Debug, Clone, Default)]
pub struct Issue {
    /// A jurisdiction whose compliance circuit (set of checks) the key must also pass; `None` for no such condition.
    pub jurisdiction: Option<String>,
    /// If true, the subject of the badge is the DID of the key instead of a URN of the key.
    pub disclose_did: bool,
    /// If true, reports all reasons for a refusal and issues no badge.
    pub dry_run: bool,
}

/// The response to a request for a badge: the badge, or the result of a dry run.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the types describe the variants")]
pub enum Issued {
    Badge(IssuedBadge),
    DryRun(DryRun),
}

/// An issued badge.
#[derive(Debug, JsonSchema, Serialize)]
pub struct IssuedBadge {
    /// Id of the badge.
    pub badge_id: BadgeId,
    /// Time from which the badge is valid.
    pub issued_at: Timestamp,
    /// Time from which the badge is no longer valid.
    pub expires_at: Timestamp,
    /// The badge as a signed JWT.
    pub credential: String,
}

/// The result of a dry run, which issues no badge.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DryRun {
    /// Always `true`.
    #[schemars(extend("const" = true))]
    pub dry_run: bool,
    /// True if a badge would be issued.
    pub granted: bool,
    /// All reasons for a refusal. A request without `dry_run` returns only the first reason.
    pub refusals: Vec<Explanation>,
}

/// The decision about a badge, made inside the transaction.
enum BadgeDecision {
    Granted(Box<(Badge, Assessment)>),
    DryRun(Vec<Refusal>),
}

impl Badges {
    /// Issues a badge about the caller's key, or refuses the request with the first unmet condition. A dry run issues
    /// no badge, and returns all unmet conditions.
    pub async fn issue(&self, caller: &Caller, issue: Issue) -> Limited<Issued> {
        let issue = move |badges: &Self, caller: &Caller| badges.issue_blocking(caller, &issue);
        self.core.run_as(self, caller, issue).await
    }

    fn issue_blocking(&self, caller: &Caller, issue: &Issue) -> Limited<Issued> {
        let draft = match self.draft(caller, issue) {
            Ok(draft) => draft,
            Err(error) => return Limited::before_rate_check(error),
        };
        let decided = self.core.admitted(caller, Purpose::Execute, Durability::Durable, |tx, _| {
            self.decide(tx, &Request::read(self, &caller.id.key, issue)?, &draft)
        });
        decided.and_then(|decision| match decision {
            BadgeDecision::DryRun(refusals) => Ok(Issued::DryRun(DryRun {
                dry_run: true,
                granted: refusals.is_empty(),
                refusals: refusals.iter().map(Explanation::new).collect(),
            })),
            BadgeDecision::Granted(granted) => self.sign(&granted.0, &granted.1).map(Issued::Badge),
        })
    }

    fn draft(&self, caller: &Caller, issue: &Issue) -> Result<Draft, WalletError> {
        let material = if issue.disclose_did { self.core.material(&caller.key)? } else { None };
        let did = material.map(|material| material.identity.did());
        let subject = match did {
            Some(did) => did.as_str().to_owned(),
            None => format!("urn:sealpost:{}", caller.id.key),
        };
        let draws: [u8; 4 * DRAWS] = random()?;
        let (draws, _) = draws.as_chunks();
        let draws = draws.iter().map(|bytes| u32::from_be_bytes(*bytes)).collect();
        Ok(Draft { id: random()?, draws, subject })
    }

    /// Checks all conditions, and then stores the badge. Returns the first refusal as an error. A dry run returns all
    /// refusals, and stores nothing.
    fn decide(
        &self,
        tx: &mut Transaction,
        request: &Request<'_>,
        draft: &Draft,
    ) -> Result<BadgeDecision, Abort> {
        let assessment = tx.newest_assessment(request.key)?;
        let mut refusals = request.refusals(tx, assessment.as_ref(), &self.core)?;
        if request.issue.dry_run {
            return Ok(BadgeDecision::DryRun(refusals));
        }
        if !refusals.is_empty() {
            return Err(refusals.swap_remove(0).into());
        }
        let assessment = assessment.ok_or(StoreError::Corrupt("assessment"))?;
        let badge = Badge {
            id: BadgeId::new(self.core.clock.now(), draft.id),
            api_key_id: *request.key,
            assessment_id: assessment.id,
            subject: draft.subject.clone(),
            compliance: request.jurisdiction.clone().map(|name| (name, request.circuits.version)),
            position: tx.lock_free_position(&draft.draws)?,
            issued_at: request.now,
            expires_at: request.now.plus(self.core.settings.badge_ttl),
            revocation: None,
        };
        tx.insert_badge(&badge)?;
        Ok(BadgeDecision::Granted(Box::new((badge, assessment))))
    }

    fn sign(&self, badge: &Badge, assessment: &Assessment) -> Result<IssuedBadge, Error> {
        let credential = self.badge_credential(badge, assessment);
        Ok(IssuedBadge {
            badge_id: badge.id,
            issued_at: badge.issued_at,
            expires_at: badge.expires_at,
            credential: self.core.issuer.sign_credential(&credential)?,
        })
    }
}

/// The parts of a badge that are created before the transaction begins.
struct Draft {
    id: [u8; 10],
    /// Random numbers, each for a position in a status list (public list of revoked badges). The badge gets the first
    /// free position.
    draws: Vec<u32>,
    /// The subject of the credential: a URN of the key, or the DID of the key if the request asks for the DID.
    subject: String,
}

/// A request for a badge with valid fields, and the data that the decision needs.
struct Request<'a> {
    key: &'a ApiKeyId,
    issue: &'a Issue,
    jurisdiction: Option<Jurisdiction>,
    circuits: Arc<Circuits>,
    now: Timestamp,
}

impl<'a> Request<'a> {
    fn read(badges: &Badges, key: &'a ApiKeyId, issue: &'a Issue) -> Result<Self, Refusal> {
        let circuits = badges.circuits();
        let named = issue.jurisdiction.as_deref();
        let jurisdiction = named.map(|text| parse_jurisdiction(&circuits, text)).transpose()?;
        // Rounds down to whole seconds, because times in a JWT are whole seconds.
        let now = Timestamp::from_millis(badges.core.clock.now().as_seconds().saturating_mul(1000));
        Ok(Self { key, issue, jurisdiction, circuits, now })
    }

    fn refusals(
        &self,
        tx: &mut Transaction,
        assessment: Option<&Assessment>,
        core: &Core,
    ) -> Result<Vec<Refusal>, StoreError> {
        let mut refusals = Vec::new();
        let metrics = assessment.map(|found| &found.metrics);
        match check_thresholds(metrics) {
            Ok(()) => {}
            Err(BadgeRefusal::Drift(over)) => {
                refusals.push(Refusal::BadgeDeniedDrift(over));
                refusals.push(Refusal::BadgeDeniedThresholds(unmet_thresholds(metrics)));
            }
            Err(BadgeRefusal::Thresholds(unmet)) => {
                refusals.push(Refusal::BadgeDeniedThresholds(unmet));
            }
        }
        if let Some(jurisdiction) = &self.jurisdiction {
            let report = evaluate(tx, &self.circuits, (self.key, jurisdiction), core.clock.now())?;
            if !report.passed {
                refusals.push(Refusal::ComplianceCircuitFailed(report));
            }
        }
        let limit = core.settings.badges_per_key_max;
        if tx.count_live_badges(self.key, self.now)? >= u64::from(limit) {
            refusals.push(Refusal::QuotaExceeded {
                limit,
                what: "badges of this API key that are still valid",
                way_out: "use one of them, or wait until one expires",
            });
        }
        Ok(refusals)
    }
}

/// Number of random positions to try in a status list. If all tried positions are taken, the badge goes to the next
/// list. This is unlikely until a list is about half full.
const DRAWS: usize = 16;

/// The content of the public page of a badge.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields of a badge")]
pub struct BadgeView {
    pub badge_id: BadgeId,
    pub status: BadgeStatus,
    pub subject: String,
    pub metrics: AssessmentMetrics,
    /// The jurisdiction whose compliance circuit (set of checks) the key also passed. `None` if the badge was issued
    /// without this condition.
    pub jurisdiction: Option<String>,
    pub assessed_at: Timestamp,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// DID of the service, which issued the badge.
    pub issuer: String,
    /// URL of the status list that shows if the badge is revoked.
    pub status_list: String,
}

impl Badges {
    /// Returns a badge by its id, or `None` if no badge has this id.
    pub async fn show(&self, id: &str) -> Result<Option<BadgeView>, Error> {
        let Ok(id) = id.parse::<BadgeId>() else { return Ok(None) };
        let show = move |badges: &Self| {
            let core = &badges.core;
            let found = core.store.read(|reader| reader.find_badge(&id))?;
            Ok(found.map(|(badge, assessment)| BadgeView {
                badge_id: badge.id,
                status: badge.status(core.clock.now()),
                metrics: assessment.metrics,
                jurisdiction: badge.compliance.map(|(jurisdiction, _)| jurisdiction.to_string()),
                assessed_at: assessment.at,
                issued_at: badge.issued_at,
                expires_at: badge.expires_at,
                revoked_at: badge.revocation.map(|revocation| revocation.at),
                issuer: core.issuer.did().as_str().to_owned(),
                status_list: badges.list_url(badge.position.list()),
                subject: badge.subject,
            }))
        };
        self.core.block(self, show).await
    }
}
