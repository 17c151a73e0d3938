//! `sealpost admin plan`.

use sealpost_domain::{EnterpriseTerms, Plan};

use super::{Desk, Output};
use crate::{
    cli::{PlanArgs, PlanCommand, PlanName},
    fault::Fault,
};

pub(super) fn run(desk: &Desk<'_>, output: Output, command: &PlanCommand) -> Result<(), Fault> {
    let PlanCommand::Set(args) = command;
    let plan = plan_of(args)?;
    output.show(&desk.operator.set_plan(&args.api_key_id, plan)?)
}

/// The numbers belong to enterprise, and enterprise needs all of them.
fn plan_of(args: &PlanArgs) -> Result<Plan, Fault> {
    let fixed = match args.plan {
        PlanName::Builder => Plan::Builder,
        PlanName::Enterprise => return terms_of(args).map(Plan::Enterprise),
        PlanName::Explorer => Plan::Explorer,
        PlanName::Sovereign => Plan::Sovereign,
    };
    let numbers = [args.per_minute, args.per_day, args.per_month, args.per_second];
    if args.allow_overage || numbers.iter().any(Option::is_some) {
        return Err(Fault::usage(format!(
            "the plan {} has numbers of its own; leave out --per-... and --allow-overage",
            fixed.name()
        )));
    }
    Ok(fixed)
}

fn terms_of(args: &PlanArgs) -> Result<EnterpriseTerms, Fault> {
    match (args.per_minute, args.per_day, args.per_month, args.per_second) {
        (Some(per_minute), Some(per_day), Some(per_month), Some(per_second)) => {
            let allow_overage = args.allow_overage;
            Ok(EnterpriseTerms { per_minute, per_day, per_month, per_second, allow_overage })
        }
        _ => Err(Fault::usage(
            "the plan enterprise needs --per-minute, --per-day, --per-month and --per-second",
        )),
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
            allow_overage: false,
        }
    }

    #[test]
    fn a_plan_with_numbers_of_its_own_takes_none() {
        assert_eq!(plan_of(&args(PlanName::Builder)).unwrap(), Plan::Builder);
        assert!(plan_of(&PlanArgs { per_day: Some(1), ..args(PlanName::Builder) }).is_err());
        assert!(plan_of(&PlanArgs { allow_overage: true, ..args(PlanName::Explorer) }).is_err());
    }

    #[test]
    fn enterprise_needs_every_number() {
        let whole = PlanArgs {
            per_minute: Some(1),
            per_day: Some(2),
            per_month: Some(3),
            per_second: Some(4),
            ..args(PlanName::Enterprise)
        };
        let terms = EnterpriseTerms {
            per_minute: 1,
            per_day: 2,
            per_month: 3,
            per_second: 4,
            allow_overage: false,
        };
        assert_eq!(plan_of(&whole).unwrap(), Plan::Enterprise(terms));
        assert!(plan_of(&PlanArgs { per_second: None, ..whole }).is_err());
    }
}
