//! Signing secrets that retire: a list in one value, `[until, 64 bits][length, 32 bits][encrypted secret]` each, so that
//! the send path reads them with the webhook.

use diesel::prelude::*;
use sealpost_domain::{RetiringSecret, Timestamp, WebhookId, Wrapped};

use crate::{
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    locking::{Locked, RowLock},
    schema::webhooks as w,
};

/// As it was stored.
pub(crate) fn read(list: Option<&[u8]>) -> Result<Vec<RetiringSecret>, Fault> {
    let mut rest = list.unwrap_or_default();
    let mut secrets = Vec::new();
    while !rest.is_empty() {
        let (secret, after) = first(rest).ok_or(Fault::Corrupt("retiring secret"))?;
        secrets.push(secret);
        rest = after;
    }
    Ok(secrets)
}

fn first(list: &[u8]) -> Option<(RetiringSecret, &[u8])> {
    let (until, rest) = list.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (secret, rest) = rest.split_at_checked(length)?;
    let until = Timestamp::from_millis(i64::from_be_bytes(*until));
    Some((RetiringSecret { secret: Wrapped(secret.to_vec()), until }, rest))
}

/// As it is stored, and when the first of them ends; `None` where there are none.
pub(crate) fn write(secrets: &[RetiringSecret]) -> Result<(Option<Vec<u8>>, Option<i64>), Fault> {
    let mut list = Vec::new();
    for RetiringSecret { secret, until } in secrets {
        let length: u32 = columns::number(secret.0.len(), "retiring secret")?;
        list.extend(until.as_millis().to_be_bytes());
        list.extend(length.to_be_bytes());
        list.extend(&secret.0);
    }
    let first_end = secrets.iter().map(|secret| secret.until.as_millis()).min();
    Ok(((!list.is_empty()).then_some(list), first_end))
}

/// Replaces a secret among those that retire.
pub(crate) fn replace(
    conn: &mut AnyConnection,
    id: &WebhookId,
    old: &Wrapped,
    new: &Wrapped,
) -> Result<bool, Fault> {
    let webhook = w::table.find(id.to_string());
    let list = webhook.clone().select(w::retiring);
    let list = on_backend!(conn, c => {
        Locked::new(list, RowLock::Alone).get_result::<Option<Vec<u8>>>(c).optional()
    })?;
    let mut secrets = read(list.flatten().as_deref())?;
    let Some(same) = secrets.iter_mut().find(|secret| secret.secret == *old) else {
        return Ok(false);
    };
    same.secret = new.clone();
    let (list, _) = write(&secrets)?;
    diesel::update(webhook).set(w::retiring.eq(list)).execute(conn)?;
    Ok(true)
}

/// Drops the secrets that have retired by `now`, of `limit` webhooks at the most.
pub(crate) fn purge(conn: &mut AnyConnection, now: Timestamp, limit: i64) -> Result<u64, Fault> {
    let retired = w::table
        .filter(w::retiring_until.le(now.as_millis()))
        .order(w::id)
        .limit(limit)
        .select((w::id, w::retiring));
    let rows: Vec<(String, Option<Vec<u8>>)> =
        on_backend!(conn, c => Locked::new(retired, RowLock::Alone).load(c))?;
    for (id, list) in &rows {
        let mut secrets = read(list.as_deref())?;
        secrets.retain(|secret| secret.until > now);
        let (list, until) = write(&secrets)?;
        diesel::update(w::table.find(id))
            .set((w::retiring.eq(list), w::retiring_until.eq(until)))
            .execute(conn)?;
    }
    columns::number(rows.len(), "number of webhooks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_back_and_what_is_no_list_is_corrupt() {
        let secret = |byte: u8, until| RetiringSecret {
            secret: Wrapped(vec![byte; usize::from(byte)]),
            until: Timestamp::from_millis(until),
        };
        let secrets = [secret(61, 9), secret(0, -5), secret(255, i64::MAX)];
        let (list, first_end) = write(&secrets).unwrap();
        let list = list.unwrap();
        assert_eq!((read(Some(&list)).unwrap(), first_end), (secrets.to_vec(), Some(-5)));
        assert_eq!(write(&[]).unwrap(), (None, None));
        assert!(read(None).unwrap().is_empty());
        for cut in [1, 11, 12, list.len() - 1] {
            assert!(matches!(read(list.get(..cut)), Err(Fault::Corrupt(_))), "{cut}");
        }
    }
}
