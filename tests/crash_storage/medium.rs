//! What a disk holds: bytes and names, as they are shown and as they would survive.

use std::collections::BTreeMap;

/// What a restart shows of the things that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Lost,
    Kept,
    /// The first half of the changes, and half of the last of them.
    Part,
    /// Files have their new length, without the bytes.
    Zeroed,
}

pub const FATES: [Fate; 4] = [Fate::Lost, Fate::Kept, Fate::Part, Fate::Zeroed];

/// Pairs every fate of bytes with every fate of names, which cannot be zeroed.
pub fn fates() -> impl Iterator<Item = (Fate, Fate)> {
    let names = [Fate::Lost, Fate::Kept, Fate::Part];
    FATES.into_iter().flat_map(move |data| names.map(|names| (data, names)))
}

impl Fate {
    /// Says how many of so many changes are there after the restart.
    pub fn of(self, changes: usize) -> usize {
        match self {
            Self::Lost => 0,
            Self::Kept | Self::Zeroed => changes,
            Self::Part => changes.div_ceil(2),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Write {
    Bytes { at: usize, bytes: Vec<u8> },
    Length(usize),
}

#[derive(Debug, Clone)]
pub enum Change {
    Link(String, usize),
    Rename(String, String),
    Unlink(String),
}

#[derive(Debug, Clone, Default)]
pub struct Inode {
    on_disk: Vec<u8>,
    /// What reading shows.
    pub cached: Vec<u8>,
    pub unsynced: Vec<Write>,
}

impl Change {
    pub fn apply(&self, folder: &mut BTreeMap<String, usize>) {
        match self {
            Self::Link(name, inode) => {
                folder.insert(name.clone(), *inode);
            }
            Self::Rename(from, to) => {
                if let Some(inode) = folder.remove(from) {
                    folder.insert(to.clone(), inode);
                }
            }
            Self::Unlink(name) => {
                folder.remove(name);
            }
        }
    }
}

impl Inode {
    pub fn holding(bytes: Vec<u8>) -> Self {
        Self { on_disk: bytes.clone(), cached: bytes, unsynced: Vec::new() }
    }

    pub fn write(&mut self, write: Write) {
        write.apply(&mut self.cached);
        self.unsynced.push(write);
    }

    pub fn sync(&mut self) {
        for write in self.unsynced.drain(..) {
            write.apply(&mut self.on_disk);
        }
    }

    pub fn after_crash(&self, fate: Fate) -> Self {
        let mut bytes = self.on_disk.clone();
        let kept = fate.of(self.unsynced.len());
        for (place, write) in self.unsynced.iter().take(kept).enumerate() {
            let mut write = write.clone();
            if let Write::Bytes { bytes, .. } = &mut write {
                match fate {
                    Fate::Part if place + 1 == kept => bytes.truncate(bytes.len() / 2),
                    Fate::Zeroed => bytes.fill(0),
                    _ => {}
                }
            }
            write.apply(&mut bytes);
        }
        Self::holding(bytes)
    }
}

impl Write {
    pub fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Length(length) => content.resize(*length, 0),
            Self::Bytes { at, bytes } => {
                content.resize(content.len().max(at + bytes.len()), 0);
                content[*at..at + bytes.len()].copy_from_slice(bytes);
            }
        }
    }
}
