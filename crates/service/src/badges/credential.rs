//! Builds the JSON of badges and status lists as W3C Verifiable Credentials 2.0. A badge is also an Open Badges 3.0
//! credential, and has registered JWT claims.

use sealpost_domain::{Assessment, AssessmentMetric, Badge, StatusPosition, Timestamp};
use serde_json::{Value, json};

use super::Badges;

/// The service as the issuer of a credential: its DID, and the base URL for links in the credential.
pub(crate) struct Author<'a> {
    pub(crate) base_url: &'a str,
    pub(crate) did: &'a str,
}

impl Badges {
    pub(super) fn author(&self) -> Author<'_> {
        Author { base_url: &self.core.base_url, did: self.core.issuer.did().as_str() }
    }
}

impl Author<'_> {
    /// Returns the URL of the page of a badge. The URL is also the id of the credential.
    pub(crate) fn badge_url(&self, badge: &Badge) -> String {
        format!("{}/badges/{}", self.base_url, badge.id)
    }

    /// Returns the URL of a status list, the public list of revoked badges.
    pub(crate) fn list_url(&self, list: u64) -> String {
        format!("{}/v1/status/{list}", self.base_url)
    }

    pub(crate) fn badge(&self, badge: &Badge, assessment: &Assessment) -> Value {
        let id = self.badge_url(badge);
        json!({
            "@context": [CREDENTIALS, OPEN_BADGES],
            "id": id,
            "type": ["VerifiableCredential", "OpenBadgeCredential"],
            "issuer": {"id": self.did, "type": ["Profile"], "name": "Sealpost", "url": self.base_url},
            "name": NAME,
            "validFrom": badge.issued_at,
            "validUntil": badge.expires_at,
            "credentialSubject": {
                "id": badge.subject,
                "type": ["AchievementSubject"],
                "achievement": achievement(badge),
                "result": results(badge, assessment),
            },
            "credentialStatus": self.status_entry(badge.position),
            "iss": self.did,
            "sub": badge.subject,
            "jti": id,
            "nbf": badge.issued_at.as_seconds(),
            "exp": badge.expires_at.as_seconds(),
        })
    }

    pub(crate) fn status_list(
        &self,
        list: u64,
        encoded: &str,
        (from, until): (Timestamp, Timestamp),
    ) -> Value {
        let id = self.list_url(list);
        json!({
            "@context": [CREDENTIALS],
            "id": id,
            "type": ["VerifiableCredential", "BitstringStatusListCredential"],
            "issuer": self.did,
            "validFrom": from,
            "validUntil": until,
            "credentialSubject": {
                "id": format!("{id}#list"),
                "type": "BitstringStatusList",
                "statusPurpose": "revocation",
                "encodedList": encoded,
            },
            "iss": self.did,
            "exp": until.as_seconds(),
        })
    }

    fn status_entry(&self, position: StatusPosition) -> Value {
        let list = self.list_url(position.list());
        json!({
            "id": format!("{list}#{}", position.index()),
            "type": "BitstringStatusListEntry",
            "statusPurpose": "revocation",
            "statusListIndex": position.index().to_string(),
            "statusListCredential": list,
        })
    }
}

fn achievement(badge: &Badge) -> Value {
    let mut descriptions: Vec<_> = AssessmentMetric::ALL.into_iter().map(described).collect();
    if badge.compliance.is_some() {
        descriptions.push(json!({
            "id": COMPLIANCE,
            "type": ["ResultDescription"],
            "name": "Compliance circuit that held when the badge was issued",
            "resultType": "Result",
        }));
    }
    json!({
        "id": ACHIEVEMENT,
        "type": ["Achievement"],
        "name": NAME,
        "description": "The newest assessment of this identity met every purity threshold.",
        "criteria": {
            "narrative": "Clarity of at least 0.75, coherence of at least 0.70, confidence of at least 0.90, and \
                          drift of at most 0.10, by the newest assessment on record.",
        },
        "resultDescription": descriptions,
    })
}

fn described(metric: AssessmentMetric) -> Value {
    let (bound, must_be) = metric.threshold().parts();
    json!({
        "id": result_id(metric),
        "type": ["ResultDescription"],
        "name": format!("{} {must_be} {bound}", metric.as_str()),
        "resultType": "RawScore",
        "valueMin": "0.0",
        "valueMax": "1.0",
        "requiredValue": bound,
    })
}

fn results(badge: &Badge, assessment: &Assessment) -> Vec<Value> {
    let result = |id: String, value: String| json!({"type": ["Result"], "resultDescription": id, "value": value});
    let score = |metric: AssessmentMetric| {
        result(result_id(metric), metric.score(&assessment.metrics).to_string())
    };
    let mut results: Vec<_> = AssessmentMetric::ALL.into_iter().map(score).collect();
    if let Some((jurisdiction, version)) = &badge.compliance {
        let value = format!("{jurisdiction}, circuits version {version}");
        results.push(result(COMPLIANCE.to_owned(), value));
    }
    results
}

fn result_id(metric: AssessmentMetric) -> String {
    format!("{ACHIEVEMENT}:{}", metric.as_str())
}

const CREDENTIALS: &str = "https://www.w3.org/ns/credentials/v2";
const OPEN_BADGES: &str = "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json";
const NAME: &str = "Sealpost purity badge";
const ACHIEVEMENT: &str = "urn:sealpost:achievement:purity:v1";
const COMPLIANCE: &str = "urn:sealpost:achievement:purity:v1:compliance";
