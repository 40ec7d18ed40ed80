//! Texts inside JSON, and patterns.
#![forbid(unsafe_code)]

use crate::json::{escape, Kind, Span};
use std::borrow::Cow;

/// What is hashed, cut and compared: the decoded text of a string, the JSON text of anything else.
#[inline]
pub fn value_text<'a>(document: &'a [u8], span: Span) -> Cow<'a, [u8]> {
    if span.kind != Kind::String {
        return Cow::Borrowed(&document[span.start..span.end]);
    }
    let raw = &document[span.start + 1..span.end - 1];
    if span.is_escaped {
        Cow::Owned(decode(raw))
    } else {
        Cow::Borrowed(raw)
    }
}

fn decode(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        match (raw[at], escape(raw, at)) {
            (b'\\', Some((character, size))) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += size;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// Writes text as a JSON string: only `"`, `\` and control characters are escaped.
pub fn put_json_string(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x00..=0x1f => {
                out.extend_from_slice(b"\\u00");
                crate::sha256::put_hex(&[byte], out);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Whether a text is the pattern, or begins with what stands before the star at the pattern's end.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.strip_suffix(b"*") {
        Some(start) => text.starts_with(start),
        None => text == pattern,
    }
}

/// Whether one text stands somewhere in another.
pub fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// Appends a number in decimal; `format!` would make every guest some kilobytes larger.
pub fn push_decimal(text: &mut String, number: u64) {
    if number >= 10 {
        push_decimal(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}
