// Strict JSON, read where it lies. `scan` looks at a whole document once; the other functions then trust it and need no
// memory: they take the address of a value (its first byte) and give other addresses in the same document.

import { Span, addressOf, lengthOf, span } from "./memory";
import { Char, skipSpace } from "./char";
import { numberEnd, scanLiteral, scanString, stringEnd } from "./token";

/** Containers that may be open at once. */
export const MAX_DEPTH = 128;

const OK: i32 = -1;
const TOO_DEEP: i32 = -2;
const closers = memory.data(128);

/**
 * Checks a document. Gives an empty text, or what is wrong with it.
 * @param name how the failure calls the document, for example `after`.
 */
export function scan(name: string, document: Span): string {
  const trouble = firstTrouble(addressOf(document), addressOf(document) + lengthOf(document));
  if (trouble == OK) return "";
  if (trouble == TOO_DEEP) return `${name} is nested deeper than ${MAX_DEPTH} levels`;
  return `${name} is not valid JSON at byte ${trouble}`;
}

/** Offset of the first thing that is not JSON, or OK, or TOO_DEEP. */
function firstTrouble(start: usize, end: usize): i32 {
  let at = start;
  let depth = 0;
  while (true) {
    // A value begins.
    at = skipSpace(at, end);
    if (at == end) return <i32>(at - start);
    const char = load<u8>(at);
    if (char == Char.BraceOpen || char == Char.BracketOpen) {
      if (depth == MAX_DEPTH) return TOO_DEEP;
      // "{" and "}" as well as "[" and "]" are two apart.
      store<u8>(closers + depth, char + 2);
      at = skipSpace(at + 1, end);
      if (at == end || load<u8>(at) != char + 2) {
        depth++;
        if (char == Char.BracketOpen) continue;
        const value = scanKey(at, end);
        if (value == 0) return <i32>(keyTrouble - start);
        at = value;
        continue;
      }
      at++;
    } else {
      const behind = scanScalar(char, at, end);
      if (behind == 0) return <i32>(at - start);
      at = behind;
    }
    // A value has ended.
    while (true) {
      at = skipSpace(at, end);
      if (depth == 0) return at == end ? OK : <i32>(at - start);
      if (at == end) return <i32>(at - start);
      const separator = load<u8>(at);
      if (separator == load<u8>(closers + depth - 1)) {
        depth--;
        at++;
        continue;
      }
      if (separator != Char.Comma) return <i32>(at - start);
      at++;
      break;
    }
    if (load<u8>(closers + depth - 1) == Char.BraceClose) {
      const value = scanKey(skipSpace(at, end), end);
      if (value == 0) return <i32>(keyTrouble - start);
      at = value;
    }
  }
}

let keyTrouble: usize = 0;

/** From a key to behind its colon; 0 if there is none, and `keyTrouble` says where. */
function scanKey(at: usize, end: usize): usize {
  keyTrouble = at;
  if (at == end || load<u8>(at) != Char.Quote) return 0;
  const behind = scanString(at, end);
  if (behind == 0) return 0;
  keyTrouble = skipSpace(behind, end);
  if (keyTrouble == end || load<u8>(keyTrouble) != Char.Colon) return 0;
  return keyTrouble + 1;
}

function scanScalar(char: u8, at: usize, end: usize): usize {
  if (char == Char.Quote) return scanString(at, end);
  if (char == 0x74) return scanLiteral(at, end, 0x65757274, 4); // true
  if (char == 0x66) return scanLiteral(at, end, 0x65736c61, 5); // false: "alse" behind the f
  if (char == 0x6e) return scanLiteral(at, end, 0x6c6c756e, 4); // null
  return numberEnd(at, end);
}

/** Whether a value is an object or an array. */
@inline export function isContainer(value: usize): bool {
  const char = load<u8>(value);
  return char == Char.BraceOpen || char == Char.BracketOpen;
}

/** Behind a value; `end` is where its document ends. */
export function skip(value: usize, end: usize): usize {
  let at = value;
  let char = load<u8>(at);
  if (char == Char.Quote) return stringEnd(at);
  if (!isContainer(at)) {
    // A number or a word ends where something begins that cannot be part of it.
    while (++at < end && isWord(load<u8>(at))) {}
    return at;
  }
  let depth = 0;
  while (true) {
    char = load<u8>(at);
    if (char == Char.Quote) {
      at = stringEnd(at);
      continue;
    }
    at++;
    if (char == Char.BraceOpen || char == Char.BracketOpen) depth++;
    else if ((char == Char.BraceClose || char == Char.BracketClose) && --depth == 0) return at;
  }
}

@inline function isWord(char: u8): bool {
  const letter = <u8>((char | 0x20) - 0x61);
  return <u8>(char - 0x30) < 10 || letter < 26 || char == 0x2b || char == 0x2d || char == 0x2e;
}

/** The first key of an object or element of an array; 0 if it has none. */
export function firstChild(container: usize): usize {
  const at = skipSpace(container + 1, usize.MAX_VALUE);
  const char = load<u8>(at);
  return char == Char.BraceClose || char == Char.BracketClose ? 0 : at;
}

/** From behind a value to the next key or element of its container; 0 if it was the last. */
export function nextChild(valueEnd: usize): usize {
  const at = skipSpace(valueEnd, usize.MAX_VALUE);
  return load<u8>(at) == Char.Comma ? skipSpace(at + 1, usize.MAX_VALUE) : 0;
}

/** From behind the last value of a container to behind the container. */
export function containerEnd(lastValueEnd: usize): usize {
  return skipSpace(lastValueEnd, usize.MAX_VALUE) + 1;
}

/** The value of the member whose key begins here. */
export function memberValue(key: usize): usize {
  return skipSpace(skipSpace(stringEnd(key), usize.MAX_VALUE) + 1, usize.MAX_VALUE);
}

/** Where the document's root begins. */
export function root(document: Span): usize {
  return skipSpace(addressOf(document), usize.MAX_VALUE);
}

/** Where the document ends. */
export function endOf(document: Span): usize {
  return addressOf(document) + lengthOf(document);
}

/** The bytes of a value. */
export function textOf(value: usize, end: usize): Span {
  return span(value, skip(value, end) - value);
}
