//! A walk through a JSON document that stops where one of up to 64 paths ends, and a copy with values replaced.
#![forbid(unsafe_code)]

use crate::json::{Scanner, Span, Step, Trouble, MAX_DEPTH};
use crate::path::{Path, Segment};
use crate::text::value_text;

/// A value at which a walk stopped.
pub struct Stop {
    pub span: Span,
    /// Bit i: path i ends here. 0 for a scalar that no path names.
    pub matched: u64,
    /// A container whose end is not known yet. The walk enters it unless `skip` is called.
    pub is_open: bool,
}

/// A walk under way.
pub struct Walk<'a, 'p> {
    scanner: Scanner<'a>,
    paths: &'p [Path],
    /// [d]: paths of which the first d segments led to the container open at depth d.
    reached: [u64; MAX_DEPTH + 1],
    stops_at_leaves: bool,
}

/// The bits of all of `count` paths.
pub fn all(count: usize) -> u64 {
    u64::MAX.checked_shr(64 - count as u32).unwrap_or(0)
}

impl<'a, 'p> Walk<'a, 'p> {
    /// Starts a walk for those paths whose bit is set in `active`.
    pub fn new(text: &'a [u8], paths: &'p [Path], active: u64) -> Walk<'a, 'p> {
        let mut reached = [0; MAX_DEPTH + 1];
        reached[0] = active;
        Walk { scanner: Scanner::new(text), paths, reached, stops_at_leaves: false }
    }

    /// Stops at every scalar, named or not.
    pub fn stop_at_leaves(mut self, stops: bool) -> Walk<'a, 'p> {
        self.stops_at_leaves = stops;
        self
    }

    /// How many containers are open, the one just stopped at included.
    pub fn depth(&self) -> usize {
        self.scanner.depth()
    }

    /// Where the container open at a depth begins.
    pub fn opened_at(&self, depth: usize) -> Option<usize> {
        self.scanner.opened_at(depth)
    }

    /// Goes on to the next stop; nothing at the end of a valid document.
    #[inline]
    pub fn step(&mut self) -> Result<Option<Stop>, Trouble> {
        loop {
            let (span, is_open) = match self.scanner.step()? {
                Step::Value(span) => (span, false),
                Step::Open(span) => (span, true),
                Step::Close(_) => continue,
                Step::End => return Ok(None),
            };
            let level = self.scanner.depth() - usize::from(is_open);
            let (matched, reached) = if level == 0 { (0, self.reached[0]) } else { self.matches(level) };
            if is_open {
                self.reached[level] = reached;
            }
            if matched != 0 || (self.stops_at_leaves && !is_open) {
                return Ok(Some(Stop { span, matched, is_open }));
            }
        }
    }

    /// Passes over the container just opened and gives all of it.
    pub fn skip(&mut self) -> Result<Span, Trouble> {
        let outside = self.scanner.depth() - 1;
        loop {
            if let Step::Close(span) = self.scanner.step()? {
                if self.scanner.depth() == outside {
                    return Ok(span);
                }
            }
        }
    }

    /// Which paths end at the value just scanned, and which lead on through it.
    #[inline]
    fn matches(&self, level: usize) -> (u64, u64) {
        let mut open = self.reached[level - 1];
        let (mut matched, mut reached) = (0, 0);
        if open == 0 {
            return (0, 0);
        }
        let key = self.scanner.key().map(|span| value_text(self.scanner.text(), span));
        while open != 0 {
            let path = &self.paths[open.trailing_zeros() as usize];
            let is_match = match &path[level - 1] {
                Segment::Any => true,
                Segment::Key(wanted) => key.as_deref() == Some(wanted),
            };
            let bit = open & open.wrapping_neg();
            open ^= bit;
            if is_match && path.len() == level {
                matched |= bit;
            } else if is_match {
                reached |= bit;
            }
        }
        (matched, reached)
    }
}

/// A copy of a document in which some values are different.
pub struct Edit<'a> {
    text: &'a [u8],
    out: Vec<u8>,
    copied: usize,
}

impl<'a> Edit<'a> {
    pub fn new(text: &'a [u8]) -> Edit<'a> {
        Edit { text, out: Vec::new(), copied: 0 }
    }

    /// Writes what stands before a value and passes over the value: what is put to the answer takes its place.
    pub fn replace(&mut self, span: Span) -> &mut Vec<u8> {
        if self.out.capacity() == 0 {
            self.out.reserve(self.text.len() + 64);
        }
        self.out.extend_from_slice(&self.text[self.copied..span.start]);
        self.copied = span.end;
        &mut self.out
    }

    /// The edited document; nothing when no value was replaced.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        if self.out.capacity() == 0 {
            return None;
        }
        self.out.extend_from_slice(&self.text[self.copied..]);
        Some(self.out)
    }
}
