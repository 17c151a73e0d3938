//! Issue: a badge on the key's newest assessment, and where the caller names a jurisdiction on its circuit as well.

use std::sync::Arc;

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Assessment, Badge, BadgeDenial, BadgeId, Circuits, Jurisdiction, Refusal, Timestamp,
    check_thresholds,
    ports::{Durability, StoreError, Tx},
};
use sealpost_wallet::random;
use serde::Serialize;

use crate::{
    Body, Credentials, Error, Limited, Sealpost, admission::Act, explanation::Explanation,
    sealpost::Core, validate::stand,
};

/// Which badge the caller wants.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct Issue {
    /// Whose circuit must hold as well.
    #[schemars(extend("pattern" = "^[A-Za-z0-9-]{2,16}$"))]
    pub jurisdiction: Option<String>,
    /// Whether the badge names the key's DID instead of the key.
    #[schemars(with = "Option<bool>")]
    pub disclose_did: bool,
    /// Whether only to tell what would be refused.
    #[schemars(with = "Option<bool>")]
    pub dry_run: bool,
}

/// What came of it.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "what each is, its type says")]
pub enum Issued {
    Badge(IssuedBadge),
    DryRun(DryRun),
}

/// A new badge.
#[derive(Debug, JsonSchema, Serialize)]
pub struct IssuedBadge {
    /// Its id.
    pub badge_id: BadgeId,
    /// Since when it holds.
    pub issued_at: Timestamp,
    /// From when on it does not.
    pub expires_at: Timestamp,
    /// The credential as a JWT.
    pub credential: String,
}

/// What issuing would come to now.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DryRun {
    /// Always `true`.
    #[schemars(extend("const" = true))]
    pub dry_run: bool,
    /// Whether there would be a badge.
    pub granted: bool,
    /// Everything that would be refused; the request itself answers with the first.
    pub refusals: Vec<Explanation>,
}

/// What the transaction decided.
enum Decided {
    Granted(Box<(Badge, Assessment)>),
    Tried(Vec<Refusal>),
}

impl Sealpost {
    /// Issues a badge to the caller's key.
    pub fn issue_badge(&self, credentials: &Credentials, body: &Body<Issue>) -> Limited<Issued> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        let random = match random() {
            Ok(random) => random,
            Err(error) => return Limited::unasked(error),
        };
        let decided = self.admitted(&caller, Act::Execute, Durability::Durable, |tx, _| {
            let request = match body
                .as_ref()
                .map_err(Refusal::clone)
                .and_then(|asked| Request::read(&self.core, &caller.key, asked))
            {
                Ok(request) => request,
                Err(fault) => return Ok(Err(fault)),
            };
            self.decide(tx, &request, random)
        });
        decided.and_then(|decided| match decided {
            Decided::Granted(granted) => self.sign(&granted.0, &granted.1).map(Issued::Badge),
            Decided::Tried(refusals) => Ok(Issued::DryRun(DryRun {
                dry_run: true,
                granted: refusals.is_empty(),
                refusals: refusals.iter().map(Explanation::of).collect(),
            })),
        })
    }

    /// Everything is looked at before anything is written, in the order in which refusals are answered.
    fn decide(
        &self,
        tx: &mut dyn Tx,
        request: &Request<'_>,
        random: [u8; 10],
    ) -> Result<Result<Decided, Refusal>, StoreError> {
        let assessment = tx.newest_assessment(request.key)?;
        let mut refusals = request.refusals(tx, assessment.as_ref(), &self.core)?;
        if request.asked.dry_run {
            return Ok(Ok(Decided::Tried(refusals)));
        }
        if !refusals.is_empty() {
            return Ok(Err(refusals.swap_remove(0)));
        }
        let assessment = assessment.ok_or(StoreError::Corrupt("assessment"))?;
        let badge = Badge {
            id: BadgeId::new(self.core.clock.now(), random),
            api_key_id: *request.key,
            assessment_id: assessment.id,
            subject: request.subject(tx)?,
            compliance: request.jurisdiction.clone().map(|name| (name, request.circuits.version)),
            position: tx.lock_next_position()?,
            issued_at: request.now,
            expires_at: request.now.plus(self.core.settings.badge_ttl),
            revocation: None,
        };
        tx.insert_badge(&badge)?;
        Ok(Ok(Decided::Granted(Box::new((badge, assessment)))))
    }

    fn sign(&self, badge: &Badge, assessment: &Assessment) -> Result<IssuedBadge, Error> {
        let credential = self.core.author().badge(badge, assessment);
        Ok(IssuedBadge {
            badge_id: badge.id,
            issued_at: badge.issued_at,
            expires_at: badge.expires_at,
            credential: self.core.issuer.sign_credential(&credential)?,
        })
    }
}

/// A request that can be decided.
struct Request<'a> {
    key: &'a ApiKeyId,
    asked: &'a Issue,
    jurisdiction: Option<Jurisdiction>,
    circuits: Arc<Circuits>,
    now: Timestamp,
}

impl<'a> Request<'a> {
    fn read(core: &Core, key: &'a ApiKeyId, asked: &'a Issue) -> Result<Self, Refusal> {
        let circuits = core.circuits();
        let named = asked.jurisdiction.as_deref();
        let jurisdiction = named.map(|text| crate::validate::known(&circuits, text)).transpose()?;
        // Whole seconds, because a JWT knows no others.
        let now = Timestamp::from_millis(core.clock.now().as_seconds().saturating_mul(1000));
        Ok(Self { key, asked, jurisdiction, circuits, now })
    }

    fn refusals(
        &self,
        tx: &mut dyn Tx,
        assessment: Option<&Assessment>,
        core: &Core,
    ) -> Result<Vec<Refusal>, StoreError> {
        let mut refusals = Vec::new();
        match check_thresholds(assessment.map(|found| &found.metrics)) {
            Ok(()) => {}
            Err(BadgeDenial::Drift(over)) => refusals.push(Refusal::BadgeDeniedDrift(over)),
            Err(BadgeDenial::Thresholds(unmet)) => {
                refusals.push(Refusal::BadgeDeniedThresholds(unmet));
            }
        }
        if let Some(jurisdiction) = &self.jurisdiction {
            let report = stand(tx, &self.circuits, (self.key, jurisdiction), core.clock.now())?;
            if !report.passed {
                refusals.push(Refusal::ComplianceCircuitFailed(report));
            }
        }
        let limit = core.settings.badges_per_key_max;
        if tx.count_live_badges(self.key, self.now)? >= u64::from(limit) {
            refusals.push(too_many(limit));
        }
        Ok(refusals)
    }

    fn subject(&self, tx: &mut dyn Tx) -> Result<String, StoreError> {
        if !self.asked.disclose_did {
            return Ok(format!("urn:sealpost:{}", self.key));
        }
        let key = tx.find_key(self.key)?.ok_or(StoreError::Corrupt("key"))?;
        Ok(key.did.as_str().to_owned())
    }
}

fn too_many(limit: u32) -> Refusal {
    Refusal::QuotaExceeded {
        limit,
        what: "badges of this API key that still hold",
        way_out: "use one of them, or wait until one expires",
    }
}
