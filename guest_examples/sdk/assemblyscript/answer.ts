// The four answers of `transform`.

import { Buffer } from "./buffer";
import { Span, addressOf, alloc, lengthOf } from "./memory";

const SEVERAL: u64 = 1;
const FAILURE: u64 = 2;

/** The event is filtered out. */
export const DROP: u64 = 0;

/** One event: the input block itself, or a block from `alloc`. */
export function one(event: Span): u64 {
  return event;
}

/** The event fails, with a message for people. */
export function fail(message: string): u64 {
  const encoded = String.UTF8.encode(message);
  const block = alloc(encoded.byteLength);
  memory.copy(block, changetype<usize>(encoded), encoded.byteLength);
  return (FAILURE << 62) | (<u64>block << 32) | encoded.byteLength;
}

const stream = new Buffer();

/** Several events from one: `begin`, then `add` each message, then `answer`. No message at all drops the event. */
export namespace several {
  export function begin(): void {
    stream.begin();
  }

  export function add(event: Span): void {
    stream.varint(lengthOf(event));
    stream.add(event);
  }

  export function answer(): u64 {
    if (stream.length == 0) return DROP;
    const block = alloc(<u32>stream.length);
    memory.copy(block, addressOf(stream.bytes), stream.length);
    return (SEVERAL << 62) | (<u64>block << 32) | stream.length;
  }
}
