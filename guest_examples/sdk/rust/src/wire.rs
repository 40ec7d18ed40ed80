//! Protobuf's wire format: tags, varints, lengths. Knows nothing of the event.
#![forbid(unsafe_code)]

pub const VARINT: u32 = 0;
pub const BYTES: u32 = 2;

/// One field as it stands in a message.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    pub number: u32,
    pub wire: u32,
    /// The value, if the wire type is `VARINT`.
    pub varint: u64,
    /// The content, for any other wire type.
    pub body: &'a [u8],
    /// Where it stands in the message, tag included.
    pub start: usize,
    pub end: usize,
}

/// A walk over the fields of a message.
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0 }
    }

    /// The next field, nothing at the end, or the offset of the tag at which the bytes stop being a message.
    #[inline]
    pub fn step(&mut self) -> Result<Option<Field<'a>>, usize> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let start = self.at;
        match self.read() {
            Some(field) => Ok(Some(field)),
            None => {
                self.at = start;
                Err(start)
            }
        }
    }

    #[inline]
    fn read(&mut self) -> Option<Field<'a>> {
        let start = self.at;
        let tag = u32::try_from(self.varint(5)?).ok()?;
        if tag < 8 {
            return None;
        }
        let mut field = Field { number: tag >> 3, wire: tag & 7, varint: 0, body: &[], start, end: start };
        match field.wire {
            VARINT => field.varint = self.varint(10)?,
            1 => field.body = self.take(8)?,
            BYTES => {
                let size = self.varint(10)?;
                field.body = self.take(size)?;
            }
            5 => field.body = self.take(4)?,
            _ => return None,
        }
        field.end = self.at;
        Some(field)
    }

    #[inline]
    fn varint(&mut self, max_bytes: usize) -> Option<u64> {
        let mut number = 0;
        for i in 0..max_bytes {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    #[inline]
    fn take(&mut self, size: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(size).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes a field of bytes, text or a nested message.
pub fn put_bytes(out: &mut Vec<u8>, number: u32, body: &[u8]) {
    put_varint(out, u64::from(number) << 3 | u64::from(BYTES));
    put_varint(out, body.len() as u64);
    out.extend_from_slice(body);
}

pub fn put_number(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}
