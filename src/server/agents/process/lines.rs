//! Lines from a pipe, with a bound on their length.

use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest line that is read as one message.
pub const LONGEST_LINE: usize = 32 << 20;

const CHUNK: usize = 64 << 10;

#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    /// A line passed the bound; what it said is not kept.
    TooLong,
    End,
}

/// Cuts what comes from a pipe into lines.
pub struct Lines {
    source: Pin<Box<dyn AsyncRead + Send>>,
    limit: usize,
    read: Vec<u8>,
    /// Where the line under way begins in `read`, and up to where it is known to go on.
    begin: usize,
    searched: usize,
    /// The line under way is too long, and is passed over.
    overlong: bool,
}

impl Lines {
    pub fn new(source: impl AsyncRead + Send + 'static) -> Self {
        Self::with_limit(source, LONGEST_LINE)
    }

    pub fn with_limit(source: impl AsyncRead + Send + 'static, limit: usize) -> Self {
        let source = Box::pin(source);
        Self { source, limit, read: Vec::new(), begin: 0, searched: 0, overlong: false }
    }

    /// Waits for the next line. Nothing is lost when the wait is given up.
    pub async fn next(&mut self) -> Line {
        loop {
            if let Some(line) = self.take_line() {
                return line;
            }
            self.make_room();
            match self.source.read_buf(&mut self.read).await {
                Ok(0) | Err(_) => return self.take_rest(),
                Ok(_) => {}
            }
        }
    }

    fn take_line(&mut self) -> Option<Line> {
        let unsearched = self.read.get(self.searched..).unwrap_or_default();
        let Some(length) = unsearched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.read.len();
            return None;
        };
        let end = self.searched + length;
        let line = self.read.get(self.begin..end).unwrap_or_default().to_vec();
        self.begin = end + 1;
        self.searched = self.begin;
        Some(self.judge(line))
    }

    /// Forgets the lines that were given, and a line that is too long to keep.
    fn make_room(&mut self) {
        self.read.drain(..self.begin);
        if self.read.len() > self.limit {
            self.read.clear();
            self.overlong = true;
        }
        self.begin = 0;
        self.searched = self.read.len();
        self.read.reserve(CHUNK);
    }

    /// Gives what came before the pipe ended, which may lack its line end.
    fn take_rest(&mut self) -> Line {
        let rest = std::mem::take(&mut self.read);
        self.searched = 0;
        if rest.is_empty() && !self.overlong { Line::End } else { self.judge(rest) }
    }

    fn judge(&mut self, line: Vec<u8>) -> Line {
        let overlong = std::mem::take(&mut self.overlong);
        if overlong || line.len() > self.limit { Line::TooLong } else { Line::Whole(line) }
    }
}
