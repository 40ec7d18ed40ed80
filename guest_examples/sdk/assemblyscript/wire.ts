// The protobuf wire format, one level at a time.

import { Span, addressOf, lengthOf, span } from "./memory";

export const enum Wire {
  Varint = 0,
  Fixed64 = 1,
  Bytes = 2,
  Fixed32 = 5,
}

const MAX_TAG_BYTES: usize = 5;
const MAX_VARINT_BYTES: usize = 10;

/** Goes over the fields of a message. Made once, for example as a global; `begin` starts it anew. */
@unmanaged
export class Reader {
  private first: usize;
  private at: usize;
  private stop: usize;
  private start: usize;
  /** Of the field that `next` found. */
  number: u32;
  wire: Wire;
  /** The number of a varint or fixed field, the span of a bytes field. */
  value: u64;
  isBroken: bool;

  begin(message: Span): void {
    this.first = this.at = this.start = addressOf(message);
    this.stop = this.first + lengthOf(message);
    this.isBroken = false;
  }

  /** Offset of the field's tag in the message; where the walk stopped, if the message is broken. */
  get offset(): u32 {
    return <u32>(this.start - this.first);
  }

  /** Offset behind the field. */
  get end(): u32 {
    return <u32>(this.at - this.first);
  }

  /** Tag and value, as they stand. */
  get raw(): Span {
    return span(this.start, this.at - this.start);
  }

  /** Finds the next field. False at the end, and when the message is broken. */
  next(): bool {
    this.start = this.at;
    if (this.at == this.stop) return false;
    const tag = this.varint(MAX_TAG_BYTES);
    this.number = <u32>(tag >> 3);
    if (this.isBroken || this.number == 0) return this.broken();
    this.wire = <Wire>(<u32>tag & 7);
    if (this.wire == Wire.Varint) this.value = this.varint(MAX_VARINT_BYTES);
    else if (this.wire == Wire.Bytes) this.value = this.bytes(this.varint(MAX_VARINT_BYTES));
    else if (this.wire == Wire.Fixed64) this.value = this.bytes(8);
    else if (this.wire == Wire.Fixed32) this.value = this.bytes(4);
    else return this.broken();
    return !this.isBroken;
  }

  private broken(): bool {
    this.isBroken = true;
    return false;
  }

  private varint(limit: usize): u64 {
    let value: u64 = 0;
    for (let i: usize = 0; i < limit && this.at < this.stop; i++) {
      const byte = load<u8>(this.at++);
      value |= (<u64>byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    this.isBroken = true;
    return 0;
  }

  private bytes(size: u64): Span {
    if (this.isBroken || size > <u64>(this.stop - this.at)) {
      this.isBroken = true;
      return 0;
    }
    const found = span(this.at, <usize>size);
    this.at += <usize>size;
    return found;
  }
}
