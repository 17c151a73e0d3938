//! Formats accounts, API keys and reports on closed accounts as text, and names the columns of their lists.

use serde_json::Value;

use super::output::{field, lines, row};

/// Formats the report on a closed or erased account: first its fields, one per line, then the deleted data, and then
/// the remaining data with the reasons.
pub(super) fn closing_report(report: &Value) -> String {
    let (fields, [deleted, kept]) = split(report, ["deleted", "kept"]);
    let kept = each(&kept, |entry| {
        let [data, until, reason] = ["data", "until", "reason"].map(|name| field(entry, name));
        format!("  {data} (until: {until}): {reason}")
    });
    format!("{fields}deleted\n{}kept\n{kept}", lines(&deleted))
}

/// Formats an account: its fields, one per line, then one line for each governance decision and each of its keys.
pub(super) fn account_text(account: &Value) -> String {
    let (fields, [governance, keys]) = split(account, ["governance", "keys"]);
    format!("{fields}{}{}", decisions(&governance), each(&keys, |key| row(key, &KEY_COLUMNS)))
}

/// Formats a key: its fields, one per line, then its usage, governance and webhooks.
pub(super) fn key_text(key: &Value) -> String {
    let (fields, [usage, governance, webhooks]) = split(key, ["usage", "governance", "webhooks"]);
    let usage = usage.as_object().into_iter().flatten().map(|(window, values)| {
        let [used, limit, resets] = ["used", "limit", "resets_at"].map(|name| field(values, name));
        format!("usage {window:<8}  {used} of {limit}, resets at {resets}\n")
    });
    let usage: String = usage.collect();
    let webhooks = each(&webhooks, |it| format!("webhook         {}", row(it, &WEBHOOK_COLUMNS)));
    format!("{fields}{usage}{}{webhooks}", decisions(&governance))
}

/// Formats the open governance decisions of a key or an account, one per line.
fn decisions(governance: &Value) -> String {
    let columns = ["kind", "status", "since", "reason"];
    let reasons = governance.get("reasons").unwrap_or(&Value::Null);
    each(reasons, |reason| format!("governance      {}", row(reason, &columns)))
}

/// Removes the named fields from a view. Returns the other fields as text, and the values of the removed fields.
fn split<const N: usize>(view: &Value, names: [&str; N]) -> (String, [Value; N]) {
    let mut view = view.clone();
    let mut remove = |name| view.as_object_mut().and_then(|fields| fields.remove(name));
    let removed = names.map(|name| remove(name).unwrap_or_default());
    (lines(&view), removed)
}

/// Formats each entry of a list as one line.
fn each(list: &Value, line: impl Fn(&Value) -> String) -> String {
    list.as_array().into_iter().flatten().map(|entry| line(entry) + "\n").collect()
}

/// The JSON fields of an API key that a list shows. The first field is also the cursor of the next page.
pub(super) const KEY_COLUMNS: [&str; 7] =
    ["api_key_id", "account_id", "status", "plan", "handle", "created_at", "label"];
pub(super) const WEBHOOK_COLUMNS: [&str; 6] =
    ["webhook_id", "api_key_id", "status", "disabled_reason", "created_at", "url"];
