//! Names content by what it holds.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// How many bytes of the digest go into names: enough to tell builds apart, short enough to read.
const NAMED_BYTES: usize = 8;

/// Gives the first 16 hexadecimal digits of the content's SHA-256.
pub fn short(content: &[u8]) -> String {
    Sha256::digest(content).iter().take(NAMED_BYTES).fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
