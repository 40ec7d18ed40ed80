//! Dotted paths into a JSON document.
#![forbid(unsafe_code)]

/// One step: a key, or every child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Key(Vec<u8>),
    Any,
}

pub type Path = Vec<Segment>;

const BACKSLASH: &str = "has a backslash before something else than \".\", \"*\" or \"\\\"";

/// Splits a path; `\.`, `\*` and `\\` stand for the characters themselves. An error is what is wrong with the text.
pub fn parse(text: &str) -> Result<Path, &'static str> {
    if text.len() > 100 {
        return Err("must have at most 100 bytes");
    }
    if text.bytes().any(|byte| byte < b' ') {
        return Err("has a control character");
    }
    let mut path = Path::new();
    let mut key = Vec::new();
    let mut is_plain = true;
    let mut bytes = text.bytes();
    loop {
        match bytes.next() {
            Some(b'\\') => {
                is_plain = false;
                key.push(bytes.next().filter(|byte| b".*\\".contains(byte)).ok_or(BACKSLASH)?);
            }
            Some(byte) if byte != b'.' => key.push(byte),
            _ if key.is_empty() => return Err("has an empty segment"),
            end_or_dot => {
                let is_any = is_plain && key == b"*";
                path.push(if is_any { Segment::Any } else { Segment::Key(key) });
                if end_or_dot.is_none() {
                    return Ok(path);
                }
                key = Vec::new();
                is_plain = true;
            }
        }
    }
}
