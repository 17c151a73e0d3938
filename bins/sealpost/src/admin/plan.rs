//! `sealpost admin plan set`: changes the plan of an API key. The plan determines the limits of the key.

use sealpost_domain::Plan;
use sealpost_service::{Agreement, Operator};

use super::output::Output;
use crate::{cli::PlanArgs, command_error::CommandError};

pub(super) fn set(
    operator: &Operator,
    output: Output,
    args: &PlanArgs,
) -> Result<(), CommandError> {
    let (fixed, agreement) = chosen(args)?;
    output.show(&match fixed {
        Some(plan) => operator.set_plan(&args.api_key_id, plan)?,
        None => operator.agree(&args.api_key_id, agreement)?,
    })
}

/// Returns the requested plan if its limits are fixed, or `None` for the plan enterprise, and the requested limits.
/// Rejects limits for a plan with fixed limits. Rejects the plan enterprise if a limit is missing, unless
/// `--keep-limits` is given: a missing limit keeps its current value, which may come from a smaller plan.
fn chosen(args: &PlanArgs) -> Result<(Option<Plan>, Agreement), CommandError> {
    let &PlanArgs { per_minute, per_day, per_month, per_second, allow_overage, .. } = args;
    let agreement = Agreement { per_minute, per_day, per_month, per_second, allow_overage };
    // An error means that a plan with fixed limits was given limits. The command line admits names of plans only.
    let fixed = agreement.plan_named(&args.plan).ok();
    let fixed = fixed.filter(|fixed| fixed.is_none() || !args.keep_limits).ok_or_else(|| {
        CommandError::usage(format!(
            "the plan {} has fixed limits: omit --per-..., --keep-limits and --allow-overage",
            args.plan
        ))
    })?;
    let given = [
        ("--per-minute", per_minute),
        ("--per-day", per_day),
        ("--per-month", per_month),
        ("--per-second", per_second),
    ];
    let missing = given.iter().filter(|(_, limit)| limit.is_none()).map(|(flag, _)| *flag);
    let missing: Vec<_> = missing.collect();
    if fixed.is_some() || missing.is_empty() || args.keep_limits {
        return Ok((fixed, agreement));
    }
    Err(CommandError::usage(format!(
        "the plan enterprise needs {}: give the missing limits, or --keep-limits to keep the current ones",
        missing.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use sealpost_domain::{ApiKeyId, Timestamp};

    use super::*;

    fn args(plan: &str) -> PlanArgs {
        let none = None;
        PlanArgs {
            api_key_id: ApiKeyId::new(Timestamp::from_millis(0), [0; 10]),
            plan: plan.to_owned(),
            per_minute: none,
            per_day: none,
            per_month: none,
            per_second: none,
            keep_limits: false,
            allow_overage: false,
        }
    }

    #[test]
    fn a_plan_with_numbers_of_its_own_takes_none() {
        let fixed = (Some(Plan::Builder), Agreement::default());
        assert_eq!(chosen(&args("builder")).unwrap(), fixed);
        assert!(chosen(&PlanArgs { per_day: Some(1), ..args("builder") }).is_err());
        assert!(chosen(&PlanArgs { allow_overage: true, ..args("explorer") }).is_err());
        assert!(chosen(&PlanArgs { keep_limits: true, ..args("explorer") }).is_err());
    }

    #[test]
    fn the_enterprise_plan_takes_all_limits_or_keeps_the_others_on_request() {
        let none = args("enterprise");
        assert!(chosen(&none).is_err());
        let three = PlanArgs { per_day: Some(2), per_month: Some(3), per_second: Some(4), ..none };
        let fault = chosen(&three).unwrap_err().to_string();
        assert!(fault.starts_with("the plan enterprise needs --per-minute: "), "{fault}");
        let all = PlanArgs { per_minute: Some(1), ..three };
        assert!(matches!(chosen(&all).unwrap(), (None, _)));
        let none = PlanArgs { keep_limits: true, ..args("enterprise") };
        assert_eq!(chosen(&none).unwrap(), (None, Agreement::default()));
        let given = PlanArgs { per_day: Some(2), per_second: Some(4), allow_overage: true, ..none };
        let agreed = Agreement {
            per_minute: None,
            per_day: Some(2),
            per_month: None,
            per_second: Some(4),
            allow_overage: true,
        };
        assert_eq!(chosen(&given).unwrap(), (None, agreed));
    }
}
