//! Attachments as files named by their content, so the same bytes are kept once.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::io::AsyncWriteExt;

use crate::domain::ids::BlobId;
use crate::server::mint;

/// The largest attachment, in bytes.
pub const LARGEST_BLOB: usize = 20 << 20;

#[derive(Debug, Clone)]
pub struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    pub async fn open(data_dir: &Path) -> io::Result<Self> {
        let folder = data_dir.join("blobs");
        fs::create_dir_all(&folder).await?;
        Ok(Self { folder })
    }

    /// Stores bytes, synced, and gives the name they can be read by.
    pub async fn write(&self, bytes: Vec<u8>) -> io::Result<BlobId> {
        let name = hex(&Sha256::digest(&bytes));
        let id = BlobId::parse(&name).map_err(io::Error::other)?;
        let place = self.folder.join(&name);
        if fs::try_exists(&place).await? {
            return Ok(id);
        }
        // A file is never seen half written: it gets its name only when it is whole and synced.
        let draft = self.folder.join(format!("{}.part", mint::message_id()));
        let mut file = fs::File::create(&draft).await?;
        file.write_all(&bytes).await?;
        file.sync_all().await?;
        fs::rename(&draft, &place).await?;
        fs::File::open(&self.folder).await?.sync_all().await?;
        Ok(id)
    }

    pub async fn read(&self, id: &BlobId) -> io::Result<Option<Vec<u8>>> {
        let Some(place) = self.place(id) else {
            return Ok(None);
        };
        match fs::read(place).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub async fn contains(&self, id: &BlobId) -> io::Result<bool> {
        match self.place(id) {
            Some(place) => fs::try_exists(place).await,
            None => Ok(false),
        }
    }

    /// Only a full hash names a file, so no id can lead out of the folder.
    fn place(&self, id: &BlobId) -> Option<PathBuf> {
        let name = id.as_str();
        let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| self.folder.join(name))
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
