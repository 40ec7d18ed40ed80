// One entry of the event's attributes: a message {1: key, 2: value}.

import { Span, equal } from "./memory";
import { Reader, Wire } from "./wire";

const EMPTY_AT = memory.data(8);

const reader = new Reader();

export namespace entry {
  export let key: Span = 0;
  export let value: Span = 0;

  /** Reads an entry; a missing key or value is empty. False if it is no message. */
  export function read(message: Span): bool {
    key = value = <u64>EMPTY_AT << 32;
    reader.begin(message);
    while (reader.next()) {
      if (reader.wire != Wire.Bytes) continue;
      if (reader.number == 1) key = reader.value;
      else if (reader.number == 2) value = reader.value;
    }
    return !reader.isBroken;
  }

  export function isOneOf(keys: StaticArray<Span>): bool {
    for (let i = 0; i < keys.length; i++) {
      if (equal(keys[i], key)) return true;
    }
    return false;
  }
}
