//! The password, kept as an argon2id hash in a file of the data directory.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};

/// The shortest password that is taken, in characters.
pub const SHORTEST: usize = 8;

/// The longest one: what is longer is no password but a way to keep the server busy.
const LONGEST: usize = 1024;

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("a password has at least {SHORTEST} characters")]
    TooShort,
    #[error("a password has at most {LONGEST} bytes")]
    TooLong,
    #[error("the password could not be hashed: {0}")]
    Hash(argon2::password_hash::Error),
    #[error("the password could not be stored: {0}")]
    Store(#[from] io::Error),
}

/// Where the hash of a data directory's password is.
#[derive(Debug, Clone)]
pub struct PasswordFile(PathBuf);

impl PasswordFile {
    pub fn of(data_dir: &Path) -> Self {
        Self(data_dir.join("password"))
    }

    pub fn exists(&self) -> bool {
        self.0.is_file()
    }

    /// Stores the hash of a password; only the owner of the file may read it.
    pub fn set(&self, password: &str) -> Result<(), PasswordError> {
        if password.chars().count() < SHORTEST {
            return Err(PasswordError::TooShort);
        }
        if password.len() > LONGEST {
            return Err(PasswordError::TooLong);
        }
        let salt = SaltString::encode_b64(uuid::Uuid::new_v4().as_bytes());
        let salt = salt.map_err(PasswordError::Hash)?;
        let hashed = Argon2::default().hash_password(password.as_bytes(), &salt);
        let hashed = hashed.map_err(PasswordError::Hash)?.to_string();
        // A server that reads it meanwhile finds the old one or the new one, never half of it.
        let draft = self.0.with_extension("part");
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(hashed.as_bytes())?;
        file.sync_all()?;
        Ok(fs::rename(&draft, &self.0)?)
    }

    /// Takes the password away, and tells whether there was one.
    pub fn remove(&self) -> io::Result<bool> {
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Tells whether a password is the right one. This takes memory and time on purpose.
    pub fn is(&self, password: &str) -> io::Result<bool> {
        if password.len() > LONGEST {
            return Ok(false);
        }
        let stored = match fs::read_to_string(&self.0) {
            Ok(stored) => stored,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let stored = PasswordHash::new(stored.trim())
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Argon2::default().verify_password(password.as_bytes(), &stored).is_ok())
    }
}
