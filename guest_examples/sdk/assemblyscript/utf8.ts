// UTF-8: checked, counted and cut by characters.

import { Span, addressOf, lengthOf } from "./memory";

@inline function isContinuation(at: usize): bool {
  return (load<u8>(at) & 0xc0) == 0x80;
}

/** Behind the character of two to four bytes at `at`; 0 if there is none (overlong, surrogate, too large, cut off). */
export function utf8End(at: usize, end: usize): usize {
  const first = load<u8>(at);
  const bytes: usize = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes == 0 || end - at < bytes) return 0;
  for (let i: usize = 1; i < bytes; i++) if (!isContinuation(at + i)) return 0;
  const second = load<u8>(at + 1);
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return at + bytes;
}

export function isUtf8(text: Span): bool {
  let at = addressOf(text);
  const end = at + lengthOf(text);
  while (at < end) {
    at = load<u8>(at) < 0x80 ? at + 1 : utf8End(at, end);
    if (at == 0) return false;
  }
  return true;
}

/** Characters (code points) of valid UTF-8. */
export function countCharacters(text: Span): usize {
  let count: usize = 0;
  const end = addressOf(text) + lengthOf(text);
  for (let at = addressOf(text); at < end; at++) count += <usize>!isContinuation(at);
  return count;
}

/** Bytes of the first `characters` characters; all of them if there are fewer. */
export function bytesOfFirst(text: Span, characters: usize): usize {
  const start = addressOf(text);
  const end = start + lengthOf(text);
  let at = start;
  while (at < end) {
    if (!isContinuation(at)) {
      if (characters == 0) break;
      characters--;
    }
    at++;
  }
  return at - start;
}
