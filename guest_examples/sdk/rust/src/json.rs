//! A pull scanner for strict JSON (RFC 8259, UTF-8): checks the whole document, copies nothing, and gives spans of the
//! text. The rules, and the places it reports trouble at, are those of `sdk/SEMANTICS.md`.
#![forbid(unsafe_code)]

/// Containers that may be open at once.
pub const MAX_DEPTH: usize = 128;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

/// Where a value stands in its document.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// A string with a backslash in it.
    pub is_escaped: bool,
}

/// Why a document was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The byte that is no JSON.
    NotJson(usize),
    /// More containers open at once than `MAX_DEPTH`.
    TooDeep,
}

/// One step through a document.
pub enum Step {
    /// A scalar.
    Value(Span),
    /// A container begins; its end is not known yet.
    Open(Span),
    /// A container ends.
    Close(Span),
    /// The document was valid.
    End,
}

/// A walk through one document.
pub struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    opened: [u32; MAX_DEPTH],
    depth: usize,
    key: Option<Span>,
    is_started: bool,
    is_first: bool,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of a document.
    pub fn new(text: &'a [u8]) -> Scanner<'a> {
        Scanner { text, at: 0, opened: [0; MAX_DEPTH], depth: 0, key: None, is_started: false, is_first: false }
    }

    /// The document.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// How many containers are open now.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Where the container open at a depth begins.
    pub fn opened_at(&self, depth: usize) -> Option<usize> {
        (depth < self.depth).then(|| self.opened[depth] as usize)
    }

    /// The key of the value just given, quotes included; nothing inside an array.
    pub fn key(&self) -> Option<Span> {
        self.key
    }

    /// Goes one step through the document.
    #[inline]
    pub fn step(&mut self) -> Result<Step, Trouble> {
        if !self.is_started {
            self.is_started = true;
            return self.value();
        }
        let next = self.peek();
        if self.depth == 0 {
            return if self.at == self.text.len() { Ok(Step::End) } else { Err(Trouble::NotJson(self.at)) };
        }
        let is_object = self.text[self.opened[self.depth - 1] as usize] == b'{';
        let is_first = std::mem::replace(&mut self.is_first, false);
        if next == Some(if is_object { b'}' } else { b']' }) {
            return Ok(self.close(if is_object { Kind::Object } else { Kind::Array }));
        }
        if !is_first {
            self.expect(b',')?;
            self.peek();
        }
        self.key = None;
        if is_object {
            self.key = Some(self.string()?);
            self.peek();
            self.expect(b':')?;
        }
        self.value()
    }

    /// The next byte that is not white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.text.get(self.at) {
            if byte > b' ' || !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn expect(&mut self, byte: u8) -> Result<(), Trouble> {
        if self.text.get(self.at) != Some(&byte) {
            return Err(Trouble::NotJson(self.at));
        }
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, kind: Kind) -> Step {
        self.depth -= 1;
        self.at += 1;
        let start = self.opened[self.depth] as usize;
        Step::Close(Span { kind, start, end: self.at, is_escaped: false })
    }

    fn value(&mut self) -> Result<Step, Trouble> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => self.string().map(Step::Value),
            Some(b'{') => self.open(Kind::Object),
            Some(b'[') => self.open(Kind::Array),
            Some(b't') => self.literal(b"true", Kind::Boolean),
            Some(b'f') => self.literal(b"false", Kind::Boolean),
            Some(b'n') => self.literal(b"null", Kind::Null),
            Some(b'-' | b'0'..=b'9') => {
                self.at = number_end(self.text, start).ok_or(Trouble::NotJson(start))?;
                Ok(Step::Value(Span { kind: Kind::Number, start, end: self.at, is_escaped: false }))
            }
            _ => Err(Trouble::NotJson(start)),
        }
    }

    fn open(&mut self, kind: Kind) -> Result<Step, Trouble> {
        let slot = self.opened.get_mut(self.depth).ok_or(Trouble::TooDeep)?;
        let start = self.at;
        *slot = start as u32;
        self.depth += 1;
        self.at += 1;
        self.is_first = true;
        Ok(Step::Open(Span { kind, start, end: start, is_escaped: false }))
    }

    fn literal(&mut self, literal: &[u8], kind: Kind) -> Result<Step, Trouble> {
        let start = self.at;
        if !self.text[start..].starts_with(literal) {
            return Err(Trouble::NotJson(start));
        }
        self.at += literal.len();
        Ok(Step::Value(Span { kind, start, end: self.at, is_escaped: false }))
    }

    /// Trouble anywhere in a string is reported at its opening quote.
    #[inline]
    fn string(&mut self) -> Result<Span, Trouble> {
        let start = self.at;
        let (end, is_escaped) = string_end(self.text, start).ok_or(Trouble::NotJson(start))?;
        self.at = end;
        Ok(Span { kind: Kind::String, start, end, is_escaped })
    }
}

/// The first byte at or behind `at` that is not plain ASCII text of a string.
#[inline]
fn plain_end(text: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    while let Some(bytes) = text.get(at..at + 8) {
        let word = u64::from_le_bytes(bytes.try_into().expect("a slice of 8"));
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        // A byte is zero when subtracting 1 borrows; a borrow from a lower byte can only add a stop behind a true one.
        let stops = quote.wrapping_sub(ONES) & !quote
            | backslash.wrapping_sub(ONES) & !backslash
            | word.wrapping_sub(ONES * 0x20) & !word
            | word;
        if stops & HIGHS != 0 {
            return at + ((stops & HIGHS).trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = text.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f | 0x80..) {
            break;
        }
        at += 1;
    }
    at
}

/// Where the string that begins at `at` ends, behind its quote, and whether it has escapes.
fn string_end(text: &[u8], at: usize) -> Option<(usize, bool)> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    let mut is_escaped = false;
    loop {
        at = plain_end(text, at);
        match *text.get(at)? {
            b'"' => return Some((at + 1, is_escaped)),
            b'\\' => {
                is_escaped = true;
                at += escape(text, at)?.1;
            }
            0x80.. => at += character_size(text, at)?,
            _ => return None,
        }
    }
}

/// How many bytes the UTF-8 character outside ASCII at `at` takes.
fn character_size(text: &[u8], at: usize) -> Option<usize> {
    let size = match text[at] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    std::str::from_utf8(text.get(at..at + size)?).ok().map(|_| size)
}

/// The character that the escape at `at` stands for, and its length; a pair of surrogates is one escape.
pub(crate) fn escape(text: &[u8], at: usize) -> Option<(char, usize)> {
    let character = match *text.get(at + 1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(text, at),
        _ => return None,
    };
    Some((character, 2))
}

fn unicode_escape(text: &[u8], at: usize) -> Option<(char, usize)> {
    let unit = hex4(text, at + 2)?;
    if !(0xd800..0xdc00).contains(&unit) {
        // A low surrogate on its own is no character.
        return char::from_u32(unit).map(|character| (character, 6));
    }
    if text.get(at + 6..at + 8)? != b"\\u" {
        return None;
    }
    let low = hex4(text, at + 8)?;
    if !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).map(|character| (character, 12))
}

fn hex4(text: &[u8], at: usize) -> Option<u32> {
    text.get(at..at + 4)?.iter().try_fold(0, |number, &byte| Some(number << 4 | char::from(byte).to_digit(16)?))
}

fn digits_end(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b'0'..=b'9')) {
        at += 1;
    }
    at
}

/// Where the number that begins at `at` ends; a part that lacks its digits makes the whole no number.
fn number_end(text: &[u8], mut at: usize) -> Option<usize> {
    if text[at] == b'-' {
        at += 1;
    }
    at = match text.get(at)? {
        b'0' => at + 1,
        b'1'..=b'9' => digits_end(text, at),
        _ => return None,
    };
    if text.get(at) == Some(&b'.') {
        let end = digits_end(text, at + 1);
        if end == at + 1 {
            return None;
        }
        at = end;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        let end = digits_end(text, at);
        if end == at {
            return None;
        }
        at = end;
    }
    Some(at)
}

/// Whether a whole text is a JSON number.
pub fn is_number(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'-' | b'0'..=b'9')) && number_end(text, 0) == Some(text.len())
}

/// Checks a whole document.
pub fn check(text: &[u8]) -> Result<(), Trouble> {
    let mut scanner = Scanner::new(text);
    while !matches!(scanner.step()?, Step::End) {}
    Ok(())
}
