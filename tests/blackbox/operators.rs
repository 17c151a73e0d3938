//! Operator decisions: compliance, badges, governance, and their audit trail.

mod audit;
mod badges;
mod compliance;
mod governance;
mod lists;
