//! Assessments of API keys, and the thresholds that the metrics of an assessment must meet for a badge.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, AssessmentId, Score, Timestamp, named_enum::named_enum};

/// The four metrics of an API key in one assessment, each from 0 to 1. Higher is better for all but `drift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct AssessmentMetrics {
    /// The clarity of the API key as its assessor measured it, from 0 to 1.
    pub clarity: Score,
    /// The coherence of the API key as its assessor measured it, from 0 to 1.
    pub coherence: Score,
    /// The confidence in the API key as its assessor measured it, from 0 to 1.
    pub confidence: Score,
    /// The drift of the API key as its assessor measured it, from 0 to 1. Lower is better.
    pub drift: Score,
}

/// A rating of an API key by a person or a system. Badges depend on the newest assessment of the key. A stored
/// assessment is never changed: a new one corrects it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// Public id of the assessment, with the prefix `asmt_`.
    pub id: AssessmentId,
    /// The assessed API key.
    pub api_key_id: ApiKeyId,
    /// The values of the four metrics.
    pub metrics: AssessmentMetrics,
    /// The person or system that assessed the key.
    pub assessor: String,
    /// Reason for the assessment, or its method, in the assessor's words.
    pub reason: String,
    /// Time at which the assessment was recorded.
    pub at: Timestamp,
}

named_enum! {
    /// The name of a metric in an assessment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    #[schemars(rename = "Metric")]
    #[expect(missing_docs, reason = "the contract's metrics")]
    pub enum AssessmentMetric {
        // Errors and reports list the metrics in this order.
        Clarity = "clarity",
        Coherence = "coherence",
        Confidence = "confidence",
        Drift = "drift",
    }
}

impl AssessmentMetric {
    /// Returns the threshold of this metric for a badge.
    pub const fn threshold(self) -> Threshold {
        match self {
            Self::Clarity => Threshold::AtLeast(Score::hundredths(75)),
            Self::Coherence => Threshold::AtLeast(Score::hundredths(70)),
            Self::Confidence => Threshold::AtLeast(Score::hundredths(90)),
            Self::Drift => Threshold::AtMost(Score::hundredths(10)),
        }
    }

    /// Returns the value of this metric in an assessment.
    pub const fn score(self, metrics: &AssessmentMetrics) -> Score {
        match self {
            Self::Clarity => metrics.clarity,
            Self::Coherence => metrics.coherence,
            Self::Confidence => metrics.confidence,
            Self::Drift => metrics.drift,
        }
    }
}

/// An inclusive lower or upper limit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threshold {
    /// The value must be at least this score.
    AtLeast(Score),
    /// The value must be at most this score.
    AtMost(Score),
}

impl Threshold {
    /// Returns the limit, and the required relation of a value to the limit: `>=` or `<=`.
    pub const fn parts(self) -> (Score, &'static str) {
        match self {
            Self::AtLeast(bound) => (bound, ">="),
            Self::AtMost(bound) => (bound, "<="),
        }
    }

    fn is_met(self, value: Score) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }
}

/// A badge threshold that a metric of the key does not meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[schemars(rename = "Unmet")]
pub struct UnmetThreshold {
    /// The metric with the unmet threshold.
    pub metric: AssessmentMetric,
    /// The measured value of the metric. Null if the API key was never assessed.
    pub value: Option<Score>,
    /// The threshold of the metric: a minimum or a maximum, depending on `must_be`.
    pub bound: Score,
    /// The required relation of the value to the threshold: `>=` or `<=`.
    #[schemars(extend("enum" = [">=", "<="]))]
    pub must_be: &'static str,
}

impl UnmetThreshold {
    fn new(metric: AssessmentMetric, value: Option<Score>, bound: Threshold) -> Self {
        let (bound, must_be) = bound.parts();
        Self { metric, value, bound, must_be }
    }
}

/// The reason why the metrics of an API key do not allow a badge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadgeRefusal {
    /// Drift exceeds its hard limit of 0.3. In this case the other metrics are not checked.
    Drift(UnmetThreshold),
    /// All unmet thresholds, in the order of [`AssessmentMetric::ALL`].
    Thresholds(Vec<UnmetThreshold>),
}

/// Checks whether an API key meets all badge thresholds. `found` are the metrics of its newest assessment. `None` means
/// that the key was never assessed, and meets no threshold.
///
/// If drift exceeds its hard limit, the error contains only drift. Otherwise the error lists all unmet thresholds.
pub fn check_thresholds(found: Option<&AssessmentMetrics>) -> Result<(), BadgeRefusal> {
    if let Some(metrics) = found
        && !DRIFT_HARD_LIMIT.is_met(metrics.drift)
    {
        let over =
            UnmetThreshold::new(AssessmentMetric::Drift, Some(metrics.drift), DRIFT_HARD_LIMIT);
        return Err(BadgeRefusal::Drift(over));
    }
    let unmet = unmet_thresholds(found);
    if unmet.is_empty() { Ok(()) } else { Err(BadgeRefusal::Thresholds(unmet)) }
}

/// Returns all badge thresholds that an API key does not meet, in the order of [`AssessmentMetric::ALL`]. `found` are
/// the metrics of its newest assessment. `None` means that the key was never assessed, and meets no threshold.
pub fn unmet_thresholds(found: Option<&AssessmentMetrics>) -> Vec<UnmetThreshold> {
    let unmet = AssessmentMetric::ALL.into_iter().filter_map(|metric| {
        let (value, bound) = (found.map(|metrics| metric.score(metrics)), metric.threshold());
        let is_met = value.is_some_and(|value| bound.is_met(value));
        (!is_met).then(|| UnmetThreshold::new(metric, value, bound))
    });
    unmet.collect()
}

const DRIFT_HARD_LIMIT: Threshold = Threshold::AtMost(Score::hundredths(30));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn metrics(of: [&str; 4]) -> AssessmentMetrics {
        let [clarity, coherence, confidence, drift] = of.map(|text| text.parse().unwrap());
        AssessmentMetrics { clarity, coherence, confidence, drift }
    }

    /// Formats the result of [`check_thresholds`] as short text: `+` (passed), `drift …` (drift exceeds its hard
    /// limit), or the names of the metrics with unmet thresholds.
    fn verdict(of: [&str; 4]) -> String {
        match check_thresholds(Some(&metrics(of))) {
            Ok(()) => "+".to_owned(),
            Err(BadgeRefusal::Drift(over)) => {
                format!("drift {} {} {}", over.value.unwrap(), over.must_be, over.bound)
            }
            Err(BadgeRefusal::Thresholds(unmet)) => {
                let names = unmet.iter().map(|one| one.metric.as_str());
                names.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Tests each threshold at its exact value, and one step of 10^-18 below and above.
    #[test]
    fn every_threshold_is_exact() {
        for (of, expected) in [
            (["0.75", "0.70", "0.90", "0.10"], "+"),
            (["1", "1", "1", "0"], "+"),
            (["0.749999999999999999", "0.70", "0.90", "0.10"], "clarity"),
            (["0.750000000000000001", "0.70", "0.90", "0.10"], "+"),
            (["0.75", "0.699999999999999999", "0.90", "0.10"], "coherence"),
            (["0.75", "0.700000000000000001", "0.90", "0.10"], "+"),
            (["0.75", "0.70", "0.899999999999999999", "0.10"], "confidence"),
            (["0.75", "0.70", "0.900000000000000001", "0.10"], "+"),
            (["0.75", "0.70", "0.90", "0.100000000000000001"], "drift"),
            (["0.75", "0.70", "0.90", "0.099999999999999999"], "+"),
            (["0.75", "0.70", "0.90", "0.299999999999999999"], "drift"),
            (["0.75", "0.70", "0.90", "0.30"], "drift"),
            (["0.75", "0.70", "0.90", "0.300000000000000001"], "drift 0.300000000000000001 <= 0.3"),
            (["1", "1", "1", "1"], "drift 1.0 <= 0.3"),
            // The hard limit of drift takes precedence over unmet thresholds.
            (["0", "0", "0", "0.31"], "drift 0.31 <= 0.3"),
            (["0", "0", "0", "0.30"], "clarity coherence confidence drift"),
            (["0.74", "0.70", "0.89", "0.10"], "clarity confidence"),
        ] {
            assert_eq!(verdict(of), expected, "{of:?}");
        }
    }

    #[test]
    fn an_unmet_threshold_has_value_and_limit() {
        let Err(BadgeRefusal::Thresholds(unmet)) =
            check_thresholds(Some(&metrics(["0.5", "1", "1", "0.2"])))
        else {
            panic!("not denied for thresholds");
        };
        let shown = serde_json::to_value(&unmet).unwrap();
        assert_eq!(
            shown,
            serde_json::json!([
                {"metric": "clarity", "value": "0.5", "bound": "0.75", "must_be": ">="},
                {"metric": "drift", "value": "0.2", "bound": "0.1", "must_be": "<="},
            ])
        );
    }

    #[test]
    fn a_key_without_an_assessment_meets_no_threshold() {
        let Err(BadgeRefusal::Thresholds(unmet)) = check_thresholds(None) else {
            panic!("not denied")
        };
        assert!(unmet.iter().map(|one| one.metric).eq(AssessmentMetric::ALL));
        assert!(unmet.iter().all(|one| one.value.is_none()));
    }

    /// Generates scores, most of them near a threshold.
    fn score() -> impl Strategy<Value = Score> {
        let near = (0_u64..=100, -2_i64..=2).prop_map(|(hundredths, off)| {
            let units = Score::hundredths(hundredths).units().saturating_add_signed(off);
            Score::from_units(units).unwrap_or(Score::ONE)
        });
        let any = (0..=Score::ONE.units()).prop_map(|units| Score::from_units(units).unwrap());
        prop_oneof![near, any]
    }

    fn any_metrics() -> impl Strategy<Value = AssessmentMetrics> {
        let four = (score(), score(), score(), score());
        four.prop_map(|(clarity, coherence, confidence, drift)| AssessmentMetrics {
            clarity,
            coherence,
            confidence,
            drift,
        })
    }

    /// Returns the severity of the result of [`check_thresholds`]: 0 if passed, 1 if thresholds are unmet, 2 if drift
    /// exceeds its hard limit.
    fn severity(metrics: &AssessmentMetrics) -> u8 {
        match check_thresholds(Some(metrics)) {
            Ok(()) => 0,
            Err(BadgeRefusal::Thresholds(_)) => 1,
            Err(BadgeRefusal::Drift(_)) => 2,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Tests that a better value of any metric never makes the result of the check worse.
        #[test]
        fn the_verdict_is_monotone(worse in any_metrics(), other in any_metrics()) {
            let better = AssessmentMetrics {
                clarity: worse.clarity.max(other.clarity),
                coherence: worse.coherence.max(other.coherence),
                confidence: worse.confidence.max(other.confidence),
                drift: worse.drift.min(other.drift),
            };
            prop_assert!(severity(&better) <= severity(&worse), "{worse:?} {better:?}");
        }
    }
}
