//! Nests the pieces of a text by the delimiter rules of CommonMark.

use super::Inline;
use super::link::unescape;
use super::slice::before;

/// How deep emphasis nests; a link's text begins again at none.
const DEPTH: usize = 15;

/// How many openers wait at once; the oldest is forgotten first.
const WAITING: usize = 32;

/// Holds a stretch of text of which all but the emphasis is known.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Node(Inline),
    Run(Run<'a>),
    /// An image whose label is still as it was written, since an outer image may replace it.
    Image {
        target: String,
        title: &'a str,
        label: &'a str,
    },
}

/// Holds adjacent markers, and what their surroundings let them do.
pub(super) struct Run<'a> {
    pub markers: &'a str,
    pub opens: bool,
    pub closes: bool,
}

/// Turns pieces into nested inlines; links within a link are replaced by their text.
pub(super) fn resolve(pieces: Vec<Piece>, in_link: bool) -> Vec<Inline> {
    let mut weaver = Weaver { nodes: Vec::new(), openers: Vec::new() };
    for piece in pieces {
        match piece {
            Piece::Text(text) => weaver.nodes.push(Inline::Text(text.to_owned())),
            Piece::Node(Inline::Link { content, .. }) if in_link => weaver.nodes.extend(content),
            Piece::Node(node) => weaver.nodes.push(node),
            Piece::Run(run) => weaver.add_run(&run),
            Piece::Image { target, title, label } => weaver.nodes.push(Inline::Image {
                target,
                title: unescape(title),
                alt: unescape(label),
            }),
        }
    }
    join(weaver.nodes)
}

struct Weaver {
    nodes: Vec<Inline>,
    openers: Vec<Opener>,
}

/// Stands for markers that wait for their counterpart.
struct Opener {
    marker: u8,
    /// How many markers there were at first, and how many are left.
    length: usize,
    left: usize,
    closes: bool,
    /// The node that shows the markers that are left.
    node: usize,
    /// How deep the nodes between this opener and the next one nest.
    depth: usize,
}

impl Weaver {
    fn add_run(&mut self, run: &Run) {
        let Some(marker) = run.markers.bytes().next() else {
            return;
        };
        let mut left = run.markers.len();
        while left > 0
            && let Some(index) = self.find_opener(run, marker)
            && let Some(used) = self.wrap(index, left)
        {
            left -= used;
        }
        if left == 0 {
            return;
        }
        if run.opens {
            if self.openers.len() == WAITING {
                self.openers.remove(0);
            }
            self.openers.push(Opener {
                marker,
                length: run.markers.len(),
                left,
                closes: run.closes,
                node: self.nodes.len(),
                depth: 0,
            });
        }
        self.nodes.push(Inline::Text(before(run.markers, left).to_owned()));
    }

    fn find_opener(&self, run: &Run, marker: u8) -> Option<usize> {
        let length = run.markers.len();
        self.openers.iter().rposition(|opener| {
            let ambiguous = opener.closes || run.opens;
            let odd = (opener.length + length).is_multiple_of(3) && !length.is_multiple_of(3);
            run.closes && opener.marker == marker && !(ambiguous && odd)
        })
    }

    /// Wraps all that follows an opener, and says how many markers that took from each side.
    fn wrap(&mut self, index: usize, left: usize) -> Option<usize> {
        let depth = 1 + self.openers.iter().skip(index).map(|inner| inner.depth).max()?;
        let opener = self.openers.get_mut(index).filter(|_| depth <= DEPTH)?;
        let used = left.min(opener.left).min(2);
        opener.left -= used;
        let content = join(self.nodes.split_off(opener.node + 1));
        if let Some(Inline::Text(markers)) = self.nodes.last_mut() {
            markers.truncate(opener.left);
        }
        self.nodes.push(match (opener.marker, used) {
            (b'~', _) => Inline::Strike(content),
            (_, 2) => Inline::Strong(content),
            _ => Inline::Emphasis(content),
        });
        let exhausted = opener.left == 0;
        self.openers.truncate(if exhausted { index } else { index + 1 });
        if let Some(outer) = self.openers.last_mut() {
            outer.depth = outer.depth.max(depth);
        }
        Some(used)
    }
}

/// Joins texts that stand side by side.
fn join(nodes: Vec<Inline>) -> Vec<Inline> {
    let mut joined: Vec<Inline> = Vec::with_capacity(nodes.len());
    for node in nodes {
        match (joined.last_mut(), node) {
            (Some(Inline::Text(before)), Inline::Text(text)) => before.push_str(&text),
            (_, Inline::Text(text)) if text.is_empty() => {}
            (_, node) => joined.push(node),
        }
    }
    joined
}
