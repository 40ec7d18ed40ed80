//! The configuration: a MessagePack document, read into a tree that borrows its texts.
#![forbid(unsafe_code)]

/// Deeper documents are refused, so that reading one cannot exhaust the stack.
const MAX_DEPTH: u32 = 32;

/// One value of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Nil,
    Bool(bool),
    /// Wide enough for both u64 and i64.
    Int(i128),
    Float(f64),
    Str(&'a str),
    Bin(&'a [u8]),
    Array(Vec<Value<'a>>),
    /// Pairs in the order they came.
    Map(Vec<(Value<'a>, Value<'a>)>),
    Ext,
}

impl<'a> Value<'a> {
    /// Reads a whole document; `None` when the bytes are not exactly one value.
    pub fn read(bytes: &'a [u8]) -> Option<Value<'a>> {
        let mut rest = bytes;
        let value = read_value(&mut rest, MAX_DEPTH)?;
        rest.is_empty().then(|| value)
    }

    /// The value under a text key of a map; of equal keys the last one counts.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        match self {
            Value::Map(pairs) => pairs.iter().rev().find(|(name, _)| *name == Value::Str(key)).map(|(_, value)| value),
            _ => None,
        }
    }
}

fn take<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    if size > rest.len() {
        return None;
    }
    let (taken, behind) = rest.split_at(size);
    *rest = behind;
    Some(taken)
}

fn number(rest: &mut &[u8], size: usize) -> Option<u64> {
    Some(take(rest, size)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn length(rest: &mut &[u8], size: usize) -> Option<usize> {
    usize::try_from(number(rest, size)?).ok()
}

fn text<'a>(rest: &mut &'a [u8], size: usize) -> Option<Value<'a>> {
    std::str::from_utf8(take(rest, size)?).ok().map(Value::Str)
}

fn array<'a>(rest: &mut &'a [u8], count: usize, depth: u32) -> Option<Value<'a>> {
    // Each member takes a byte at least, so a count beyond the bytes is wrong before anything is set aside.
    if depth == 0 || count > rest.len() {
        return None;
    }
    (0..count).map(|_| read_value(rest, depth - 1)).collect::<Option<_>>().map(Value::Array)
}

fn map<'a>(rest: &mut &'a [u8], count: usize, depth: u32) -> Option<Value<'a>> {
    if depth == 0 || count > rest.len() {
        return None;
    }
    let mut pairs = Vec::new();
    for _ in 0..count {
        let key = read_value(rest, depth - 1)?;
        pairs.push((key, read_value(rest, depth - 1)?));
    }
    Some(Value::Map(pairs))
}

fn extension<'a>(rest: &mut &'a [u8], size: usize) -> Option<Value<'a>> {
    take(rest, 1)?;
    take(rest, size).map(|_| Value::Ext)
}

fn signed(rest: &mut &[u8], size: usize) -> Option<i64> {
    let unused = 64 - 8 * size as u32;
    Some((number(rest, size)? << unused) as i64 >> unused)
}

fn read_value<'a>(rest: &mut &'a [u8], depth: u32) -> Option<Value<'a>> {
    let tag = take(rest, 1)?[0];
    let value = match tag {
        0x00..=0x7f => Value::Int(i128::from(tag)),
        0x80..=0x8f => map(rest, usize::from(tag & 15), depth)?,
        0x90..=0x9f => array(rest, usize::from(tag & 15), depth)?,
        0xa0..=0xbf => text(rest, usize::from(tag & 31))?,
        0xc0 => Value::Nil,
        0xc1 => return None,
        0xc2 | 0xc3 => Value::Bool(tag == 0xc3),
        0xc4..=0xc6 => {
            let size = length(rest, 1 << (tag - 0xc4))?;
            Value::Bin(take(rest, size)?)
        }
        0xc7..=0xc9 => {
            let size = length(rest, 1 << (tag - 0xc7))?;
            extension(rest, size)?
        }
        0xca => Value::Float(f64::from(f32::from_bits(number(rest, 4)? as u32))),
        0xcb => Value::Float(f64::from_bits(number(rest, 8)?)),
        0xcc..=0xcf => Value::Int(i128::from(number(rest, 1 << (tag - 0xcc))?)),
        0xd0..=0xd3 => Value::Int(i128::from(signed(rest, 1 << (tag - 0xd0))?)),
        0xd4..=0xd8 => extension(rest, 1 << (tag - 0xd4))?,
        0xd9..=0xdb => {
            let size = length(rest, 1 << (tag - 0xd9))?;
            text(rest, size)?
        }
        0xdc | 0xdd => {
            let count = length(rest, 2 << (tag - 0xdc))?;
            array(rest, count, depth)?
        }
        0xde | 0xdf => {
            let count = length(rest, 2 << (tag - 0xde))?;
            map(rest, count, depth)?
        }
        0xe0..=0xff => Value::Int(i128::from(tag as i8)),
    };
    Some(value)
}
