//! Sections of a WebAssembly module that a browser does not read, such as the names of functions.

use anyhow::{Result, bail};

/// The eight bytes that every module begins with.
const HEAD: usize = 8;

const CUSTOM: u8 = 0;

/// Takes everything out of a module that only tools read.
pub fn strip(module: &[u8]) -> Result<Vec<u8>> {
    let Some((head, mut rest)) = module.split_at_checked(HEAD) else {
        bail!("this is no WebAssembly module");
    };
    let mut stripped = head.to_vec();
    while let Some((kind, after)) = rest.split_first() {
        let (length, body) = number(after)?;
        let Some((_, next)) = body.split_at_checked(length) else {
            bail!("a section of the module ends too early");
        };
        if *kind != CUSTOM {
            stripped.extend_from_slice(&rest[..rest.len() - next.len()]);
        }
        rest = next;
    }
    Ok(stripped)
}

/// Reads a number in the seven-bit groups that the format uses.
fn number(bytes: &[u8]) -> Result<(usize, &[u8])> {
    let mut number = 0;
    for (place, byte) in bytes.iter().take(5).enumerate() {
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok((number, &bytes[place + 1..]));
        }
    }
    bail!("a length in the module cannot be read")
}

#[cfg(test)]
mod tests {
    use super::strip;

    const MODULE: &[u8] = b"\0asm\x01\0\0\0";

    #[test]
    fn only_what_a_browser_runs_is_left() {
        let type_section = [1, 4, 1, 0x60, 0, 0];
        let names = [&[0, 0x82, 0x01, 4][..], b"name", &[7; 125]].concat();
        let module = [MODULE, &names, &type_section, &names].concat();
        assert_eq!(strip(&module).ok(), Some([MODULE, &type_section].concat()));
        assert_eq!(strip(MODULE).ok(), Some(MODULE.to_vec()));
    }

    #[test]
    fn what_is_no_module_is_refused() {
        for bytes in [&b""[..], b"\0asm", b"\0asm\x01\0\0\0\x01\x05\0", b"\0asm\x01\0\0\0\0\xff"] {
            assert!(strip(bytes).is_err(), "{bytes:?}");
        }
    }
}
