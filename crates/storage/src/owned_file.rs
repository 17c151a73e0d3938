//! Creates files and folders that belong to the service, and replaces files. If root runs a command in a folder of the
//! service, a new file gets the owner of the folder. Otherwise the file would belong to root, and the service could not
//! open it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{self, Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};

/// Creates a file with mode 0600. Fails if the path exists. If root runs the process, the owner of the folder becomes
/// the owner of the file.
pub fn create(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.clone().create_new(true).mode(0o600).open(path)?;
    give_to_owner_of(&folder_of(path), &file)?;
    Ok(file)
}

/// Replaces a file atomically. `write` fills a new file, which [`create`] makes. The content is on the disk when this
/// function returns. Two replacements of one file must not run at the same time.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let new = with_suffix(path, ".new");
    // An interrupted replacement may have left this file.
    remove_if_present(&new)?;
    let mut file = create(File::options().write(true), &new)?;
    write(&mut file)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&new, path))
        .inspect_err(|_cause| drop(fs::remove_file(&new)))?;
    sync_folder_of(path)
}

/// Removes a file, if it exists.
pub fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Waits until the names of the files in the folder of `path` are on the disk.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Creates a folder and its missing parents, each like [`create_new_folder`]. Does nothing if the folder exists.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    create_folder(&folder_of(folder))?;
    match create_new_folder(folder) {
        // Another process has created the folder first.
        Err(_) if folder.is_dir() => Ok(()),
        created => created,
    }
}

/// Creates a folder with mode 0700. Fails if the path exists. If root runs the process, the owner of the parent becomes
/// the owner of the folder. The name of the folder is on the disk when this function returns.
pub fn create_new_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    // Opens the folder without following links. The owner of the parent could meanwhile have replaced the folder by a
    // link to a folder of root.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::open(folder, flags, Mode::empty())?;
    give_to_owner_of(&folder_of(folder), &File::from(made))?;
    sync_folder_of(folder)
}

/// Returns the folder that contains a file.
pub fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Appends a suffix to the name of a file.
pub fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the absolute path of a file, without symbolic links. The file and its folder may be missing.
pub fn resolve_links(path: &Path) -> PathBuf {
    let mut resolved = path::absolute(path).unwrap_or_else(|_error| path.to_owned());
    for _ in 0..LINKS_MAX {
        let Ok(target) = fs::read_link(&resolved) else { break };
        resolved = folder_of(&resolved).join(target);
    }
    match (fs::canonicalize(folder_of(&resolved)), resolved.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => resolved,
    }
}

/// Gives a new file or folder to the owner of the folder that contains it, if root runs the process.
pub fn give_to_owner_of(folder: &Path, made: &File) -> io::Result<()> {
    let folder = fs::metadata(folder)?;
    if made.metadata()?.uid() == folder.uid() || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    match std::os::unix::fs::fchown(made, Some(folder.uid()), Some(folder.gid())) {
        // In some containers and network file systems, root may not change owners. In these places the service also
        // runs as root, so it can use a file of root.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// The limit of Linux for symbolic links in one path.
const LINKS_MAX: u32 = 40;
