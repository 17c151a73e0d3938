//! The settings of the web pages.

/// The settings of the web pages.
#[derive(Debug, Clone, Copy)]
pub struct WebSettings {
    /// The maximum number of dashboard pages per minute and account. A form counts as four pages. 0 turns the limit
    /// off.
    pub dashboard_per_minute: u32,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self { dashboard_per_minute: 120 }
    }
}
