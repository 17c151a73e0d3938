//! Encodes status lists of badges as Bitstring Status List v1.0 (W3C): one bit per badge, most significant bit first.
//! The list is compressed with gzip and encoded as multibase base64url (`u…`).

use std::io::Write as _;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use flate2::{Compression, write::GzEncoder};
use sealpost_domain::StatusPosition;

use crate::WalletError;

/// Returns the member `encodedList` of a status list in which the bits at these positions are set. Fails with
/// [`WalletError::NotEncodable`] if a position is outside the list.
pub fn encode_status_list(set: &[u64]) -> Result<String, WalletError> {
    let mut bits = vec![0_u8; LIST_BYTES];
    for index in set {
        let byte = usize::try_from(index / 8).ok().and_then(|place| bits.get_mut(place));
        *byte.ok_or(WalletError::NotEncodable)? |= 0x80 >> (index % 8);
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let written = gzip.write_all(&bits).and_then(|()| gzip.finish());
    let compressed = written.ok().ok_or(WalletError::NotEncodable)?;
    Ok(format!("u{}", URL_SAFE_NO_PAD.encode(compressed)))
}

#[expect(clippy::as_conversions, reason = "16384, in a constant")]
const LIST_BYTES: usize = (StatusPosition::LIST_LEN / 8) as usize;

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    fn decode(list: &str) -> Vec<u8> {
        let compressed = URL_SAFE_NO_PAD.decode(list.strip_prefix('u').unwrap()).unwrap();
        let mut bits = Vec::new();
        GzDecoder::new(compressed.as_slice()).read_to_end(&mut bits).unwrap();
        bits
    }

    /// Tests the example of the W3C recommendation, a list in which no bit is set.
    #[test]
    fn the_example_of_the_recommendation_is_the_empty_list() {
        let example = "uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA";
        assert_eq!(decode(example), decode(&encode_status_list(&[]).unwrap()));
        assert_eq!(decode(example), vec![0; 16_384]);
    }

    #[test]
    fn the_first_bit_is_the_highest_of_the_first_byte() {
        let bits = decode(&encode_status_list(&[0, 9, 15, 131_071]).unwrap());
        assert_eq!((bits[0], bits[1], bits[16_383]), (0b1000_0000, 0b0100_0001, 1));
        assert_eq!(bits.iter().map(|byte| byte.count_ones()).sum::<u32>(), 4);
    }

    #[test]
    fn a_bit_outside_the_list_is_rejected() {
        assert_eq!(encode_status_list(&[131_072]), Err(WalletError::NotEncodable));
    }
}
