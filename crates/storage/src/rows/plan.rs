//! The columns that store the plan of an API key. Each enterprise limit has its own column, so that the database can
//! check the limit, and sends can read the limit without parsing.

use diesel::prelude::*;
use sealpost_domain::{EnterpriseTerms, Plan};

use crate::{connection::query_error::QueryError, rows::columns::number, schema::api_keys as k};

/// The plan columns of the table `api_keys`.
#[derive(Debug, AsChangeset, Insertable, Queryable, Selectable)]
#[diesel(table_name = k, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct PlanRow {
    plan: String,
    enterprise_per_minute: Option<i64>,
    enterprise_per_day: Option<i64>,
    enterprise_per_month: Option<i64>,
    enterprise_per_second: Option<i64>,
    enterprise_allow_overage: Option<bool>,
}

impl From<Plan> for PlanRow {
    fn from(plan: Plan) -> Self {
        let terms = match plan {
            Plan::Enterprise(terms) => Some(terms),
            Plan::Builder | Plan::Explorer | Plan::Sovereign => None,
        };
        Self {
            plan: plan.name().to_owned(),
            enterprise_per_minute: terms.map(|terms| terms.per_minute.into()),
            enterprise_per_day: terms.map(|terms| terms.per_day.into()),
            enterprise_per_month: terms.map(|terms| terms.per_month.into()),
            enterprise_per_second: terms.map(|terms| terms.per_second.into()),
            enterprise_allow_overage: terms.map(|terms| terms.allow_overage),
        }
    }
}

impl PlanRow {
    pub(crate) fn read(self) -> Result<Plan, QueryError> {
        let simple = [Plan::Builder, Plan::Explorer, Plan::Sovereign];
        if let Some(plan) = simple.into_iter().find(|plan| plan.name() == self.plan) {
            return Ok(plan);
        }
        let count = |column: Option<i64>| number(column.unwrap_or(-1), "plan");
        let terms = Plan::Enterprise(EnterpriseTerms {
            per_minute: count(self.enterprise_per_minute)?,
            per_day: count(self.enterprise_per_day)?,
            per_month: count(self.enterprise_per_month)?,
            per_second: count(self.enterprise_per_second)?,
            allow_overage: self.enterprise_allow_overage.ok_or(QueryError::Corrupt("plan"))?,
        });
        if terms.name() == self.plan { Ok(terms) } else { Err(QueryError::Corrupt("plan")) }
    }
}
