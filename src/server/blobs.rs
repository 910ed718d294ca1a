//! Attachments as files named by their content, so the same bytes are kept once.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::io::AsyncReadExt;

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
        let blobs = Self::open_read_only(data_dir);
        fs::create_dir_all(&blobs.folder).await?;
        Ok(blobs)
    }

    /// Opens the folder to be read, and creates nothing.
    pub fn open_read_only(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("blobs") }
    }

    /// Stores bytes, synced, and gives the name they can be read by.
    pub async fn write(&self, bytes: Vec<u8>) -> io::Result<BlobId> {
        let folder = self.folder.clone();
        // Not through tokio's file, which keeps the error of a write from the sync that follows.
        tokio::task::spawn_blocking(move || write(&folder, &bytes))
            .await
            .map_err(io::Error::other)?
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

    /// Tells the size of stored bytes, and what kind of picture they are, if they are one.
    pub async fn describe(&self, id: &BlobId) -> io::Result<Option<(u64, Option<&'static str>)>> {
        let Some(place) = self.place(id) else {
            return Ok(None);
        };
        let mut file = match fs::File::open(place).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut head = [0; 16];
        let read = file.read(&mut head).await?;
        let kind = picture_kind(head.get(..read).unwrap_or_default());
        Ok(Some((file.metadata().await?.len(), kind)))
    }

    /// Names the file of stored bytes. Only a full hash does, so no id can lead out of the folder.
    pub fn place(&self, id: &BlobId) -> Option<PathBuf> {
        let name = id.as_str();
        let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| self.folder.join(name))
    }
}

/// Tells a picture by its first bytes, never by what an uploader claimed.
pub fn picture_kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn write(folder: &Path, bytes: &[u8]) -> io::Result<BlobId> {
    let name = hex(&Sha256::digest(bytes));
    let id = BlobId::parse(&name).map_err(io::Error::other)?;
    let place = folder.join(&name);
    if !place.try_exists()? {
        // A file is never seen half written: it gets its name only when it is whole and synced.
        let draft = folder.join(format!("{}.part", mint::message_id()));
        let written = write_synced(&draft, bytes).and_then(|()| std::fs::rename(&draft, &place));
        if let Err(error) = written {
            // On a full disk it would only take up more room.
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
    }
    // A name that an earlier try gave may not be on the disk yet.
    File::open(folder)?.sync_all()?;
    Ok(id)
}

fn write_synced(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(place)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
