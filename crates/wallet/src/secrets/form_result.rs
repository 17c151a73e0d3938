//! Encrypts the results of the dashboard's forms. A browser that sends a form again gets the stored result of the first
//! submission, which may contain secrets. The key is derived from the id of the form. The database stores only a hash
//! of this id, so a copy of the database does not reveal the secrets.

use zeroize::Zeroizing;

use crate::{
    WalletError,
    entropy::random,
    keys::{NONCE_LEN, decrypt, derivation::form_result_seed, encrypt},
};

/// Encrypts the result of a form. Returns the nonce, followed by the AES-256-GCM ciphertext.
pub fn seal_form_result(form_id: &str, result: &[u8]) -> Result<Vec<u8>, WalletError> {
    let key = form_result_seed(form_id)?;
    let nonce = random::<NONCE_LEN>()?;
    let sealed = encrypt(&key, &nonce, &[], result).ok_or(WalletError::NotSealable)?;
    Ok([nonce.as_slice(), &sealed].concat())
}

/// Decrypts the result of a form. `None` if the result belongs to another form, or was changed.
pub fn open_form_result(form_id: &str, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, ciphertext) = sealed.split_first_chunk()?;
    let key = form_result_seed(form_id).ok()?;
    decrypt(&key, nonce, &[], ciphertext)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_form_opens_its_result() {
        let sealed = seal_form_result("fm_1", b"ls_secret").unwrap();
        assert_eq!(open_form_result("fm_1", &sealed).unwrap().as_slice(), b"ls_secret");
        assert_eq!(open_form_result("fm_2", &sealed), None);
        assert_eq!(open_form_result("fm_1", &sealed[1..]), None);
        assert_eq!(open_form_result("fm_1", b""), None);
        assert_ne!(sealed, seal_form_result("fm_1", b"ls_secret").unwrap());
    }
}
