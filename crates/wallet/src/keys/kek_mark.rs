//! Marks of key-encryption keys. A mark is a known text, encrypted under one key version and stored in the database. If
//! the mark does not decrypt at start-up, the key is wrong or missing.

use sealpost_domain::Wrapped;

use super::{keyring::Keyring, wrapping::StorageLocation};
use crate::WalletError;

impl Keyring {
    /// Encrypts a known text under the key of this version. The result is the mark, which the caller stores in the
    /// database. At start-up, the mark shows whether the key file still contains the same key.
    pub fn mark(&self, version: u32) -> Result<Wrapped, WalletError> {
        self.wrap_under(version, &location(&version.to_be_bytes()), MARK)
    }

    /// Checks that the key with this version encrypted the known text in `mark`. Fails with
    /// [`WalletError::NotDecryptable`] if another key encrypted the text, and with [`WalletError::UnknownKekVersion`]
    /// if the keyring has no key with this version.
    pub fn check_mark(&self, version: u32, mark: &Wrapped) -> Result<(), WalletError> {
        self.require(version)?;
        let text = self.unwrap(&location(&version.to_be_bytes()), mark)?;
        if text.as_slice() == MARK { Ok(()) } else { Err(WalletError::NotDecryptable) }
    }
}

fn location(version: &[u8; 4]) -> StorageLocation<'_> {
    StorageLocation { table: "kek_marks", row: version, column: "mark" }
}

const MARK: &[u8] = b"sealpost/v1/kek-mark";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reveals_a_wrong_and_a_missing_key() {
        let keyring = Keyring::from_bytes(&[(1, 1), (2, 2)]);
        let mark = keyring.mark(1).unwrap();
        assert_eq!(keyring.check_mark(1, &mark), Ok(()));
        assert_eq!(keyring.check_mark(2, &mark), Err(WalletError::NotDecryptable));
        let replaced = Keyring::from_bytes(&[(1, 9)]);
        assert_eq!(replaced.check_mark(1, &mark), Err(WalletError::NotDecryptable));
        let missing = WalletError::UnknownKekVersion { version: 1 };
        let only_the_newest = Keyring::from_bytes(&[(2, 2)]);
        assert_eq!(only_the_newest.check_mark(1, &mark), Err(missing));
        assert_eq!(only_the_newest.mark(1).map(|_| ()), Err(missing));
    }
}
