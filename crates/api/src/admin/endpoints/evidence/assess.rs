//! `POST /admin/v1/assessments/record`: records an assessment of a key.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{ApiKeyId, AssessmentMetrics, Refusal, Score};
use sealpost_service::{AssessmentShown, AssessmentSource};
use serde_json::json;

use crate::{
    admin::{
        page::parsed_required,
        request::{ActRequest, Reason},
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// An assessment of an API key: four scores, and the reason.
#[derive(JsonSchema)]
struct AssessRequest {
    /// The assessed API key.
    api_key_id: ApiKeyId,
    /// The score for clarity, from 0 to 1.
    clarity: Score,
    /// The score for coherence, from 0 to 1.
    coherence: Score,
    /// Confidence of the assessor, from 0 to 1.
    confidence: Score,
    /// Drift, the distance from the declared behaviour, from 0 to 1.
    drift: Score,
    /// The reason for the assessment, or its method.
    reason: Reason,
}

impl RequestBody for AssessRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        let names = ["api_key_id", "clarity", "coherence", "confidence", "drift", "reason"];
        fields.require(&names)?;
        Ok(Self {
            api_key_id: parsed_required(fields, "api_key_id")?,
            clarity: parsed_required(fields, "clarity")?,
            coherence: parsed_required(fields, "coherence")?,
            confidence: parsed_required(fields, "confidence")?,
            drift: parsed_required(fields, "drift")?,
            reason: Reason::read(fields)?,
        })
    }
}

async fn assess(request: ActRequest<AssessRequest>) -> JsonResponse<AssessmentShown> {
    request
        .perform(
            |body| &body.reason,
            |operator, body| {
                let AssessRequest { api_key_id, clarity, coherence, confidence, drift, reason } =
                    body;
                let metrics = AssessmentMetrics { clarity, coherence, confidence, drift };
                let source = AssessmentSource { by: None, reason: reason.0 };
                operator.assess(&api_key_id, metrics, &source)
            },
        )
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(assess) }
}

fn operation() -> Operation {
    let key = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let recorded = json!({
        "assessment_id": "asmt_01m7ye92k0e5wsvs5qjndehdka",
        "api_key_id": key,
        "clarity": "0.81",
        "coherence": "0.74",
        "confidence": "0.95",
        "drift": "0.04",
        "assessor": "console:alice",
        "reason": "Review of March",
        "at": "2026-11-21T06:56:38.596Z",
    });
    let body = json!({
        "api_key_id": key,
        "clarity": "0.81",
        "coherence": "0.74",
        "confidence": "0.95",
        "drift": "0.04",
        "reason": "Review of March",
    });
    Operation::new::<AssessmentShown>("recordAssessment", recorded)
        .describe(Tag::Evidence, "Record an assessment", DESCRIPTION)
        .acting_operator()
        .body::<AssessRequest>(vec![("", body)])
}

const DESCRIPTION: &str = "\
Records an assessment of a key. Badges that are issued later are based on the newest assessment. A repeated call records \
a second, equal assessment.";
