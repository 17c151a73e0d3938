//! Finds and reads the key-encryption keys. The keys are in a key file, in a text of the settings, or in the database.
//! In the database, the keys are wrapped (encrypted) by a key provider.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use sealpost_domain::Wrapped;
use sealpost_storage::{Database, WrappedKek};
use sealpost_wallet::{KekProvider, Keyring, ProviderError};
use zeroize::Zeroizing;

use super::new_line;
use crate::{
    clock::SystemClock,
    embedded::data_folder,
    error::{NodeError, database_error},
    files::{new_file, regular_file, secret_file},
    settings::{DatabaseSettings, DatabaseUrl, KeySettings},
};

/// The place from which the key-encryption keys are read.
#[derive(Debug)]
pub enum KeySource {
    /// A key file. It is created if it is missing and no key has been used with the database.
    File(PathBuf),
    /// A provider that has wrapped the keys. The database has the wrapped keys.
    Provider(Arc<dyn KekProvider>),
    /// The keys themselves, as text in the format of a key file.
    Text(Zeroizing<String>),
}

impl KeySource {
    /// Chooses the source from which nodes and operator commands read the keys. If the settings name no source, chooses
    /// the file `kek` in the data folder. Fails if the settings name several sources, or if they name none and the
    /// database is PostgreSQL.
    pub fn new(settings: &KeySettings, database: &DatabaseSettings) -> Result<Self, NodeError> {
        match (&settings.provider, &settings.text, &settings.file) {
            (None, Some(_), Some(_)) => {
                Err(NodeError::contradiction("give either --kek-file or SEALPOST_KEK, not both"))
            }
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => Err(NodeError::contradiction(
                "give either --kek-provider or the keys themselves (--kek-file, SEALPOST_KEK), not both",
            )),
            (Some(provider), None, None) => {
                Ok(Self::Provider(provider.open(Arc::new(SystemClock))))
            }
            (None, Some(text), None) => Ok(Self::Text(text.clone())),
            (None, None, Some(file)) => Ok(Self::File(file.clone())),
            (None, None, None) => match database.database_url() {
                DatabaseUrl::Postgres(_) => Err(no_keys()),
                DatabaseUrl::Sqlite(_) => Ok(Self::File(database.data_dir.join("kek"))),
            },
        }
    }

    /// Returns the path of the key file; `None` if the keys are elsewhere.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(file) => Some(file),
            Self::Provider(_) | Self::Text(_) => None,
        }
    }

    /// Names the source, without secrets.
    pub fn describe(&self) -> String {
        match self {
            Self::File(file) => format!("file:{}", file.display()),
            Self::Provider(provider) => provider.describe(),
            Self::Text(_) => "SEALPOST_KEK".to_owned(),
        }
    }

    /// Checks the source without the database. Fails if the key provider cannot wrap and unwrap a key, or if the keys
    /// in a file or text are not readable.
    pub(crate) fn check(&self) -> Result<(), NodeError> {
        match self {
            Self::Provider(provider) => provider.check().map_err(provider_error),
            Self::File(_) | Self::Text(_) => self.read(&[]).map(drop),
        }
    }

    /// Reads the key-encryption keys of a database. Returns `None` if the key file is missing, or if the key provider
    /// has wrapped no key.
    pub fn read_for(&self, database: &Database) -> Result<Option<Keyring>, NodeError> {
        match self {
            Self::Provider(_) => self.read(&database.wrapped_keks().map_err(database_error)?),
            Self::File(_) | Self::Text(_) => self.read(&[]),
        }
    }

    /// Reads the key-encryption keys. `wrapped` are the keys that providers have wrapped in the database. Returns
    /// `None` if the key file is missing, or if the key provider has wrapped no key.
    pub(crate) fn read(&self, wrapped: &[WrappedKek]) -> Result<Option<Keyring>, NodeError> {
        match self {
            Self::File(file) if is_missing(file) => Ok(None),
            Self::File(file) => read_file(file).map(Some),
            Self::Provider(provider) => {
                let own = own_keys(provider.as_ref(), wrapped);
                if own.is_empty() {
                    return Ok(None);
                }
                let own: Vec<_> =
                    own.into_iter().map(|kek| (kek.version, kek.wrapped.0.as_slice())).collect();
                Keyring::unwrap_with(provider.as_ref(), &own).map(Some).map_err(provider_error)
            }
            Self::Text(text) => {
                let keyring = Keyring::parse(regular_file::without_mark(text));
                keyring
                    .map(Some)
                    .map_err(|fault| NodeError::caused("SEALPOST_KEK is not a list of keys", fault))
            }
        }
    }

    /// Reads the key-encryption keys before the database is migrated. Creates a missing key file if no key has been
    /// used with the database. Returns `None` if the key provider has wrapped no key. A wrapped key can be created only
    /// after the migration, because a new database has no table for it.
    pub(crate) fn read_before_migration(
        &self,
        database: &Database,
    ) -> Result<Option<Keyring>, NodeError> {
        match self {
            Self::Provider(_) => {
                let keyring = self.read_for(database)?;
                if keyring.is_none() {
                    self.refuse_foreign(database)?;
                }
                Ok(keyring)
            }
            Self::File(_) | Self::Text(_) => self.read_or_create(database).map(Some),
        }
    }

    /// Reads the key-encryption keys for a database. If there is no key, creates one, in a key file or wrapped by the
    /// key provider. Fails instead if a key has been used with the database, because a new key could not decrypt the
    /// stored secrets.
    pub(crate) fn read_or_create(&self, database: &Database) -> Result<Keyring, NodeError> {
        match (self.read_for(database)?, self) {
            (Some(keyring), _) => Ok(keyring),
            (None, Self::Provider(provider)) => {
                self.refuse_foreign(database)?;
                // If another node inserts its key first, the key of that node stays.
                insert_new(provider.as_ref(), FIRST_VERSION, database)?;
                self.read_for(database)?.ok_or_else(no_keys)
            }
            (None, Self::File(file)) => {
                refuse_used(file, database)?;
                create(file)?;
                read_file(file)
            }
            (None, Self::Text(_)) => Err(no_keys()),
        }
    }

    /// Fails if the database has used keys of another source. Call only if this provider has wrapped no key of the
    /// database.
    fn refuse_foreign(&self, database: &Database) -> Result<(), NodeError> {
        if !database.has_kek_mark().map_err(database_error)? {
            return Ok(());
        }
        let mut owners: Vec<_> = database.wrapped_keks().map_err(database_error)?;
        owners.dedup_by(|a, b| a.provider == b.provider);
        let owners: Vec<_> = owners.into_iter().map(|kek| kek.provider).collect();
        let place = if owners.is_empty() { "a key file".to_owned() } else { owners.join(", ") };
        Err(NodeError::new(format!(
            "the provider {} has wrapped no key of this database, whose keys are in {place}: run `sealpost admin kek \
             move --to PROVIDER` first",
            self.describe()
        )))
    }
}

/// Returns the keys that this provider has wrapped.
pub(crate) fn own_keys<'k>(
    provider: &dyn KekProvider,
    wrapped: &'k [WrappedKek],
) -> Vec<&'k WrappedKek> {
    let name = provider.describe();
    wrapped.iter().filter(|kek| kek.provider == name).collect()
}

/// Generates a key of this version, and stores it wrapped by the provider. Returns `false` and changes nothing if the
/// database already has a wrapped key of this provider and version.
pub(crate) fn insert_new(
    provider: &dyn KekProvider,
    version: u32,
    database: &Database,
) -> Result<bool, NodeError> {
    let keyring = Keyring::generate(version).map_err(NodeError::caused_by)?;
    insert_wrapped(provider, &keyring, version, database)
}

/// Wraps the key of this version with the provider, and stores the result. Returns `false` and changes nothing if the
/// database already has a wrapped key of this provider and version.
pub(crate) fn insert_wrapped(
    provider: &dyn KekProvider,
    keyring: &Keyring,
    version: u32,
    database: &Database,
) -> Result<bool, NodeError> {
    let wrapped = Wrapped(keyring.wrap_with(provider, version).map_err(provider_error)?);
    let kek = WrappedKek { version, provider: provider.describe(), wrapped };
    database.insert_wrapped_kek(&kek).map_err(database_error)
}

pub(crate) fn provider_error(error: ProviderError) -> NodeError {
    match error {
        ProviderError::Refused { .. } | ProviderError::Unreachable { .. } => {
            NodeError::key_provider(error)
        }
        ProviderError::Wallet(error) => NodeError::caused_by(error),
    }
}

fn no_keys() -> NodeError {
    NodeError::new(
        "no key-encryption key is given: create one with `sealpost kek new > FILE` and give --kek-file FILE",
    )
}

/// Reads the key-encryption keys from an existing file.
pub(crate) fn read_file(file: &Path) -> Result<Keyring, NodeError> {
    parse_file(file, &read_text(file)?)
}

pub(crate) fn read_text(file: &Path) -> Result<Zeroizing<String>, NodeError> {
    secret_file::read("the key file", file)
}

pub(crate) fn parse_file(file: &Path, text: &str) -> Result<Keyring, NodeError> {
    Keyring::parse(text).map_err(|fault| {
        let message = format!(
            "the key file {} is not a list of keys: restore it, or delete it if no server has ever used its database",
            file.display()
        );
        NodeError::caused(message, fault)
    })
}

/// Returns true if the file does not exist. Returns false if another error prevents the look-up, for example a missing
/// permission.
fn is_missing(file: &Path) -> bool {
    match file.try_exists() {
        Ok(exists) => !exists,
        Err(error) => error.kind() == io::ErrorKind::NotADirectory,
    }
}

/// Fails if the key file is missing although a key has been used with the database.
pub(crate) fn refuse_used(file: &Path, database: &Database) -> Result<(), NodeError> {
    // Looks for the file again. Another process may have created the file and used its key since the last look-up.
    if database.has_kek_mark().map_err(database_error)? && is_missing(file) {
        let name = database.file().map_or_else(String::new, |path| format!(" {}", path.display()));
        return Err(NodeError::new(format!(
            "the key file {} is missing, and the database{name} needs it: restore the key file",
            file.display(),
        )));
    }
    Ok(())
}

/// Creates the key file with a new key. If another process creates the file first, that file stays.
fn create(file: &Path) -> Result<(), NodeError> {
    let line = new_line(FIRST_VERSION)?;
    create_with(file, &Zeroizing::new(format!("{}\n", line.as_str())))
}

/// Creates the key file with these lines. If another process creates the file first, that file stays.
pub(crate) fn create_with(file: &Path, lines: &str) -> Result<(), NodeError> {
    data_folder::create_parent(file)?;
    new_file::write(file, lines).map_err(|error| {
        NodeError::caused(format!("the key file {} cannot be written", file.display()), error)
    })
}

const FIRST_VERSION: u32 = 1;
