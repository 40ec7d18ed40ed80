// The characters that JSON is made of.

export const enum Char {
  Quote = 0x22,
  Comma = 0x2c,
  Colon = 0x3a,
  BracketOpen = 0x5b,
  Backslash = 0x5c,
  BracketClose = 0x5d,
  BraceOpen = 0x7b,
  BraceClose = 0x7d,
}

/** Over white space, not beyond `end`. */
@inline export function skipSpace(at: usize, end: usize): usize {
  while (at < end) {
    const char = load<u8>(at);
    if (char > 0x20 || (char != 0x20 && char != 0x0a && char != 0x0d && char != 0x09)) break;
    at++;
  }
  return at;
}
