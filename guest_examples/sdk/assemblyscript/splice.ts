// Replaces values of a document and keeps every other byte of it.

import { Buffer } from "./buffer";
import { Span, addressOf, lengthOf } from "./memory";

const output = new Buffer();
let document: Span = 0;
let copied: usize = 0;
let isChanged = false;

/** One document at a time: `begin`, then `replace` from left to right, then `finish`. */
export namespace splice {
  export function begin(text: Span): void {
    document = text;
    copied = addressOf(text);
    isChanged = false;
  }

  /** Where the text goes that takes the place of the bytes from `start` to `end`. */
  export function replace(start: usize, end: usize): Buffer {
    if (!isChanged) output.begin(lengthOf(document) + (lengthOf(document) >> 2) + 64);
    isChanged = true;
    output.copy(copied, start - copied);
    copied = end;
    return output;
  }

  /** The new document; 0 if nothing was replaced. Valid until the event ends. */
  export function finish(): Span {
    if (!isChanged) return 0;
    output.copy(copied, addressOf(document) + lengthOf(document) - copied);
    return output.bytes;
  }
}
