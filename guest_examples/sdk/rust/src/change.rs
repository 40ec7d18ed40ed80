//! An event with some fields different and every other byte as it was.
#![forbid(unsafe_code)]

use crate::event::{is_known, read_attribute, Event, AFTER, ATTRIBUTES, BEFORE, TABLE};
use crate::wire::{self, Fields};
use crate::Answer;

#[derive(Clone, Copy)]
enum To<'c> {
    Removed,
    Bytes(&'c [u8]),
    Number(u64),
}

/// Where an attribute that is set goes, by the start of an entry: instead of it, before it, behind it, or where there
/// are none yet.
#[derive(Clone, Copy, PartialEq)]
enum Goes {
    Instead(usize),
    Before(usize),
    Behind(usize),
    Alone,
}

#[derive(Clone, Copy)]
struct Setting<'c> {
    key: &'c [u8],
    value: &'c [u8],
    goes: Goes,
}

/// The fields of an event that are to be different.
#[derive(Default)]
pub struct Change<'c> {
    fields: Vec<(u32, To<'c>)>,
    removed_attributes: &'c [&'c [u8]],
    /// In the order of their keys.
    set_attributes: Vec<Setting<'c>>,
}

impl<'c> Change<'c> {
    /// Removes a field.
    pub fn remove(&mut self, number: u32) {
        self.to(number, To::Removed);
    }

    /// Sets an image, the schema or the table. An empty table is no table, as proto3 has it.
    pub fn set(&mut self, number: u32, body: &'c [u8]) {
        let is_removed = number == TABLE && body.is_empty();
        self.to(number, if is_removed { To::Removed } else { To::Bytes(body) });
    }

    /// Sets `op`, `ts`, `envelope_version` or `before_is_key_only`; 0 removes it, as proto3 has it.
    pub fn set_number(&mut self, number: u32, value: u64) {
        self.to(number, if value == 0 { To::Removed } else { To::Number(value) });
    }

    /// Removes every attribute with one of these keys.
    pub fn remove_attributes(&mut self, event: &Event, keys: &'c [&'c [u8]]) -> Result<(), String> {
        event.each_attribute(|key, _| {
            if keys.contains(&key) {
                self.removed_attributes = keys;
            }
        })
    }

    /// Sets an attribute, in place of the last one with its key or where the key belongs in the order of keys. A key that is
    /// set is not removed.
    pub fn set_attribute(&mut self, event: &Event, key: &'c [u8], value: &'c [u8]) -> Result<(), String> {
        let mut goes = Goes::Alone;
        event.each_entry(|start, other, _| {
            if other == key {
                goes = Goes::Instead(start);
            } else if matches!(goes, Goes::Alone | Goes::Behind(_)) {
                goes = if other > key { Goes::Before(start) } else { Goes::Behind(start) };
            }
        })?;
        self.set_attributes.retain(|setting| setting.key != key);
        self.set_attributes.push(Setting { key, value, goes });
        self.set_attributes.sort_by_key(|setting| setting.key);
        Ok(())
    }

    fn to(&mut self, number: u32, to: To<'c>) {
        self.fields.retain(|(other, _)| *other != number);
        self.fields.push((number, to));
        self.fields.sort_by_key(|(number, _)| *number);
    }

    /// The event goes on with its changes; without any, as it came. Earlier occurrences of an image do not go on.
    pub fn answer(&self, event: &Event) -> Answer {
        let keeps_attributes = self.removed_attributes.is_empty() && self.set_attributes.is_empty();
        if self.fields.is_empty() && keeps_attributes && !event.repeats_image() {
            return Answer::Keep;
        }
        Answer::Event(self.encode(event))
    }

    /// The bytes of the event with its changes.
    pub fn encode(&self, event: &Event) -> Vec<u8> {
        // Most changes hardly change the length, and what is not used is given back.
        let mut out = Vec::with_capacity(event.bytes.len() + event.bytes.len() / 8 + 64);
        let extended;
        let mut change: &Change = self;
        if event.repeats_image() {
            extended = self.with_last_images(event);
            change = &extended;
        }
        change.write(event.bytes, &mut out);
        out
    }

    /// The same change, which also sets each image that occurs more than once to its last occurrence.
    #[cold]
    #[inline(never)]
    fn with_last_images<'e>(&self, event: &Event<'e>) -> Change<'e>
    where
        'c: 'e,
    {
        let mut all = Change {
            fields: self.fields.clone(),
            removed_attributes: self.removed_attributes,
            set_attributes: self.set_attributes.clone(),
        };
        let images = [(BEFORE, event.before, event.repeats_before), (AFTER, event.after, event.repeats_after)];
        for (number, image, is_repeated) in images {
            let is_changed = self.fields.iter().any(|(changed, _)| *changed == number);
            if let Some(image) = image.filter(|_| is_repeated && !is_changed) {
                all.set(number, image);
            }
        }
        all
    }

    /// A field takes the place of its last occurrence; one that was absent goes before the first known field with a
    /// higher number, or behind the last known one.
    fn write(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let (last, known_end) = self.locate(bytes);
        // Which of the absent fields is next, by their numbers; those that are present are passed over.
        let mut next = 0;
        let mut copied = 0;
        if known_end == 0 {
            self.put_absent(&last, &mut next, u32::MAX, out);
            self.put_attributes(Goes::Alone, out);
        }
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.step() {
            if !is_known(&field) {
                continue;
            }
            let slot = self.fields.iter().position(|(number, _)| *number == field.number);
            let is_gone = slot.is_some() || (field.number == ATTRIBUTES && self.is_gone_attribute(field.body));
            let is_place = field.number == ATTRIBUTES && self.has_attributes_at(field.start);
            if is_gone || is_place || self.has_absent(&last, next, field.number) {
                out.extend_from_slice(&bytes[copied..field.start]);
                copied = field.start;
                self.put_absent(&last, &mut next, field.number, out);
            }
            if let Some(slot) = slot.filter(|slot| last[*slot] == Some(field.start)) {
                self.put(slot, out);
            }
            if is_place {
                self.put_attributes(Goes::Before(field.start), out);
                self.put_attributes(Goes::Instead(field.start), out);
                if !is_gone {
                    out.extend_from_slice(&bytes[field.start..field.end]);
                }
                self.put_attributes(Goes::Behind(field.start), out);
            }
            if is_gone || is_place {
                copied = field.end;
            }
            if field.end == known_end && (self.has_absent(&last, next, u32::MAX) || !self.set_attributes.is_empty()) {
                out.extend_from_slice(&bytes[copied..known_end]);
                copied = known_end;
                self.put_absent(&last, &mut next, u32::MAX, out);
                self.put_attributes(Goes::Alone, out);
            }
        }
        out.extend_from_slice(&bytes[copied..]);
    }

    /// Where the last occurrence of each field to be changed starts, and where the last known field ends.
    fn locate(&self, bytes: &[u8]) -> (Vec<Option<usize>>, usize) {
        let mut last = vec![None; self.fields.len()];
        let mut known_end = 0;
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.step() {
            if !is_known(&field) {
                continue;
            }
            known_end = field.end;
            if let Some(slot) = self.fields.iter().position(|(number, _)| *number == field.number) {
                last[slot] = Some(field.start);
            }
        }
        (last, known_end)
    }

    fn has_absent(&self, last: &[Option<usize>], next: usize, below: u32) -> bool {
        (next..self.fields.len()).any(|slot| last[slot].is_none() && self.fields[slot].0 < below)
    }

    fn put_absent(&self, last: &[Option<usize>], next: &mut usize, below: u32, out: &mut Vec<u8>) {
        while *next < self.fields.len() && (last[*next].is_some() || self.fields[*next].0 < below) {
            if last[*next].is_none() {
                self.put(*next, out);
            }
            *next += 1;
        }
    }

    fn put(&self, slot: usize, out: &mut Vec<u8>) {
        let (number, to) = &self.fields[slot];
        match to {
            To::Removed => {}
            To::Bytes(body) => wire::put_bytes(out, *number, body),
            To::Number(value) => wire::put_number(out, *number, *value),
        }
    }

    /// Whether an entry does not stay: its key is set, or removed.
    fn is_gone_attribute(&self, entry: &[u8]) -> bool {
        if self.removed_attributes.is_empty() && self.set_attributes.is_empty() {
            return false;
        }
        read_attribute(entry).map_or(false, |(key, _)| {
            self.removed_attributes.contains(&key) || self.set_attributes.iter().any(|setting| setting.key == key)
        })
    }

    fn has_attributes_at(&self, start: usize) -> bool {
        let places = [Goes::Before(start), Goes::Instead(start), Goes::Behind(start)];
        self.set_attributes.iter().any(|setting| places.contains(&setting.goes))
    }

    /// Writes the attributes that go to a place; key and value are written even when they are empty, as protobuf does.
    fn put_attributes(&self, goes: Goes, out: &mut Vec<u8>) {
        for setting in self.set_attributes.iter().filter(|setting| setting.goes == goes) {
            let mut entry = Vec::with_capacity(setting.key.len() + setting.value.len() + 12);
            wire::put_bytes(&mut entry, 1, setting.key);
            wire::put_bytes(&mut entry, 2, setting.value);
            wire::put_bytes(out, ATTRIBUTES, &entry);
        }
    }
}
