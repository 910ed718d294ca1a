//! A small picture made in code: a gradient as a PNG without compression.

use crate::server::agents::agent::Happening;

const WIDTH: u32 = 160;
const HEIGHT: u32 = 96;

/// The most bytes that a stored deflate block can hold.
const STORED_BLOCK: usize = 0xffff;

/// Makes the picture that `[[image]]` shows.
pub(super) fn gradient() -> Happening {
    let shade = |place: u32, size: u32| (place * 255 / size.saturating_sub(1).max(1)) as u8;
    let pixel = |column: u32, row: u32| {
        let (across, down) = (shade(column, WIDTH), shade(row, HEIGHT));
        [across, 96 + down / 2, 255 - across]
    };
    Happening::File {
        name: "gradient.png".to_owned(),
        media_type: "image/png".to_owned(),
        bytes: png(WIDTH, HEIGHT, pixel),
    }
}

/// Writes an RGB picture with eight bits a channel.
fn png(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    // Depth 8, colour type RGB, and the only compression, filter and interlace methods we use.
    header.extend([8, 2, 0, 0, 0]);

    let mut rows = Vec::new();
    for row in 0..height {
        // Each row begins with its filter: none.
        rows.push(0);
        for column in 0..width {
            rows.extend(pixel(column, row));
        }
    }

    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    write_chunk(&mut file, *b"IHDR", &header);
    write_chunk(&mut file, *b"IDAT", &store(&rows));
    write_chunk(&mut file, *b"IEND", &[]);
    file
}

fn write_chunk(file: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let checked = [&kind, content].concat();
    file.extend(&checked);
    file.extend(crc32(&checked).to_be_bytes());
}

/// Wraps bytes as a zlib stream of stored blocks.
fn store(bytes: &[u8]) -> Vec<u8> {
    // Deflate with a window of 32 KiB at the fastest level; the two bytes are a multiple of 31.
    let mut stream = vec![0x78, 0x01];
    let blocks = bytes.len().div_ceil(STORED_BLOCK);
    for (place, block) in bytes.chunks(STORED_BLOCK).enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(place + 1 == blocks));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut register = u32::MAX;
    for byte in bytes {
        register ^= u32::from(*byte);
        for _ in 0..8 {
            let feedback = if register & 1 == 1 { 0xedb8_8320 } else { 0 };
            register = (register >> 1) ^ feedback;
        }
    }
    !register
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut first, mut second) = (1, 0);
    for byte in bytes {
        first = (first + u32::from(*byte)) % MODULUS;
        second = (second + first) % MODULUS;
    }
    second << 16 | first
}
