//! Packs files once, as tightly as can be, so that the server need not on every request.

use std::io::Write;

use anyhow::Result;
use brotli::enc::BrotliEncoderParams;
use flate2::{Compression, write::GzEncoder};

/// Below this a packed copy saves less than the headers that announce it.
const WORTHWHILE_BYTES: usize = 500;

const BROTLI_QUALITY: i32 = 11;
const GZIP_LEVEL: u32 = 9;

/// Packs with Brotli; gives nothing where that does not pay.
pub fn brotli(content: &[u8]) -> Result<Option<Vec<u8>>> {
    let parameters = BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        size_hint: content.len(),
        ..BrotliEncoderParams::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &content[..], &mut packed, &parameters)?;
    Ok(if_worthwhile(content, packed))
}

/// Packs with gzip; gives nothing where that does not pay.
pub fn gzip(content: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
    encoder.write_all(content)?;
    Ok(if_worthwhile(content, encoder.finish()?))
}

fn if_worthwhile(content: &[u8], packed: Vec<u8>) -> Option<Vec<u8>> {
    (content.len() > WORTHWHILE_BYTES && packed.len() < content.len()).then_some(packed)
}
