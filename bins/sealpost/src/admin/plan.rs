//! `sealpost admin plan set`: changes the plan of an API key. The plan determines the limits of the key.

use sealpost_domain::Plan;
use sealpost_service::Agreement;

use super::{desk::Desk, output::Output};
use crate::{
    cli::{PlanArgs, PlanCommand, PlanName},
    fault::Fault,
};

pub(super) fn run(desk: &Desk, output: Output, command: &PlanCommand) -> Result<(), Fault> {
    let PlanCommand::Set(args) = command;
    let (operator, id) = (&desk.operator, &args.api_key_id);
    let key = match chosen(args)? {
        Chosen::Agreed(agreement) => operator.agree(id, agreement)?,
        Chosen::Fixed(plan) => operator.set_plan(id, plan)?,
    };
    output.show(&key)
}

/// The plan that the arguments request.
#[derive(Debug, PartialEq, Eq)]
enum Chosen {
    /// The enterprise plan, with limits agreed for this key.
    Agreed(Agreement),
    /// A plan with fixed limits.
    Fixed(Plan),
}

/// Returns the plan that the arguments request. Rejects limits for a plan with fixed limits, and the plan enterprise if
/// limits are missing.
fn chosen(args: &PlanArgs) -> Result<Chosen, Fault> {
    let fixed = match args.plan {
        PlanName::Builder => Plan::Builder,
        PlanName::Enterprise => return enterprise(args).map(Chosen::Agreed),
        PlanName::Explorer => Plan::Explorer,
        PlanName::Sovereign => Plan::Sovereign,
    };
    if agreement(args) != Agreement::default() || args.keep_limits {
        return Err(Fault::usage(format!(
            "the plan {} has fixed limits: omit --per-..., --keep-limits and --allow-overage",
            fixed.name()
        )));
    }
    Ok(Chosen::Fixed(fixed))
}

/// Returns the limits for the plan enterprise. Rejects a missing limit unless `--keep-limits` is given, because a
/// missing limit keeps its current value, which may come from a smaller plan.
fn enterprise(args: &PlanArgs) -> Result<Agreement, Fault> {
    let given = [
        ("--per-minute", args.per_minute),
        ("--per-day", args.per_day),
        ("--per-month", args.per_month),
        ("--per-second", args.per_second),
    ];
    let missing = given.iter().filter(|(_, limit)| limit.is_none()).map(|(flag, _)| *flag);
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() || args.keep_limits {
        return Ok(agreement(args));
    }
    Err(Fault::usage(format!(
        "the plan enterprise needs {}: give the missing limits, or --keep-limits to keep the current ones",
        missing.join(", ")
    )))
}

fn agreement(args: &PlanArgs) -> Agreement {
    Agreement {
        per_minute: args.per_minute,
        per_day: args.per_day,
        per_month: args.per_month,
        per_second: args.per_second,
        allow_overage: args.allow_overage,
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::{ApiKeyId, Timestamp};

    use super::*;

    fn args(plan: PlanName) -> PlanArgs {
        let none = None;
        PlanArgs {
            api_key_id: ApiKeyId::new(Timestamp::from_millis(0), [0; 10]),
            plan,
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
        assert_eq!(chosen(&args(PlanName::Builder)).unwrap(), Chosen::Fixed(Plan::Builder));
        assert!(chosen(&PlanArgs { per_day: Some(1), ..args(PlanName::Builder) }).is_err());
        assert!(chosen(&PlanArgs { allow_overage: true, ..args(PlanName::Explorer) }).is_err());
        assert!(chosen(&PlanArgs { keep_limits: true, ..args(PlanName::Explorer) }).is_err());
    }

    #[test]
    fn the_enterprise_plan_takes_all_limits_or_keeps_the_others_on_request() {
        let none = args(PlanName::Enterprise);
        assert!(chosen(&none).is_err());
        let three = PlanArgs { per_day: Some(2), per_month: Some(3), per_second: Some(4), ..none };
        let fault = chosen(&three).unwrap_err().to_string();
        assert!(fault.starts_with("the plan enterprise needs --per-minute: "), "{fault}");
        let all = PlanArgs { per_minute: Some(1), ..three };
        assert!(matches!(chosen(&all).unwrap(), Chosen::Agreed(_)));
        let none = PlanArgs { keep_limits: true, ..args(PlanName::Enterprise) };
        assert_eq!(chosen(&none).unwrap(), Chosen::Agreed(Agreement::default()));
        let given = PlanArgs { per_day: Some(2), per_second: Some(4), allow_overage: true, ..none };
        let agreed = Agreement {
            per_minute: None,
            per_day: Some(2),
            per_month: None,
            per_second: Some(4),
            allow_overage: true,
        };
        assert_eq!(chosen(&given).unwrap(), Chosen::Agreed(agreed));
    }
}
