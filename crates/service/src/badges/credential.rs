//! Builds the JSON of badges and status lists as W3C Verifiable Credentials 2.0. A badge is also an Open Badges 3.0
//! credential, and has registered JWT claims.

use sealpost_domain::{Assessment, AssessmentMetric, Badge, StatusPosition, Timestamp};
use serde_json::{Value, json};

use super::Badges;

impl Badges {
    /// Returns the URL of a status list, the public list of revoked badges.
    pub(super) fn list_url(&self, list: u64) -> String {
        format!("{}/v1/status/{list}", self.core.base_url)
    }

    /// Returns the credential of a badge. Its id is the URL of the page of the badge.
    pub(super) fn badge_credential(&self, badge: &Badge, assessment: &Assessment) -> Value {
        let (did, base_url) = (self.core.issuer.did().as_str(), &self.core.base_url);
        let id = format!("{base_url}/badges/{}", badge.id);
        json!({
            "@context": [CREDENTIALS, OPEN_BADGES],
            "id": id,
            "type": ["VerifiableCredential", "OpenBadgeCredential"],
            "issuer": {"id": did, "type": ["Profile"], "name": "Sealpost", "url": base_url},
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
            "iss": did,
            "sub": badge.subject,
            "jti": id,
            "nbf": badge.issued_at.as_seconds(),
            "exp": badge.expires_at.as_seconds(),
        })
    }

    /// Returns the credential of a status list.
    pub(super) fn list_credential(
        &self,
        list: u64,
        encoded: &str,
        (from, until): (Timestamp, Timestamp),
    ) -> Value {
        let (did, id) = (self.core.issuer.did().as_str(), self.list_url(list));
        json!({
            "@context": [CREDENTIALS],
            "id": id,
            "type": ["VerifiableCredential", "BitstringStatusListCredential"],
            "issuer": did,
            "validFrom": from,
            "validUntil": until,
            "credentialSubject": {
                "id": format!("{id}#list"),
                "type": "BitstringStatusList",
                "statusPurpose": "revocation",
                "encodedList": encoded,
            },
            "iss": did,
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
