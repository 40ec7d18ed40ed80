// Bytes that grow, in the memory of the event under way.

import { Span, addressOf, extend, lengthOf, span, take } from "./memory";

const FIRST_CAPACITY: usize = 256;

/** Made once, for example as a global; `begin` starts it anew in each event. */
@unmanaged
export class Buffer {
  private block: usize;
  private used: usize;
  private capacity: usize;

  begin(capacity: usize = FIRST_CAPACITY): void {
    this.block = take(capacity);
    this.used = 0;
    this.capacity = capacity;
  }

  get length(): usize {
    return this.used;
  }

  get bytes(): Span {
    return span(this.block, this.used);
  }

  /** Room for `size` more bytes. */
  reserve(size: usize): void {
    if (size <= this.capacity - this.used) return;
    const wanted = max(this.used + size, this.capacity + (this.capacity >> 1));
    this.block = extend(this.block, this.capacity, wanted);
    this.capacity = wanted;
  }

  add(bytes: Span): void {
    this.copy(addressOf(bytes), lengthOf(bytes));
  }

  copy(from: usize, size: usize): void {
    this.reserve(size);
    memory.copy(this.block + this.used, from, size);
    this.used += size;
  }

  byte(value: u32): void {
    this.reserve(1);
    store<u8>(this.block + this.used, value);
    this.used++;
  }

  fill(value: u8, count: usize): void {
    this.reserve(count);
    memory.fill(this.block + this.used, value, count);
    this.used += count;
  }

  /** Drops what was written behind `length`. */
  cut(length: usize): void {
    if (length < this.used) this.used = length;
  }

  varint(value: u64): void {
    while (value >= 0x80) {
      this.byte((<u32>value & 0x7f) | 0x80);
      value >>= 7;
    }
    this.byte(<u32>value);
  }
}
