//! A file taken apart into lines, of which none can fill the memory.

use std::io::{self, BufRead, BufReader, Read};

use crate::wire::journal::LONGEST_LINE;

pub(super) struct BoundedLines<R> {
    source: BufReader<R>,
    buffer: Vec<u8>,
    number: usize,
}

pub(super) struct BoundedLine<'a> {
    /// Counts from one.
    pub number: usize,
    /// The line with its newline, if it has one; more than `LONGEST_LINE` bytes mean that the rest
    /// was skipped.
    pub bytes: &'a [u8],
}

impl<R: Read> BoundedLines<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source: BufReader::new(source), buffer: Vec::new(), number: 0 }
    }

    /// Reads the next line, and one byte more than a line may have of one that is too long.
    pub(super) fn read(&mut self) -> io::Result<Option<BoundedLine<'_>>> {
        self.buffer.clear();
        let most = LONGEST_LINE as u64 + 1;
        if (&mut self.source).take(most).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        if self.buffer.len() > LONGEST_LINE && !self.buffer.ends_with(b"\n") {
            self.source.skip_until(b'\n')?;
        }
        self.number += 1;
        Ok(Some(BoundedLine { number: self.number, bytes: &self.buffer }))
    }
}
