// The text of JSON strings: decoded for reading, escaped for writing.

import { Buffer } from "./buffer";
import { Char } from "./char";
import { Span, addressOf, lengthOf, span } from "./memory";
import { textOf } from "./json";
import { hexValue } from "./token";

const decoded = new Buffer();
const SHORT_ESCAPES = memory.data<u8>([0x62, 0x74, 0x6e, 0, 0x66, 0x72]); // \b \t \n, none, \f \r
const UNICODE_ESCAPE = memory.data<u8>([0x75, 0x30, 0x30]); // u00
const HEX_DIGITS = memory.data<u8>([48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102]);

/** The text of a value: decoded if it is a string, its JSON otherwise. Valid until the event ends. */
export function valueText(value: usize, end: usize): Span {
  const token = textOf(value, end);
  return load<u8>(value) == Char.Quote ? decode(token) : token;
}

/** The text of a JSON string, given with its quotes. It is not copied unless there is an escape in it. */
export function decode(token: Span): Span {
  const start = addressOf(token) + 1;
  const end = start + lengthOf(token) - 2;
  let at = start;
  while (at < end && load<u8>(at) != Char.Backslash) at++;
  if (at == end) return span(start, end - start);
  decoded.begin(end - start);
  decoded.copy(start, at - start);
  while (at < end) {
    const char = load<u8>(at);
    if (char == Char.Backslash) {
      at = decodeEscape(at, end);
    } else {
      decoded.byte(char);
      at++;
    }
  }
  return decoded.bytes;
}

function decodeEscape(at: usize, end: usize): usize {
  const char = load<u8>(at + 1);
  if (char != 0x75) {
    decoded.byte(plainOf(char));
    return at + 2;
  }
  let code: u32 = hexValue(at + 2, end);
  at += 6;
  if ((code & 0xfc00) == 0xd800) {
    code = 0x10000 + ((code & 0x3ff) << 10) + (hexValue(at + 2, end) & 0x3ff);
    at += 6;
  }
  if (code < 0x80) {
    decoded.byte(code);
  } else if (code < 0x800) {
    decoded.byte(0xc0 | (code >> 6));
    decoded.byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    decoded.byte(0xe0 | (code >> 12));
    decoded.byte(0x80 | ((code >> 6) & 0x3f));
    decoded.byte(0x80 | (code & 0x3f));
  } else {
    decoded.byte(0xf0 | (code >> 18));
    decoded.byte(0x80 | ((code >> 12) & 0x3f));
    decoded.byte(0x80 | ((code >> 6) & 0x3f));
    decoded.byte(0x80 | (code & 0x3f));
  }
  return at;
}

function plainOf(char: u8): u32 {
  for (let i: u32 = 0; i < 6; i++) if (load<u8>(SHORT_ESCAPES + i) == char) return i + 8;
  return char; // a quote, a backslash, a slash
}

/** Writes text between quotes, and what must be escaped in it. */
export function writeString(to: Buffer, text: Span): void {
  to.byte(Char.Quote);
  writeEscaped(to, text);
  to.byte(Char.Quote);
}

export function writeEscaped(to: Buffer, text: Span): void {
  let copied = addressOf(text);
  const end = copied + lengthOf(text);
  for (let at = copied; at < end; at++) {
    const char = load<u8>(at);
    if (char >= 0x20 && char != Char.Quote && char != Char.Backslash) continue;
    to.copy(copied, at - copied);
    copied = at + 1;
    to.byte(Char.Backslash);
    const short = char >= 8 && char < 14 ? load<u8>(SHORT_ESCAPES + char - 8) : 0;
    if (char >= 0x20) {
      to.byte(char);
    } else if (short != 0) {
      to.byte(short);
    } else {
      to.copy(UNICODE_ESCAPE, 3);
      to.byte(load<u8>(HEX_DIGITS + (char >> 4)));
      to.byte(load<u8>(HEX_DIGITS + (char & 15)));
    }
  }
  to.copy(copied, end - copied);
}
