// The event under way: read fields where they lie, replace some, and keep every other byte, unknown fields included.
//
// The top level is walked once by `open`, and once more by `build` if anything was changed. Nothing is copied before.

import { fail, one } from "./answer";
import { entry } from "./attribute";
import { Buffer } from "./buffer";
import { Span, addressOf, alloc, compare, equal, lengthOf, span } from "./memory";
import { Reader, Wire } from "./wire";

export const enum Field {
  Before = 1,
  After = 2,
  Op = 3,
  Source = 4,
  Ts = 5,
  Schema = 6,
  Table = 7,
  PrimaryKey = 8,
  Snapshot = 9,
  Transaction = 10,
  EnvelopeVersion = 11,
  BeforeIsKeyOnly = 12,
  UnavailableColumns = 13,
  BeforeUnavailableColumns = 14,
  Attributes = 1000,
}

export const enum Operation {
  Unspecified = 0,
  Insert = 1,
  Update = 2,
  Delete = 3,
  Read = 4,
  SchemaChange = 5,
  Truncate = 6,
}

const enum Edit {
  None,
  Replace,
  Remove,
}

const LAST_NUMBER: u32 = 14;

/** Where an attribute that is set goes: instead of an entry, before or behind one, or where there are none yet. */
const enum Goes {
  Alone,
  Instead,
  InFront,
  Behind,
}

const MAX_SETTINGS: i32 = 16;

// By field number: where the last occurrence lies (span), how often it occurs, and what becomes of it.
const found = memory.data(16 * 8, 8);
const counts = memory.data(16 * 4, 4);
const edits = memory.data(16, 4);
const news = memory.data(16 * 8, 8);
const left = memory.data(16 * 4, 4);

// Attributes that are set, in the order of their keys: key, value, and where they go (the offset of an entry, and how).
const settingKeys = memory.data(MAX_SETTINGS * 8, 8);
const settingValues = memory.data(MAX_SETTINGS * 8, 8);
const settingPlaces = memory.data(MAX_SETTINGS * 8, 8);
let settings: i32 = 0;

let input: Span = 0;
let isChanged = false;
let hasAttributes = false;
let knownEnd: u32 = 0;
let dropped: StaticArray<Span> | null = null;
let failure: string = "";
const reader = new Reader();
const output = new Buffer();

/** Whether a field number of the schema comes with the schema's wire type; anything else is an unknown field. */
function isKnown(number: u32, wire: Wire): bool {
  if (number == Field.Attributes) return wire == Wire.Bytes;
  if (number > LAST_NUMBER) return false;
  const isNumber =
    number == Field.Op || number == Field.Ts || number == Field.EnvelopeVersion || number == Field.BeforeIsKeyOnly;
  return wire == (isNumber ? Wire.Varint : Wire.Bytes);
}

export namespace event {
  /** Walks the message. If it is none, gives false, and `failed()` is the answer. */
  export function open(address: usize, bytes: u32): bool {
    input = span(address, bytes);
    isChanged = hasAttributes = false;
    dropped = null;
    settings = 0;
    knownEnd = 0;
    memory.fill(found, 0, 16 * 8);
    memory.fill(counts, 0, 16 * 4);
    memory.fill(edits, 0, 16);
    reader.begin(input);
    while (reader.next()) {
      const number = reader.number;
      if (!isKnown(number, reader.wire)) continue;
      knownEnd = reader.end;
      if (number == Field.Attributes) {
        hasAttributes = true;
        continue;
      }
      store<u64>(found + (number << 3), reader.value);
      store<u32>(counts + (number << 2), load<u32>(counts + (number << 2)) + 1);
    }
    keepLastImage(Field.Before);
    keepLastImage(Field.After);
    if (reader.isBroken) failure = `not an Event at byte ${reader.offset}`;
    return !reader.isBroken;
  }

  /** Guests look into the last occurrence of an image only, so the others must not go on. */
  function keepLastImage(field: Field): void {
    if (count(field) > 1) edit(field, Edit.Replace, bytes(field));
  }

  /** The answer for an event that could not be read. */
  export function failed(): u64 {
    return fail(failure);
  }

  /** How often a field occurs; more than once is legal, and the last one counts. */
  export function count(field: Field): u32 {
    return load<u32>(counts + (field << 2));
  }

  /** The bytes of a string, bytes or message field; 0 if it is absent (an empty one is not 0). */
  export function bytes(field: Field): Span {
    return load<u64>(found + (field << 3));
  }

  /** The text of a string field; empty if absent. Makes an object: prefer `bytes` where speed counts. */
  export function text(field: Field): string {
    const value = bytes(field);
    return String.UTF8.decodeUnsafe(addressOf(value), lengthOf(value));
  }

  /** A number or boolean; 0 if absent. */
  export function number(field: Field): u64 {
    return load<u64>(found + (field << 3));
  }

  export function operation(): Operation {
    return <Operation>(<u32>number(Field.Op));
  }

  /** Replaces `Before`, `After`, `Schema` (empty stays a value) or `Table` (empty removes it, as in proto3). */
  export function setBytes(field: Field, value: Span): void {
    if (field == Field.Table && lengthOf(value) == 0) return remove(field);
    edit(field, Edit.Replace, value);
  }

  /** Replaces `Op`, `Ts`, `EnvelopeVersion` or `BeforeIsKeyOnly`; 0 removes it, as in proto3. */
  export function setNumber(field: Field, value: u64): void {
    edit(field, value == 0 ? Edit.Remove : Edit.Replace, value);
  }

  export function remove(field: Field): void {
    edit(field, Edit.Remove, 0);
  }

  function edit(field: Field, what: Edit, value: u64): void {
    assert(<u32>field <= LAST_NUMBER, "attributes are edited with removeAttributes");
    if (what == Edit.Remove && count(field) == 0) {
      store<u8>(edits + field, Edit.None);
      return;
    }
    store<u8>(edits + field, <u8>what);
    store<u64>(news + (field << 3), value);
    isChanged = true;
  }

  /** The value of an attribute, 0 if it is absent; an attribute that cannot be read is passed over. */
  export function attribute(key: Span): Span {
    let value: Span = 0;
    if (!hasAttributes) return value;
    reader.begin(input);
    while (reader.next()) {
      if (!isKnown(reader.number, reader.wire) || reader.number != Field.Attributes) continue;
      if (entry.read(reader.value) && equal(entry.key, key)) value = entry.value;
    }
    return value;
  }

  /** Removes every attribute with one of these keys. False if an attribute cannot be read: `failed()` is the answer. */
  export function removeAttributes(keys: StaticArray<Span>): bool {
    if (!hasAttributes) return true;
    reader.begin(input);
    while (reader.next()) {
      if (!isKnown(reader.number, reader.wire) || reader.number != Field.Attributes) continue;
      if (!entry.read(reader.value)) {
        failure = `not an Event at byte ${reader.offset}`;
        return false;
      }
      if (entry.isOneOf(keys)) {
        dropped = keys;
        isChanged = true;
      }
    }
    return true;
  }

  /**
   * Sets an attribute (at most 16), in place of the last one with its key or where the key belongs in the order of keys. A
   * key that is set is not removed. False if an attribute cannot be read: `failed()` is the answer.
   */
  export function setAttribute(key: Span, value: Span): bool {
    let goes = Goes.Alone;
    let place: u32 = 0;
    reader.begin(input);
    while (hasAttributes && reader.next()) {
      if (!isKnown(reader.number, reader.wire) || reader.number != Field.Attributes) continue;
      if (!entry.read(reader.value)) {
        failure = `not an Event at byte ${reader.offset}`;
        return false;
      }
      const order = compare(entry.key, key);
      if (order == 0) goes = Goes.Instead;
      else if (goes == Goes.Instead || goes == Goes.InFront) continue;
      else goes = order > 0 ? Goes.InFront : Goes.Behind;
      place = reader.offset;
    }
    addSetting(key, value, (<u64>goes << 32) | place);
    isChanged = true;
    return true;
  }

  /** The message with its changes; the input itself if there are none. Valid until the event ends. */
  export function build(): Span {
    if (!isChanged) return input;
    output.begin(lengthOf(input) + newBytes());
    memory.copy(left, counts, 16 * 4);
    let written: u32 = 0; // absent fields up to this number are in the output
    if (knownEnd == 0) {
      writeAbsent(0, LAST_NUMBER);
      writeSettings(Goes.Alone, 0);
    }
    reader.begin(input);
    while (reader.next()) {
      const number = reader.number;
      const isOurs = isKnown(number, reader.wire);
      if (isOurs && number > written) {
        writeAbsent(written, min(number - 1, LAST_NUMBER));
        written = number;
      }
      if (!isOurs) output.add(reader.raw);
      else if (number == Field.Attributes) writeAttribute();
      else writeField(number);
      if (reader.end == knownEnd) {
        writeAbsent(written, LAST_NUMBER);
        writeSettings(Goes.Alone, 0);
      }
    }
    return output.bytes;
  }

  /** The answer for this event as it now is. */
  export function answer(): u64 {
    if (!isChanged) return one(input);
    const message = build();
    if (lengthOf(message) == 0) return fail("the event has no fields left");
    const block = alloc(<u32>lengthOf(message));
    memory.copy(block, addressOf(message), lengthOf(message));
    return one(span(block, lengthOf(message)));
  }
}

/** Most that the new values can add. */
function newBytes(): usize {
  let sum: usize = 0;
  for (let number: u32 = 1; number <= LAST_NUMBER; number++) {
    if (load<u8>(edits + number) != Edit.Replace) continue;
    sum += 11 + (isKnown(number, Wire.Bytes) ? lengthOf(load<u64>(news + (number << 3))) : 0);
  }
  return sum;
}

/** Writes the new fields with numbers above `from` and up to `to` that the message did not have. */
function writeAbsent(from: u32, to: u32): void {
  for (let number = from + 1; number <= to; number++) {
    if (load<u8>(edits + number) == Edit.Replace && load<u32>(counts + (number << 2)) == 0) writeNew(number);
  }
}

function writeField(number: u32): void {
  const what = load<u8>(edits + number);
  if (what == Edit.None) {
    output.add(reader.raw);
    return;
  }
  // The new value stands where the last occurrence stood; the others go.
  const more = load<u32>(left + (number << 2)) - 1;
  store<u32>(left + (number << 2), more);
  if (more == 0 && what == Edit.Replace) writeNew(number);
}

function writeNew(number: u32): void {
  const value = load<u64>(news + (number << 3));
  if (isKnown(number, Wire.Bytes)) {
    output.varint((number << 3) | Wire.Bytes);
    output.varint(lengthOf(value));
    output.add(value);
  } else {
    output.varint((number << 3) | Wire.Varint);
    output.varint(value);
  }
}

function writeAttribute(): void {
  const place = reader.offset;
  writeSettings(Goes.InFront, place);
  writeSettings(Goes.Instead, place);
  if (!isGoneAttribute()) output.add(reader.raw);
  writeSettings(Goes.Behind, place);
}

/** Whether an attribute does not stay: its key is set, or removed. */
function isGoneAttribute(): bool {
  const keys = dropped;
  if ((keys == null && settings == 0) || !entry.read(reader.value)) return false;
  for (let i = 0; i < settings; i++) {
    if (equal(load<u64>(settingKeys + (i << 3)), entry.key)) return true;
  }
  return keys != null && entry.isOneOf(keys);
}

function addSetting(key: Span, value: Span, place: u64): void {
  let at = 0;
  while (at < settings && compare(load<u64>(settingKeys + (at << 3)), key) < 0) at++;
  if (at == settings || !equal(load<u64>(settingKeys + (at << 3)), key)) {
    assert(settings < MAX_SETTINGS, "more than 16 attributes are set");
    const behind = (settings - at) << 3;
    memory.copy(settingKeys + ((at + 1) << 3), settingKeys + (at << 3), behind);
    memory.copy(settingValues + ((at + 1) << 3), settingValues + (at << 3), behind);
    memory.copy(settingPlaces + ((at + 1) << 3), settingPlaces + (at << 3), behind);
    settings++;
  }
  store<u64>(settingKeys + (at << 3), key);
  store<u64>(settingValues + (at << 3), value);
  store<u64>(settingPlaces + (at << 3), place);
}

/** Writes the attributes that go to a place; key and value are written even when they are empty, as protobuf does. */
function writeSettings(goes: Goes, place: u32): void {
  for (let i = 0; i < settings; i++) {
    if (load<u64>(settingPlaces + (i << 3)) != ((<u64>goes << 32) | place)) continue;
    const key = load<u64>(settingKeys + (i << 3));
    const value = load<u64>(settingValues + (i << 3));
    output.varint((Field.Attributes << 3) | Wire.Bytes);
    output.varint(2 + varintBytes(lengthOf(key)) + lengthOf(key) + varintBytes(lengthOf(value)) + lengthOf(value));
    output.varint((1 << 3) | Wire.Bytes);
    output.varint(lengthOf(key));
    output.add(key);
    output.varint((2 << 3) | Wire.Bytes);
    output.varint(lengthOf(value));
    output.add(value);
  }
}

function varintBytes(value: usize): usize {
  let size: usize = 1;
  for (; value >= 0x80; value >>= 7) size++;
  return size;
}
