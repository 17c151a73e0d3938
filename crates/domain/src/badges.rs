//! Badges (signed credentials about API keys), the assessments and scores that they are based on, and compliance
//! circuits (the sets of checks that jurisdictions require).

pub(crate) mod assessment;
pub(crate) mod badge;
pub(crate) mod circuit;
pub(crate) mod score;
