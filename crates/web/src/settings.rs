//! The settings of the web pages.

/// The settings of the web pages.
#[derive(Debug, Clone)]
pub struct WebSettings {
    /// The maximum number of dashboard pages per minute and account. A form counts as four pages. 0 turns the limit
    /// off.
    pub dashboard_per_minute: u32,
    /// The address for larger limits, an `https:` or `mailto:` URL. The dashboard shows it when a limit is nearly used.
    /// `None` shows no address.
    pub sales_contact: Option<String>,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self { dashboard_per_minute: 120, sales_contact: None }
    }
}
