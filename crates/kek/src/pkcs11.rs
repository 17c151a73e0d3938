//! The provider `pkcs11`: an AES key of a hardware security module. The module is called through the PKCS #11 library
//! of its vendor.

use std::{fs, path::PathBuf};

use cryptoki::{
    context::{CInitializeArgs, CInitializeFlags, Pkcs11 as Module},
    error::{Error, RvError},
    mechanism::{Mechanism, aead::GcmParams},
    object::{Attribute, KeyType, ObjectClass, ObjectHandle},
    session::{Session, UserType},
    types::AuthPin,
};
use parking_lot::Mutex;
use sealpost_wallet::{KekProvider, ProviderError, WalletError, random};
use zeroize::Zeroizing;

use crate::key_of;

/// An AES key of a token. A token is a part of the module with its own label and PIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pkcs11 {
    /// The path of the library.
    pub(crate) library: PathBuf,
    /// The label of the token.
    pub(crate) token: String,
    /// The label of the key.
    pub(crate) key: String,
    /// The file with the PIN. The file is read for each call.
    pub(crate) pin_file: PathBuf,
}

/// The reason why a call of the PKCS #11 library failed.
enum Pkcs11Error {
    Module(Error),
    Refused(String),
    Unreachable(String),
    Wallet(WalletError),
}

impl From<Error> for Pkcs11Error {
    fn from(error: Error) -> Self {
        Self::Module(error)
    }
}

impl Pkcs11 {
    /// Logs in to the token, and calls `operation` with the key. Loads the library again for each call, so that the
    /// call sees changes of the module, such as a new key.
    fn with_key<T>(
        &self,
        operation: impl FnOnce(&Session, ObjectHandle) -> Result<T, Pkcs11Error>,
    ) -> Result<T, ProviderError> {
        // A process cannot initialize a library again before the library is finalized. Calls therefore run one at a
        // time.
        let _one_at_a_time = LIBRARIES.lock();
        let call = || {
            let module = Module::new(&self.library)?;
            module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
            let session = self.log_in(&module)?;
            let key = self.find_key(&session)?;
            operation(&session, key)
        };
        call().map_err(|fault| self.error(fault))
    }

    fn log_in(&self, module: &Module) -> Result<Session, Pkcs11Error> {
        for slot in module.get_slots_with_initialized_token()? {
            if module.get_token_info(slot)?.label().trim_end() == self.token {
                let session = module.open_ro_session(slot)?;
                let pin = fs::read_to_string(&self.pin_file).map(Zeroizing::new);
                let pin = pin.map_err(|error| {
                    let file = self.pin_file.display();
                    Pkcs11Error::Unreachable(format!("the file {file} cannot be read: {error}"))
                })?;
                session.login(UserType::User, Some(&AuthPin::from(pin.trim())))?;
                return Ok(session);
            }
        }
        Err(Pkcs11Error::Unreachable(format!("the library has no token {:?}", self.token)))
    }

    fn find_key(&self, session: &Session) -> Result<ObjectHandle, Pkcs11Error> {
        let found = session.find_objects(&[
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
            Attribute::Label(self.key.clone().into_bytes()),
        ])?;
        match *found.as_slice() {
            [key] => Ok(key),
            [] => Err(Pkcs11Error::Refused(format!("the token has no AES key {:?}", self.key))),
            _ => {
                Err(Pkcs11Error::Refused(format!("the token has several AES keys {:?}", self.key)))
            }
        }
    }

    fn error(&self, fault: Pkcs11Error) -> ProviderError {
        let of = |problem: &str| format!("{}: {problem}", self.describe());
        match fault {
            Pkcs11Error::Module(Error::Pkcs11(value, function)) if is_refusal(value) => {
                ProviderError::Refused { reason: of(&format!("{function:?}: {value:?}")) }
            }
            Pkcs11Error::Module(Error::Pkcs11(value, function)) => {
                ProviderError::Unreachable { reason: of(&format!("{function:?}: {value:?}")) }
            }
            Pkcs11Error::Module(error) => {
                ProviderError::Unreachable { reason: of(&error.to_string()) }
            }
            Pkcs11Error::Refused(reason) => ProviderError::Refused { reason: of(&reason) },
            Pkcs11Error::Unreachable(reason) => ProviderError::Unreachable { reason: of(&reason) },
            Pkcs11Error::Wallet(error) => error.into(),
        }
    }
}

/// Returns true if the module refuses the PIN, the key or the ciphertext. All other errors may be temporary.
fn is_refusal(value: RvError) -> bool {
    matches!(
        value,
        RvError::EncryptedDataInvalid
            | RvError::EncryptedDataLenRange
            | RvError::KeyFunctionNotPermitted
            | RvError::PinExpired
            | RvError::PinIncorrect
            | RvError::PinLenRange
            | RvError::PinLocked
            | RvError::UserPinNotInitialized
    )
}

impl KekProvider for Pkcs11 {
    fn describe(&self) -> String {
        format!("pkcs11:{}/{}", self.token, self.key)
    }

    /// Encrypts the key with AES-GCM. Returns the nonce, followed by the ciphertext and the tag.
    fn wrap(&self, key: &[u8; 32]) -> Result<Vec<u8>, ProviderError> {
        self.with_key(|session, object| {
            let mut nonce: [u8; NONCE_LEN] = random().map_err(Pkcs11Error::Wallet)?;
            // Some modules write a nonce of their own into `nonce`. The nonce is therefore read after the encryption.
            let encrypted = {
                let parameters = GcmParams::new(&mut nonce, ASSOCIATED_DATA, TAG_BITS.into())?;
                session.encrypt(&Mechanism::AesGcm(parameters), object, key)?
            };
            Ok([&nonce[..], &encrypted].concat())
        })
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
        self.with_key(|session, object| {
            let invalid =
                || Pkcs11Error::Refused("the wrapped key is not from this provider".to_owned());
            let (nonce, encrypted) = wrapped.split_first_chunk().ok_or_else(invalid)?;
            let mut nonce: [u8; NONCE_LEN] = *nonce;
            let parameters = GcmParams::new(&mut nonce, ASSOCIATED_DATA, TAG_BITS.into())?;
            let mechanism = Mechanism::AesGcm(parameters);
            let decrypted = Zeroizing::new(session.decrypt(&mechanism, object, encrypted)?);
            key_of(&decrypted).ok_or_else(invalid)
        })
    }
}

static LIBRARIES: Mutex<()> = Mutex::new(());
const NONCE_LEN: usize = 12;
const TAG_BITS: u64 = 128;
/// Associated data of AES-GCM. If another program encrypts with the same key but other associated data, its ciphertext
/// does not decrypt here.
const ASSOCIATED_DATA: &[u8] = b"sealpost key-encryption key";
