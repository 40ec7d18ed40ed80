// Dotted paths into documents: `contact.email`, `emails.*`, `a\.b`.

import { Char } from "./char";
import { containerEnd, endOf, firstChild, isContainer, memberValue, nextChild, root, skip } from "./json";
import { Span, equal, keep, span } from "./memory";
import { decode } from "./text";
import { stringEnd } from "./token";

/** A segment that stands for every child. */
export const ANY_CHILD: Span = 0;

export class Path {
  /** Each the UTF-8 bytes of a key, or ANY_CHILD. */
  segments: StaticArray<Span>;

  constructor(segments: StaticArray<Span>) {
    this.segments = segments;
  }

  get length(): i32 {
    return this.segments.length;
  }

  isSame(other: Path): bool {
    if (other.length != this.length) return false;
    for (let i = 0; i < this.length; i++) {
      const a = this.segments[i];
      const b = other.segments[i];
      if (a == ANY_CHILD || b == ANY_CHILD ? a != b : !equal(a, b)) return false;
    }
    return true;
  }
}

/** What is wrong with a path's text, empty if nothing is; then `parsed` is the path. */
export function parsePath(text: string): string {
  const encoded = String.UTF8.encode(text);
  const bytes = Uint8Array.wrap(encoded);
  if (bytes.length > 100) return "must have at most 100 bytes";
  for (let i = 0; i < bytes.length; i++) if (bytes[i] < 0x20) return "has a control character";
  const segments: Span[] = [];
  const segment = new Uint8Array(bytes.length);
  let size = 0;
  let isPlain = true;
  for (let i = 0; i <= bytes.length; i++) {
    if (i < bytes.length && bytes[i] != 0x2e) {
      if (bytes[i] == Char.Backslash) {
        isPlain = false;
        i++;
        const char: u8 = i < bytes.length ? bytes[i] : 0;
        if (char != 0x2e && char != 0x2a && char != Char.Backslash) {
          return 'has a backslash before something else than ".", "*" or "\\"';
        }
      }
      segment[size++] = bytes[i];
    } else {
      if (size == 0) return "has an empty segment";
      const isStar = isPlain && size == 1 && segment[0] == 0x2a;
      segments.push(isStar ? ANY_CHILD : keep(span(segment.dataStart, size)));
      size = 0;
      isPlain = true;
    }
  }
  parsed = new Path(StaticArray.fromArray(segments));
  return "";
}

export let parsed: Path = new Path([]);

/** Whether a segment leads to a child; `key` is 0 for an element of an array, else the decoded key. */
@inline export function leadsTo(segment: Span, key: Span): bool {
  return segment == ANY_CHILD || (key != 0 && equal(segment, key));
}

/** The decoded key that begins here. */
@inline export function keyAt(at: usize): Span {
  return decode(span(at, stringEnd(at) - at));
}

/** Calls `visit` with start and end of every value that a path leads to, in document order. */
export function select(document: Span, path: Path, visit: (value: usize, end: usize) => void): void {
  walk(root(document), endOf(document), path, 0, visit);
}

function walk(value: usize, end: usize, path: Path, depth: i32, visit: (value: usize, end: usize) => void): usize {
  if (depth == path.length) {
    const valueEnd = skip(value, end);
    visit(value, valueEnd);
    return valueEnd;
  }
  let child = isContainer(value) ? firstChild(value) : 0;
  if (child == 0) return skip(value, end);
  const isObject = load<u8>(value) == Char.BraceOpen;
  while (true) {
    const inner = isObject ? memberValue(child) : child;
    const leads = leadsTo(path.segments[depth], isObject ? keyAt(child) : 0);
    const innerEnd = leads ? walk(inner, end, path, depth + 1, visit) : skip(inner, end);
    child = nextChild(innerEnd);
    if (child == 0) return containerEnd(innerEnd);
  }
}
