//! Admits or refuses requests and messages. Requests are limited per minute and per day, messages per second and per
//! month.

use std::time::Duration;

use sealpost_domain::{AllowanceAdvice, Refusal, Timestamp, Usage, Window, WindowUse};

use crate::{
    OveragePolicy, Terms, throughput,
    window::{Span, one_more},
};

/// Relation of an admitted message to the monthly allowance of its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageAdmission {
    /// The message is beyond the monthly allowance, and the plan of the key admits such messages (overage).
    Overage,
    /// The message is within the monthly allowance.
    WithinAllowance,
}

/// Admits one request and counts it against the limits per minute and per day. If a limit is used up, counts nothing
/// and returns [`Refusal::RateLimited`]. If both limits are used up, the refusal contains the longer wait. A limit of 0
/// never admits a request.
pub fn admit_request(terms: &Terms, usage: &mut Usage, now: Timestamp) -> Result<(), Refusal> {
    let minute = Span::Minute.current(usage.minute, now);
    let day = Span::Day.current(usage.day, now);
    let waits = [
        (Window::Minute, terms.per_minute, Span::Minute.wait(minute, terms.per_minute, now)),
        (Window::Day, terms.per_day, Span::Day.wait(day, terms.per_day, now)),
    ];
    let longest = waits.into_iter().max_by_key(|(_, _, wait)| *wait);
    if let Some((window, limit, Some(retry_after))) = longest {
        return Err(Refusal::RateLimited { window, limit, retry_after });
    }
    usage.minute = one_more(minute);
    usage.day = one_more(day);
    Ok(())
}

/// Admits one message and counts it against the limits per second and per month. Counts nothing if the message is
/// refused:
/// - with [`Refusal::RateLimited`] if the limit per second is exceeded
/// - with [`Refusal::MonthlyLimitExceeded`] if only the limit per month is exceeded
///
/// Call [`admit_request`] first, which counts the request that contains the message. If the message is refused, its
/// request must not be counted either. Therefore call both functions with a copy of the usage, and keep the copy only
/// if both succeed.
pub fn admit_message(
    terms: &Terms,
    usage: &mut Usage,
    now: Timestamp,
) -> Result<MessageAdmission, Refusal> {
    let month = Span::Month.current(usage.month, now);
    let allowance = within_allowance(terms, month, now);
    let tat_us =
        throughput::admit(terms.per_second, usage.throughput_tat_us, now).map_err(|open_at| {
            // Reports the longer of two waits: until the limit per second admits a message and, if the monthly
            // allowance is used up, until the next month.
            let month_wait =
                allowance.as_ref().map_or_else(|blocked| blocked.retry_after, |_| Duration::ZERO);
            Refusal::RateLimited {
                window: Window::Second,
                limit: terms.per_second,
                retry_after: open_at.since(now).max(month_wait),
            }
        })?;
    let admitted = allowance.map_err(|Blocked { advice, retry_after }| {
        Refusal::MonthlyLimitExceeded { limit: terms.per_month, advice, retry_after }
    })?;
    usage.month = one_more(month);
    usage.throughput_tat_us = tat_us;
    Ok(admitted)
}

/// A refusal of a message beyond the monthly allowance: advice for the caller, and the time until the next month.
struct Blocked {
    advice: AllowanceAdvice,
    retry_after: Duration,
}

fn within_allowance(
    terms: &Terms,
    month: WindowUse,
    now: Timestamp,
) -> Result<MessageAdmission, Blocked> {
    let Some(retry_after) = Span::Month.wait(month, terms.per_month, now) else {
        return Ok(MessageAdmission::WithinAllowance);
    };
    match terms.overage {
        OveragePolicy::Admit => Ok(MessageAdmission::Overage),
        OveragePolicy::ContactSales => {
            Err(Blocked { advice: AllowanceAdvice::Ask { contact: None }, retry_after })
        }
        OveragePolicy::HardBlock => Err(Blocked { advice: AllowanceAdvice::Upgrade, retry_after }),
    }
}
