//! Advice in errors about limits.

/// The way to a larger monthly allowance, for the error text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowanceAdvice {
    /// Ask the operator of the service.
    Ask {
        /// The URL of the sales contact; `None` if the service names none.
        contact: Option<String>,
    },
    /// Upgrade the plan.
    Upgrade,
}
