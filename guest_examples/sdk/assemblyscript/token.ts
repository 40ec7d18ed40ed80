// Strings, numbers and words of JSON. The `scan` functions check and give 0 for trouble; `stringEnd` trusts.

import { Char } from "./char";
import { utf8End } from "./utf8";

@inline function isDigit(at: usize, end: usize): bool {
  return at < end && <u8>(load<u8>(at) - 0x30) < 10;
}

/** Behind a number; 0 if a digit is missing. */
export function numberEnd(at: usize, end: usize): usize {
  if (load<u8>(at) == 0x2d) at++;
  if (!isDigit(at, end)) return 0;
  if (load<u8>(at) == 0x30) at++;
  else while (isDigit(at, end)) at++;
  if (at < end && load<u8>(at) == 0x2e) {
    if (!isDigit(++at, end)) return 0;
    while (isDigit(at, end)) at++;
  }
  if (at < end && (load<u8>(at) | 0x20) == 0x65) {
    at++;
    if (at < end && (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d)) at++;
    if (!isDigit(at, end)) return 0;
    while (isDigit(at, end)) at++;
  }
  return at;
}

/** Behind a word of `size` bytes whose last four bytes are `tail`; 0 if it is another. */
export function scanLiteral(at: usize, end: usize, tail: u32, size: usize): usize {
  if (end - at < size || load<u32>(at + size - 4) != tail) return 0;
  return at + size;
}

/** Four hexadecimal digits, or -1. */
export function hexValue(at: usize, end: usize): i32 {
  if (at + 4 > end) return -1;
  let value = 0;
  for (let i: usize = 0; i < 4; i++) {
    const char = load<u8>(at + i);
    const digit = <u8>(char - 0x30);
    const letter = <u8>((char | 0x20) - 0x61);
    if (digit < 10) value = (value << 4) | digit;
    else if (letter < 6) value = (value << 4) | (letter + 10);
    else return -1;
  }
  return value;
}

/** Behind an escape, `at` being its backslash; 0 for trouble, half of a surrogate pair included. */
function scanEscape(at: usize, end: usize): usize {
  if (at + 1 >= end) return 0;
  switch (load<u8>(at + 1)) {
    case 0x22: case 0x5c: case 0x2f: case 0x62: case 0x66: case 0x6e: case 0x72: case 0x74:
      return at + 2;
    case 0x75:
      break;
    default:
      return 0;
  }
  const unit = hexValue(at + 2, end);
  if (unit < 0 || (unit & 0xfc00) == 0xdc00) return 0;
  if ((unit & 0xfc00) != 0xd800) return at + 6;
  if (at + 12 > end || load<u16>(at + 6) != 0x755c) return 0; // "\u"
  const second = hexValue(at + 8, end);
  return second >= 0 && (second & 0xfc00) == 0xdc00 ? at + 12 : 0;
}

/** Behind a string, `at` being its opening quote; 0 for any trouble in it. */
export function scanString(at: usize, end: usize): usize {
  at++;
  while (at < end) {
    const char = load<u8>(at);
    if (char == Char.Quote) return at + 1;
    if (char == Char.Backslash) {
      at = scanEscape(at, end);
      if (at == 0) return 0;
    } else if (char < 0x20) {
      return 0;
    } else if (char < 0x80) {
      at++;
    } else {
      at = utf8End(at, end);
      if (at == 0) return 0;
    }
  }
  return 0;
}

/** Behind a string of a document that has been scanned. */
export function stringEnd(at: usize): usize {
  while (true) {
    const char = load<u8>(++at);
    if (char == Char.Quote) return at + 1;
    if (char == Char.Backslash) at++;
  }
}
