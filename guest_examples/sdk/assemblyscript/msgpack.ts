// MessagePack, as far as a configuration needs it: read into plain objects, once, in `init`.

import { Span, addressOf, lengthOf, span } from "./memory";
import { isUtf8 } from "./utf8";

export const enum Kind {
  Nil,
  Boolean,
  Integer,
  Float,
  String,
  Bytes,
  List,
  Map,
  Other,
}

const MAX_DEPTH = 32;

export class Value {
  kind: Kind = Kind.Nil;
  /** Of an integer or boolean. An unsigned one above 2^63 - 1 is given as -2^63: it is in nobody's range. */
  integer: i64 = 0;
  text: string = "";
  bytes: Uint8Array | null = null;
  /** Entries of a list, values of a map. */
  items: Value[] = [];
  keys: Value[] = [];
}

let at: usize = 0;
let end: usize = 0;
let isBroken = false;

/** Reads one value that fills the bytes; null if they are not valid MessagePack. */
export function unpack(bytes: Span): Value | null {
  at = addressOf(bytes);
  end = at + lengthOf(bytes);
  isBroken = false;
  const value = read(0);
  return isBroken || at != end ? null : value;
}

/** The next `size` bytes as a big-endian number. */
function number(size: u32): u64 {
  if (<usize>size > end - at) {
    isBroken = true;
    return 0;
  }
  let value: u64 = 0;
  for (let i: u32 = 0; i < size; i++) value = (value << 8) | load<u8>(at++);
  return value;
}

function take(size: u64): Span {
  if (isBroken || size > <u64>(end - at)) {
    isBroken = true;
    return 0;
  }
  const found = span(at, <usize>size);
  at += <usize>size;
  return found;
}

function read(depth: i32): Value {
  const head = <u32>number(1);
  if (depth > MAX_DEPTH) isBroken = true;
  if (isBroken) return new Value();
  if (head < 0x80) return integer(head);
  if (head < 0x90) return map(head & 15, depth);
  if (head < 0xa0) return list(head & 15, depth);
  if (head < 0xc0) return text(head & 31);
  if (head >= 0xe0) return integer(<i64>(<i8>head));
  switch (head) {
    case 0xc0: return new Value();
    case 0xc2: case 0xc3: return boolean(head == 0xc3);
    case 0xc4: case 0xc5: case 0xc6: return binary(number(1 << (head - 0xc4)));
    case 0xc7: case 0xc8: case 0xc9: return other(Kind.Other, number(1 << (head - 0xc7)) + 1);
    case 0xca: case 0xcb: return other(Kind.Float, 4 << (head - 0xca));
    case 0xcc: case 0xcd: case 0xce: return integer(number(1 << (head - 0xcc)));
    case 0xcf: return integer(unsigned());
    case 0xd0: return integer(<i64>(<i8>number(1)));
    case 0xd1: return integer(<i64>(<i16>number(2)));
    case 0xd2: return integer(<i64>(<i32>number(4)));
    case 0xd3: return integer(<i64>number(8));
    case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8: return other(Kind.Other, (1 << (head - 0xd4)) + 1);
    case 0xd9: case 0xda: case 0xdb: return text(number(1 << (head - 0xd9)));
    case 0xdc: case 0xdd: return list(number(2 << (head - 0xdc)), depth);
    case 0xde: case 0xdf: return map(number(2 << (head - 0xde)), depth);
  }
  isBroken = true;
  return new Value();
}

function unsigned(): i64 {
  const value = <i64>number(8);
  return value < 0 ? i64.MIN_VALUE : value;
}

function integer(value: i64): Value {
  const made = new Value();
  made.kind = Kind.Integer;
  made.integer = value;
  return made;
}

function boolean(value: bool): Value {
  const made = integer(<i64>value);
  made.kind = Kind.Boolean;
  return made;
}

function other(kind: Kind, size: u64): Value {
  take(size);
  const made = new Value();
  made.kind = kind;
  return made;
}

function text(size: u64): Value {
  const made = new Value();
  made.kind = Kind.String;
  const bytes = take(size);
  if (isBroken || !isUtf8(bytes)) isBroken = true;
  else made.text = String.UTF8.decodeUnsafe(addressOf(bytes), lengthOf(bytes));
  return made;
}

function binary(size: u64): Value {
  const made = new Value();
  made.kind = Kind.Bytes;
  const bytes = take(size);
  const copy = new Uint8Array(<i32>lengthOf(bytes));
  memory.copy(copy.dataStart, addressOf(bytes), lengthOf(bytes));
  made.bytes = copy;
  return made;
}

function list(count: u64, depth: i32): Value {
  const made = new Value();
  made.kind = Kind.List;
  for (let i: u64 = 0; i < count && !isBroken; i++) made.items.push(read(depth + 1));
  return made;
}

function map(count: u64, depth: i32): Value {
  const made = new Value();
  made.kind = Kind.Map;
  for (let i: u64 = 0; i < count && !isBroken; i++) {
    made.keys.push(read(depth + 1));
    made.items.push(read(depth + 1));
  }
  return made;
}
