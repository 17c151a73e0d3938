//! The provider `quorum`: a wrapping key that is split into shares (Shamir's secret sharing). A minimum number of
//! shares (the threshold) suffices to compute the key. Fewer shares reveal nothing about the key. The key exists only
//! in the memory of processes that received enough shares.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use aes_gcm::{Aes256Gcm, KeyInit as _, aead::Aead as _};
use blahaj::{Share as Point, Sharks};
use parking_lot::Mutex;
use sealpost_wallet::{KekProvider, ProviderError, WalletError, random};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::key_of;

/// Public id of a split wrapping key: the first bytes of the key's hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuorumId([u8; ID_LEN]);

/// A share of a wrapping key: one part of a key that is split by Shamir's secret sharing. As text: `ks_` and
/// hexadecimal digits, with a checksum.
#[derive(Clone)]
pub struct Share {
    quorum: QuorumId,
    threshold: u8,
    /// The values of the secret-sharing polynomials at one point. First the x coordinate (the number of the share),
    /// then one y coordinate for each byte of the key.
    point: Zeroizing<Vec<u8>>,
}

/// A wrapping key that a process computes from shares, the parts of the split key. All clones use the same set of
/// shares.
#[derive(Clone)]
pub struct Quorum {
    id: QuorumId,
    state: Arc<Mutex<State>>,
}

enum State {
    /// The newest shares, grouped by the threshold in each share. All genuine shares have the same threshold, so forged
    /// shares with another threshold do not displace genuine ones.
    Collecting(BTreeMap<u8, Vec<Share>>),
    Complete(Zeroizing<[u8; KEY_LEN]>),
}

/// The number of shares of the split key that a process has, and the number that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of different shares that the process has.
    pub given: usize,
    /// Number of shares from which the key can be computed.
    pub needed: usize,
}

/// The reason why a share of a split key is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// The text is malformed, or its checksum or its threshold is wrong.
    #[error("the share is incomplete or mistyped: give all of it, from ks_ to its end")]
    Mistyped,
    /// The share belongs to another wrapping key.
    #[error("the share belongs to quorum:{0}, not to the quorum of this server")]
    Other(QuorumId),
    /// There are enough shares, but no combination of them gives the key of the quorum. At least one share is forged.
    #[error("the shares do not fit together, at least one is forged: give further shares")]
    Forged,
}

impl QuorumId {
    fn new(key: &[u8; KEY_LEN]) -> Self {
        Self(hash_start(&[ID_LABEL, key]))
    }
}

/// Generates a wrapping key, and splits the key into `count` shares. Any `threshold` shares suffice to compute the key.
pub fn split(threshold: u8, count: u8) -> Result<(QuorumId, Vec<Share>), WalletError> {
    let key = Zeroizing::new(random::<KEY_LEN>()?);
    let quorum = QuorumId::new(&key);
    let points = Sharks(threshold).dealer(key.as_slice()).take(count.into());
    let share = |point| Share { quorum, threshold, point: Zeroizing::new(Vec::from(&point)) };
    Ok((quorum, points.map(share).collect()))
}

impl Quorum {
    /// Creates the split key with this id. No share is known yet.
    pub fn new(id: QuorumId) -> Self {
        Self { id, state: Arc::new(Mutex::new(State::Collecting(BTreeMap::new()))) }
    }

    /// Adds a share, and returns the number of shares so far. Computes the key as soon as a combination of the shares
    /// gives the key. A repeated share is counted once. Shares after the computation are ignored.
    ///
    /// Fails with [`ShareError::Other`] if the share belongs to another quorum. Fails with [`ShareError::Forged`] if
    /// there are enough shares but no combination gives the key; further genuine shares can still give the key.
    pub fn add(&self, share: Share) -> Result<Progress, ShareError> {
        if share.quorum != self.id {
            return Err(ShareError::Other(share.quorum));
        }
        let needed = usize::from(share.threshold);
        let mut state = self.state.lock();
        let State::Collecting(by_threshold) = &mut *state else {
            return Ok(Progress { given: needed, needed });
        };
        let shares = by_threshold.entry(share.threshold).or_default();
        shares.retain(|known| known.point != share.point);
        if shares.len() >= needed.max(KEPT_MAX) {
            shares.remove(0);
        }
        let others: Vec<_> = shares.iter().collect();
        if let Some(key) = recover(self.id, &[&share], &others) {
            *state = State::Complete(key);
            return Ok(Progress { given: needed, needed });
        }
        shares.push(share);
        let given = shares.len();
        if given < needed { Ok(Progress { given, needed }) } else { Err(ShareError::Forged) }
    }

    /// Returns true if enough shares were added, so that the key is known.
    pub fn is_complete(&self) -> bool {
        matches!(*self.state.lock(), State::Complete(_))
    }

    fn cipher(&self) -> Result<Aes256Gcm, ProviderError> {
        match &*self.state.lock() {
            State::Complete(key) => Ok(Aes256Gcm::new((&**key).into())),
            State::Collecting(_) => {
                let reason = format!("{self} needs more shares");
                Err(ProviderError::Unreachable { reason })
            }
        }
    }
}

/// Computes the key from all `chosen` shares, and from as many `others` as the threshold requires in addition. Tries
/// every combination of the `others`. `None` if no combination gives the key of the quorum `wanted`.
fn recover(
    wanted: QuorumId,
    chosen: &[&Share],
    others: &[&Share],
) -> Option<Zeroizing<[u8; KEY_LEN]>> {
    let threshold = chosen.first()?.threshold;
    if chosen.len() == usize::from(threshold) {
        let points = chosen.iter().map(|share| Point::try_from(share.point.as_slice()));
        let points = points.collect::<Result<Vec<_>, _>>().ok()?;
        let secret = Zeroizing::new(Sharks(threshold).recover(&points).ok()?);
        let key = key_of(&secret)?;
        return (QuorumId::new(&key) == wanted).then_some(key);
    }
    if chosen.len() + others.len() < usize::from(threshold) {
        return None;
    }
    let (next, others) = others.split_first()?;
    recover(wanted, &[chosen, &[*next]].concat(), others)
        .or_else(|| recover(wanted, chosen, others))
}

impl KekProvider for Quorum {
    fn describe(&self) -> String {
        self.to_string()
    }

    /// Encrypts the key with AES-256-GCM. Returns the nonce, followed by the ciphertext and the tag.
    fn wrap(&self, key: &[u8; 32]) -> Result<Vec<u8>, ProviderError> {
        let nonce: [u8; NONCE_LEN] = random()?;
        let encrypted = self.cipher()?.encrypt((&nonce).into(), key.as_slice());
        encrypted.map(|encrypted| [&nonce[..], &encrypted].concat()).map_err(|_opaque| {
            ProviderError::Unreachable { reason: format!("{self}: the encryption failed") }
        })
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
        let cipher = self.cipher()?;
        let foreign = || {
            let reason = format!("{self}: another provider has wrapped the key");
            ProviderError::Refused { reason }
        };
        let (nonce, encrypted) = wrapped.split_first_chunk::<NONCE_LEN>().ok_or_else(foreign)?;
        let decrypted = cipher.decrypt(nonce.into(), encrypted).map(Zeroizing::new);
        let decrypted = decrypted.map_err(|_opaque| foreign())?;
        key_of(&decrypted).ok_or_else(foreign)
    }
}

impl PartialEq for Quorum {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Quorum {}

impl fmt::Display for Quorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "quorum:{}", self.id)
    }
}

impl Share {
    /// Returns the share as text.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(SHARE_LEN));
        bytes.push(self.threshold);
        bytes.extend_from_slice(&self.quorum.0);
        bytes.extend_from_slice(&self.point);
        let checksum: [u8; SUM_LEN] = hash_start(&[&bytes]);
        bytes.extend_from_slice(&checksum);
        let digits = Zeroizing::new(hex::encode(&*bytes));
        Zeroizing::new(format!("{PREFIX}{}", digits.as_str()))
    }
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let digits = text.trim().strip_prefix(PREFIX).ok_or(ShareError::Mistyped)?;
        // Decodes into a buffer of the final size. A vector that grows leaves a part of the share in freed memory.
        let mut bytes = Zeroizing::new([0; SHARE_LEN]);
        hex::decode_to_slice(digits, bytes.as_mut_slice())
            .map_err(|_invalid| ShareError::Mistyped)?;
        let (content, sum) = bytes.split_last_chunk().ok_or(ShareError::Mistyped)?;
        if *sum != hash_start::<SUM_LEN>(&[content]) {
            return Err(ShareError::Mistyped);
        }
        let (threshold, rest) = content.split_first().ok_or(ShareError::Mistyped)?;
        if *threshold == 0 {
            return Err(ShareError::Mistyped);
        }
        let (id, point) = rest.split_first_chunk().ok_or(ShareError::Mistyped)?;
        let point = Zeroizing::new(point.to_vec());
        Ok(Self { quorum: QuorumId(*id), threshold: *threshold, point })
    }
}

/// Returns the first bytes of the SHA-256 of these parts, for ids and checksums.
fn hash_start<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let hash = parts.iter().fold(Sha256::new(), Digest::chain_update).finalize();
    hash.first_chunk().copied().unwrap_or([0; N])
}

impl FromStr for QuorumId {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut id = [0; ID_LEN];
        hex::decode_to_slice(text, &mut id).map(|()| Self(id))
    }
}

impl fmt::Display for QuorumId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share").field("quorum", &self.quorum).finish_non_exhaustive()
    }
}

impl fmt::Debug for Quorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quorum").field("id", &self.id).finish_non_exhaustive()
    }
}

const PREFIX: &str = "ks_";
const KEY_LEN: usize = 32;
const ID_LEN: usize = 8;
const SUM_LEN: usize = 4;
/// Length of a decoded share in bytes: the threshold, the id of the quorum, the number of the share, a byte for each
/// byte of the key, and the checksum.
const SHARE_LEN: usize = 1 + ID_LEN + 1 + KEY_LEN + SUM_LEN;
const NONCE_LEN: usize = 12;
/// Maximum number of shares in memory with the same threshold. A larger threshold raises this maximum. Limits the work
/// for each new share to at most 462 combinations.
const KEPT_MAX: usize = 12;
const ID_LABEL: &[u8] = b"sealpost quorum";

#[cfg(test)]
mod tests {
    use super::*;

    fn quorum(id: QuorumId, shares: &[&Share]) -> (Quorum, Vec<Progress>) {
        let quorum = Quorum::new(id);
        let progress = shares.iter().map(|share| quorum.add((*share).clone()).unwrap()).collect();
        (quorum, progress)
    }

    #[test]
    fn any_two_of_three_shares_unwrap_and_one_does_not() {
        let (id, shares) = split(2, 3).unwrap();
        let (first, progress) = quorum(id, &[&shares[0], &shares[0], &shares[1], &shares[2]]);
        let given = |given| Progress { given, needed: 2 };
        assert_eq!(progress, [given(1), given(1), given(2), given(2)]);
        let wrapped = first.wrap(&[7; 32]).unwrap();
        for pair in [[0, 1], [0, 2], [2, 1]] {
            let (other, _) = quorum(id, &pair.map(|index| &shares[index]));
            assert_eq!(*other.unwrap(&wrapped).unwrap(), [7; 32]);
            assert!(other.check().is_ok());
        }
        for share in &shares {
            let (lonely, _) = quorum(id, &[share]);
            assert!(!lonely.is_complete());
            let error = lonely.unwrap(&wrapped).unwrap_err();
            assert!(error.to_string().contains("more shares"), "{error}");
        }
    }

    #[test]
    fn a_share_survives_its_text_and_a_typing_error_is_found() {
        let (id, shares) = split(3, 5).unwrap();
        let text = shares[4].to_text();
        let read: Share = format!(" {}\n", text.as_str()).parse().unwrap();
        assert_eq!((read.quorum, &read.point), (id, &shares[4].point));
        for (position, character) in text.char_indices() {
            let mut typed = text.to_string();
            let other = if character == '7' { "8" } else { "7" };
            typed.replace_range(position..=position, other);
            assert_eq!(typed.parse::<Share>().unwrap_err(), ShareError::Mistyped, "{typed}");
        }
        let (_, digits) = text.split_at(PREFIX.len() + 20);
        assert!(!format!("{read:?}").contains(digits.get(..10).unwrap()));
    }

    #[test]
    fn shares_of_another_key_and_without_a_threshold_are_rejected() {
        let (id, shares) = split(2, 2).unwrap();
        let (other, others) = split(2, 2).unwrap();
        assert_eq!(Quorum::new(id).add(others[0].clone()), Err(ShareError::Other(other)));
        let of_none = Share { threshold: 0, ..shares[0].clone() };
        assert_eq!(of_none.to_text().parse::<Share>().unwrap_err(), ShareError::Mistyped);
    }

    #[test]
    fn forged_shares_do_not_prevent_the_key() {
        let (id, shares) = split(3, 4).unwrap();
        let (_, others) = split(3, 30).unwrap();
        let quorum = Quorum::new(id);
        let forged = |index: usize| Share { quorum: id, ..others[index].clone() };
        for index in 0..25 {
            let given = quorum.add(forged(index)).is_ok();
            assert_eq!(given, index < 2, "{index}");
        }
        let of_two = Share { threshold: 2, ..forged(0) };
        assert_eq!(quorum.add(of_two), Ok(Progress { given: 1, needed: 2 }));
        for (share, index) in [(&shares[0], 25), (&shares[3], 26)] {
            assert_eq!(quorum.add(share.clone()), Err(ShareError::Forged));
            assert_eq!(quorum.add(forged(index)), Err(ShareError::Forged));
        }
        let complete = Progress { given: 3, needed: 3 };
        assert_eq!(quorum.add(shares[1].clone()), Ok(complete));
        assert_eq!(quorum.add(shares[1].clone()), Ok(complete));
    }
}
