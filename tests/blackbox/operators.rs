//! Tests of operator decisions: compliance, badges, governance, and their audit trail.

mod admin_api;
mod audit;
mod badges;
mod compliance;
mod console;
mod governance;
mod lists;
