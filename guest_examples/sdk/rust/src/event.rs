//! The canonical event, read where it lies.
#![forbid(unsafe_code)]

use crate::json::Trouble;
use crate::wire::{self, Field, Fields};

pub const BEFORE: u32 = 1;
pub const AFTER: u32 = 2;
pub const OP: u32 = 3;
pub const SOURCE: u32 = 4;
pub const TS: u32 = 5;
pub const SCHEMA: u32 = 6;
pub const TABLE: u32 = 7;
pub const PRIMARY_KEY: u32 = 8;
pub const SNAPSHOT: u32 = 9;
pub const TRANSACTION: u32 = 10;
pub const ENVELOPE_VERSION: u32 = 11;
pub const BEFORE_IS_KEY_ONLY: u32 = 12;
pub const UNAVAILABLE_COLUMNS: u32 = 13;
pub const BEFORE_UNAVAILABLE_COLUMNS: u32 = 14;
pub const ATTRIBUTES: u32 = 1000;

pub const INSERT: u32 = 1;
pub const UPDATE: u32 = 2;
pub const DELETE: u32 = 3;
pub const READ: u32 = 4;
pub const SCHEMA_CHANGE: u32 = 5;
pub const TRUNCATE: u32 = 6;

/// An event as it came, with its fields. Nested messages and the UTF-8 of texts are not checked: the host does that for
/// every event that comes out.
#[derive(Clone, Copy, Default)]
pub struct Event<'a> {
    pub bytes: &'a [u8],
    pub before: Option<&'a [u8]>,
    pub after: Option<&'a [u8]>,
    pub schema: Option<&'a [u8]>,
    pub table: &'a [u8],
    pub ts: u64,
    pub op: u32,
    pub envelope_version: u32,
    pub before_is_key_only: bool,
    has_attributes: bool,
    pub(crate) repeats_before: bool,
    pub(crate) repeats_after: bool,
}

/// The text of an event that cannot be walked.
pub fn not_an_event(at: usize) -> String {
    let mut text = String::from("not an Event at byte ");
    crate::text::push_decimal(&mut text, at as u64);
    text
}

/// The text of a document that was refused; `name` says which.
pub fn not_json(name: &str, trouble: Trouble) -> String {
    let mut text = String::from(name);
    match trouble {
        Trouble::TooDeep => text.push_str(" is nested deeper than 128 levels"),
        Trouble::NotJson(at) => {
            text.push_str(" is not valid JSON at byte ");
            crate::text::push_decimal(&mut text, at as u64);
        }
    }
    text
}

/// Whether the schema has this field. A known number with another wire type is an unknown field: kept, never read.
#[inline]
pub fn is_known(field: &Field) -> bool {
    match field.number {
        OP | TS | ENVELOPE_VERSION | BEFORE_IS_KEY_ONLY => field.wire == wire::VARINT,
        1..=BEFORE_UNAVAILABLE_COLUMNS | ATTRIBUTES => field.wire == wire::BYTES,
        _ => false,
    }
}

impl<'a> Event<'a> {
    /// Walks the top level of a message.
    pub fn read(bytes: &'a [u8]) -> Result<Event<'a>, String> {
        let mut event = Event { bytes, ..Event::default() };
        let mut fields = Fields::new(bytes);
        while let Some(field) = fields.step().map_err(not_an_event)? {
            if is_known(&field) {
                event.note(&field);
            }
        }
        Ok(event)
    }

    #[inline]
    fn note(&mut self, field: &Field<'a>) {
        match field.number {
            BEFORE => self.repeats_before |= self.before.replace(field.body).is_some(),
            AFTER => self.repeats_after |= self.after.replace(field.body).is_some(),
            OP => self.op = field.varint as u32,
            TS => self.ts = field.varint,
            SCHEMA => self.schema = Some(field.body),
            TABLE => self.table = field.body,
            ENVELOPE_VERSION => self.envelope_version = field.varint as u32,
            BEFORE_IS_KEY_ONLY => self.before_is_key_only = field.varint != 0,
            ATTRIBUTES => self.has_attributes = true,
            _ => {}
        }
    }

    /// Whether an image occurs more than once. Guests look into the last one only, so the others must not go on.
    #[inline]
    pub fn repeats_image(&self) -> bool {
        self.repeats_before || self.repeats_after
    }

    /// The content of the last occurrence of a text or a nested message; `wire::Fields` walks the latter.
    pub fn body(&self, number: u32) -> Option<&'a [u8]> {
        let mut fields = Fields::new(self.bytes);
        let mut last = None;
        while let Ok(Some(field)) = fields.step() {
            if field.number == number && field.wire == wire::BYTES {
                last = Some(field.body);
            }
        }
        last
    }

    /// Whether a repeated field of texts holds this one.
    pub fn has_text(&self, number: u32, text: &[u8]) -> bool {
        let mut fields = Fields::new(self.bytes);
        while let Ok(Some(field)) = fields.step() {
            if field.number == number && field.wire == wire::BYTES && field.body == text {
                return true;
            }
        }
        false
    }

    /// Calls `see` with key and value of every attribute.
    pub fn each_attribute(&self, mut see: impl FnMut(&'a [u8], &'a [u8])) -> Result<(), String> {
        self.each_entry(|_, key, value| see(key, value))
    }

    /// The same, with where the entry starts in the event.
    pub(crate) fn each_entry(&self, mut see: impl FnMut(usize, &'a [u8], &'a [u8])) -> Result<(), String> {
        if !self.has_attributes {
            return Ok(());
        }
        let mut fields = Fields::new(self.bytes);
        while let Some(field) = fields.step().map_err(not_an_event)? {
            if field.number == ATTRIBUTES && field.wire == wire::BYTES {
                let (key, value) = read_attribute(field.body).ok_or_else(|| not_an_event(field.start))?;
                see(field.start, key, value);
            }
        }
        Ok(())
    }

    /// The value of an attribute; of several entries the last one counts.
    pub fn attribute(&self, key: &[u8]) -> Result<Option<&'a [u8]>, String> {
        let mut found = None;
        self.each_attribute(|name, value| {
            if name == key {
                found = Some(value);
            }
        })?;
        Ok(found)
    }
}

/// Key and value of an entry of `attributes`; what is missing is empty.
pub(crate) fn read_attribute(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
    let mut fields = Fields::new(entry);
    while let Some(field) = fields.step().ok()? {
        match (field.number, field.wire) {
            (1, wire::BYTES) => key = field.body,
            (2, wire::BYTES) => value = field.body,
            _ => {}
        }
    }
    Some((key, value))
}
