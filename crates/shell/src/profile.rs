//! The profile: a service, an identity and its secrets, in a file that only the user can read.

use std::{
    ffi::OsString,
    fmt,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use sealpost_client::{AccountId, ApiKeyId, Client, ClientBuilder, ClientError, Login};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::error::ShellError;

/// Returns the folder for the user's configuration: `$XDG_CONFIG_HOME`, or `.config` in the home folder. `variable`
/// reads a variable of the environment.
pub(crate) fn config_folder(
    variable: impl Fn(&'static str) -> Option<OsString>,
) -> Result<PathBuf, ShellError> {
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(folder("HOME")?.join(".config"));
    let advice = "there is no folder for profiles: set HOME or XDG_CONFIG_HOME to an absolute path";
    let found = folder("XDG_CONFIG_HOME").or_else(home);
    found.ok_or_else(|| ShellError::Invalid(advice.to_owned()))
}

/// The content of a profile's file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// URL of the service.
    pub(crate) url: String,
    pub(crate) account_id: Option<AccountId>,
    pub(crate) api_key_id: Option<ApiKeyId>,
    pub(crate) login_secret: Option<Secret>,
    /// The session token of an earlier command, or an API token.
    pub(crate) token: Option<Secret>,
    /// The recovery code of an account that an agent opened. The profile contains the code, because no result of a tool
    /// shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recovery_code: Option<Secret>,
}

/// A secret. `Debug` does not print the value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) Zeroizing<String>);

/// The path and the name of a profile.
pub(crate) struct ProfileFile(PathBuf, String);

impl ProfileFile {
    /// Returns the file of a profile below the user's configuration folder. Fails if `name` has other characters than
    /// letters, digits, `-` and `_`, so that the file is always in the folder of the profiles.
    pub(crate) fn named(config_folder: &Path, name: &str) -> Result<Self, ShellError> {
        let name = profile_name(name).map_err(|advice| {
            ShellError::Invalid(format!("{name} is not a profile name: {advice}"))
        })?;
        Ok(Self(config_folder.join("sealpost").join(format!("{name}.json")), name))
    }

    /// Reads the profile. Fails with [`ShellError::NoProfile`] if there is no file. Also fails if other users can
    /// access the file, or if it is not a profile.
    pub(crate) fn load(&self) -> Result<Profile, ShellError> {
        serde_json::from_str(&self.text()?).map_err(|error| {
            let file = self.0.display();
            ShellError::Invalid(format!(
                "{file} is not a profile: run sealpost login again: {error}"
            ))
        })
    }

    fn text(&self) -> Result<Zeroizing<String>, ShellError> {
        match read_private(&self.0, "move it away and log in again") {
            Err(ShellError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(ShellError::NoProfile(self.1.clone()))
            }
            text => text,
        }
    }

    /// Fails if a login would overwrite a profile that contains the login secret of another account, because the
    /// profile may be the only copy of this secret. Also fails if the file cannot be read. A login may overwrite a file
    /// that is not a profile.
    pub(crate) fn refuse_other_account(
        &self,
        account: Option<AccountId>,
    ) -> Result<(), ShellError> {
        let text = match self.text() {
            Err(ShellError::NoProfile(_)) => return Ok(()),
            text => text?,
        };
        match serde_json::from_str(&text) {
            Ok(Profile { account_id: Some(stored), login_secret: Some(_), .. })
                if account != Some(stored) =>
            {
                let Self(file, name) = self;
                Err(ShellError::Invalid(format!(
                    "the profile {name} has the login secret of {stored}: choose another name with --profile, or \
                     delete {}",
                    file.display()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Fails if the file exists, even if its content is not a profile.
    pub(crate) fn refuse_existing(&self) -> Result<(), ShellError> {
        match self.text() {
            Err(ShellError::NoProfile(_)) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(self.exists()),
        }
    }

    fn exists(&self) -> ShellError {
        let advice = "start sealpost mcp again to use it, or choose another name with --profile";
        ShellError::Invalid(format!("another process created the profile {}: {advice}", self.1))
    }

    /// Saves the profile of a new account. Fails if the file exists, because it may be the only copy of the secrets of
    /// another account.
    pub(crate) fn create(&self, profile: &Profile) -> Result<(), ShellError> {
        let fault = ShellError::for_file(&self.0, "written");
        self.create_folder().map_err(&fault)?;
        match create_private(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(self.exists()),
            Err(error) => Err(fault(error)),
            // The empty file keeps other processes from creating the profile until this process has replaced the file.
            Ok(_empty) => self.save(profile).inspect_err(|_cause| self.remove_if_empty()),
        }
    }

    /// Removes the file after a failed [`create`](Self::create), if it is empty. A file with secrets stays: if `create`
    /// fails after it has written the secrets, the file is the only copy.
    fn remove_if_empty(&self) {
        if fs::metadata(&self.0).is_ok_and(|file| file.len() == 0) {
            drop(fs::remove_file(&self.0));
        }
    }

    /// Saves the profile of a login. Checks [`refuse_other_account`](Self::refuse_other_account) again, because another
    /// process may have created a profile since the start of the login.
    pub(crate) fn save_login(&self, profile: &Profile) -> Result<(), ShellError> {
        self.refuse_other_account(profile.account_id)?;
        self.save(profile)
    }

    /// Replaces the file atomically. Only its owner can read and write the new file.
    pub(crate) fn save(&self, profile: &Profile) -> Result<(), ShellError> {
        let fault = ShellError::for_file(&self.0, "written");
        let text = serde_json::to_vec_pretty(profile).map(Zeroizing::new);
        let text = text.map_err(|error| fault(error.into()))?;
        self.create_folder().map_err(&fault)?;
        replace_private(&self.0, &text).map_err(fault)
    }

    fn create_folder(&self) -> io::Result<()> {
        let Some(folder) = self.0.parent() else { return Ok(()) };
        let missing: Vec<_> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        missing.into_iter().try_for_each(sync_folder_of)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Parses the name of a profile.
pub(crate) fn profile_name(name: &str) -> Result<String, &'static str> {
    let is_symbol = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=64).contains(&name.len()) && name.bytes().all(is_symbol) {
        Ok(name.to_owned())
    } else {
        Err("use 1 to 64 letters, digits, - and _")
    }
}

/// Reads a text file. Fails if other users can access the file. Also fails, with an error that contains `advice`, if
/// the path is not a regular file.
pub(crate) fn read_private(file: &Path, advice: &str) -> Result<Zeroizing<String>, ShellError> {
    let fault = ShellError::for_file(file, "read");
    let metadata = fs::metadata(file).map_err(&fault)?;
    let shown = file.display();
    if !metadata.is_file() {
        return Err(ShellError::Invalid(format!("{shown} is no regular file: {advice}")));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        let message = format!("other users can read {shown}: run chmod 600 {shown}");
        return Err(ShellError::Invalid(message));
    }
    fs::read_to_string(file).map(Zeroizing::new).map_err(fault)
}

/// Replaces a file atomically. Only its owner can read and write the new file. If the path is a symbolic link, the link
/// stays, and the file that it leads to is replaced. The new file is on the disk when this function returns.
pub(crate) fn replace_private(file: &Path, content: &[u8]) -> io::Result<()> {
    let file = &fs::canonicalize(file).unwrap_or_else(|_missing| file.to_owned());
    let new = file.with_extension(format!("{}.new", std::process::id()));
    // Removes the file that an earlier process with this id may have left after a crash.
    drop(fs::remove_file(&new));
    let written = create_private(&new).and_then(|created| fill(created, content));
    let replaced = written.and_then(|()| fs::rename(&new, file));
    replaced.inspect_err(|_cause| drop(fs::remove_file(&new)))?;
    sync_folder_of(file)
}

/// Waits until the names of the files in the folder of `file` are on the disk. Without this, a crash of the machine can
/// undo the creation or the replacement of a file. Does nothing on a file system that cannot sync folders.
pub(crate) fn sync_folder_of(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new(".")))?.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Creates a file that only its owner can read. Fails if the file exists.
pub(crate) fn create_private(file: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)
}

/// Writes the content of a new file to the disk.
pub(crate) fn fill(mut created: File, content: &[u8]) -> io::Result<()> {
    created.write_all(content)?;
    created.sync_all()
}

impl Profile {
    /// Copies the login secret and the recovery code from `stored` if this profile lacks them. Copies only between
    /// profiles of the same account. The stored profile may be the only copy of these secrets.
    pub(crate) fn keep_secrets(&mut self, stored: Self) {
        if stored.account_id.is_some() && stored.account_id == self.account_id {
            self.login_secret = self.login_secret.take().or(stored.login_secret);
            self.recovery_code = self.recovery_code.take().or(stored.recovery_code);
        }
    }

    /// Builds the client of the profile.
    pub(crate) fn client(&self) -> Result<Client, ClientError> {
        self.client_builder().build()
    }

    pub(crate) fn client_builder(&self) -> ClientBuilder {
        let mut builder = Client::builder(&self.url);
        if let Some((account, secret)) = self.login() {
            builder = builder.login(Login::new(account, secret.0.as_str()));
        }
        if let Some(api_key) = self.api_key_id {
            builder = builder.api_key(api_key);
        }
        if let Some(token) = &self.token {
            builder = builder.token(token.0.as_str());
        }
        builder
    }

    /// Returns the account and its login secret. `None` for a profile with an API token. If the API token expires or is
    /// revoked, the client must not log in, because a session has more rights than the token.
    fn login(&self) -> Option<(AccountId, &Secret)> {
        let has_api_token = self.token.as_ref().is_some_and(|token| token.0.starts_with("kt_"));
        self.account_id.zip(self.login_secret.as_ref()).filter(|_| !has_api_token)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        Profile {
            url: "https://sealpost.example".to_owned(),
            login_secret: Some(Secret(Zeroizing::new("ls_secret".to_owned()))),
            ..Profile::default()
        }
    }

    #[test]
    fn a_profile_is_private_and_survives_saving() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile::named(folder.path(), "work").unwrap();
        assert!(matches!(file.load(), Err(ShellError::NoProfile(_))));
        file.save(&profile()).unwrap();
        file.save(&profile()).unwrap();
        assert_eq!(file.load().unwrap(), profile());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(file.path()), 0o600);
        assert_eq!(mode(file.path().parent().unwrap()), 0o700);
        assert_eq!(fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_profile_behind_a_symbolic_link_is_written_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile::named(folder.path(), "work").unwrap();
        file.save(&profile()).unwrap();
        let target = folder.path().join("target.json");
        fs::rename(file.path(), &target).unwrap();
        std::os::unix::fs::symlink(&target, file.path()).unwrap();
        let changed = Profile { url: "https://new.example".to_owned(), ..profile() };
        file.save(&changed).unwrap();
        assert_eq!(file.load().unwrap(), changed);
        assert_eq!(fs::read_link(file.path()).unwrap(), target);
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_login_keeps_the_secrets_of_the_same_account() {
        let secret = |text: &str| Some(Secret(Zeroizing::new(text.to_owned())));
        let account = |id: &str| Profile { account_id: Some(id.parse().unwrap()), ..profile() };
        let account_id = "acct_01h455vb4pex5vsknk084sn02q";
        let stored = Profile { recovery_code: secret("rc_code"), ..account(account_id) };
        let mut with_token =
            Profile { login_secret: None, token: secret("kt_token"), ..account(account_id) };
        with_token.keep_secrets(stored.clone());
        assert_eq!(with_token, Profile { token: secret("kt_token"), ..stored.clone() });
        assert!(with_token.login().is_none(), "an API token is used alone");
        let mut with_secret = Profile { login_secret: secret("ls_new"), ..account(account_id) };
        with_secret.keep_secrets(stored.clone());
        assert_eq!(with_secret, Profile { login_secret: secret("ls_new"), ..stored.clone() });
        assert!(with_secret.login().is_some());
        let mut of_other = account("acct_01h455vb4pex5vsknk084sn02r");
        of_other.keep_secrets(stored);
        assert_eq!(of_other.recovery_code, None);
    }

    #[test]
    fn a_profile_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile::named(folder.path(), "default").unwrap();
        file.save(&profile()).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.load().unwrap_err().to_string().contains("chmod 600"));
        assert!(file.refuse_other_account(None).is_err(), "a login must not overwrite it");
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        file.refuse_other_account(None).unwrap();
        fs::write(file.path(), "damaged").unwrap();
        file.refuse_other_account(None).unwrap();
    }

    #[test]
    fn a_profile_that_another_process_created_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile::named(folder.path(), "default").unwrap();
        let account = |id: &str| Profile { account_id: Some(id.parse().unwrap()), ..profile() };
        let mine = account("acct_01h455vb4pex5vsknk084sn02q");
        let other = account("acct_01h455vb4pex5vsknk084sn02r");
        file.refuse_existing().unwrap();
        file.create(&other).unwrap();
        assert!(file.refuse_existing().is_err());
        // The process with `mine` has called `refuse_existing` before the other process created its profile.
        for error in [file.create(&mine), file.save_login(&mine)].map(Result::unwrap_err) {
            assert!(matches!(error, ShellError::Invalid(_)), "{error}");
        }
        assert_eq!(file.load().unwrap(), other);
        let renewed = Profile { url: "https://new.example".to_owned(), ..other };
        file.save_login(&renewed).unwrap();
        assert_eq!(file.load().unwrap(), renewed);
        assert_eq!(fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn the_configuration_folder_has_an_absolute_path() {
        let with = |config: &str, home: &str| {
            let (config, home) = (OsString::from(config), OsString::from(home));
            let variable = |name| Some(if name == "HOME" { home.clone() } else { config.clone() });
            config_folder(variable).ok()
        };
        assert_eq!(with("/config", "/home/ann"), Some(PathBuf::from("/config")));
        assert_eq!(with("config", "/home/ann"), Some(PathBuf::from("/home/ann/.config")));
        assert_eq!(with("", ""), None);
    }

    #[test]
    fn a_name_cannot_leave_the_folder() {
        for name in ["", "../default", "a/b", ".", "a.b"] {
            assert!(ProfileFile::named(Path::new("/home"), name).is_err(), "{name}");
        }
    }

    #[test]
    fn debug_output_omits_secrets() {
        assert!(!format!("{:?}", profile()).contains("ls_secret"));
    }
}
