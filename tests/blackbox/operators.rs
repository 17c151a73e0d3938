//! What operators decide: compliance, badges, governance, and the audit trail of it.

mod audit;
mod badges;
mod compliance;
mod governance;
