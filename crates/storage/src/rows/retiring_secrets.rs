//! The list of a webhook's retiring secrets, encoded in one column value. A retiring secret is a former signing secret,
//! which still signs until it expires.
//!
//! Each entry is `[until, 64 bits][length, 32 bits][encrypted secret]`. All entries are in one value, so that the send
//! path reads them with the webhook.

use sealpost_domain::{RetiringSecret, Timestamp, Wrapped};

use crate::{connection::query_error::QueryError, rows::columns};

/// Decodes the stored list of retiring secrets (former signing secrets). `None` is decoded as an empty list.
pub(crate) fn read(list: Option<&[u8]>) -> Result<Vec<RetiringSecret>, QueryError> {
    let mut rest = list.unwrap_or_default();
    let mut secrets = Vec::new();
    while !rest.is_empty() {
        let (secret, after) = first(rest).ok_or(QueryError::Corrupt("retiring secret"))?;
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

/// Encodes a list of retiring secrets (former signing secrets). Returns the list and the earliest expiry in
/// milliseconds. Both are `None` for an empty list.
pub(crate) fn write(
    secrets: &[RetiringSecret],
) -> Result<(Option<Vec<u8>>, Option<i64>), QueryError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_back_and_a_truncated_list_is_corrupt() {
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
            assert!(matches!(read(list.get(..cut)), Err(QueryError::Corrupt(_))), "{cut}");
        }
    }
}
