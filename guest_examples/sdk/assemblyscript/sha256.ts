// SHA-256 and HMAC-SHA256. The keyed state of HMAC is made once, in `init`.

import { Buffer } from "./buffer";
import { Span, addressOf, lengthOf, span } from "./memory";

const BLOCK_BYTES: usize = 64;
const DIGEST_BYTES: usize = 32;

const ROUND = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const START = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

const words = memory.data(64 * 4, 16);
const state = memory.data(32, 16);
const tail = memory.data(128, 16);
const digest = memory.data(32, 16);
const HEX = memory.data<u8>([48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102]);

@inline function word(i: usize): u32 {
  return load<u32>(words + (i << 2));
}

/** Takes one block of 64 bytes into `state`. */
function compress(block: usize): void {
  for (let i: usize = 0; i < 16; i++) store<u32>(words + (i << 2), bswap(load<u32>(block + (i << 2))));
  for (let i: usize = 16; i < 64; i++) {
    const a = word(i - 15);
    const b = word(i - 2);
    const mixed = (rotr(a, 7) ^ rotr(a, 18) ^ (a >> 3)) + (rotr(b, 17) ^ rotr(b, 19) ^ (b >> 10));
    store<u32>(words + (i << 2), word(i - 16) + word(i - 7) + mixed);
  }
  let a = load<u32>(state), b = load<u32>(state, 4), c = load<u32>(state, 8), d = load<u32>(state, 12);
  let e = load<u32>(state, 16), f = load<u32>(state, 20), g = load<u32>(state, 24), h = load<u32>(state, 28);
  for (let i: usize = 0; i < 64; i++) {
    const first =
      h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + load<u32>(ROUND + (i << 2)) + word(i);
    const second = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  store<u32>(state, load<u32>(state) + a);
  store<u32>(state, load<u32>(state, 4) + b, 4);
  store<u32>(state, load<u32>(state, 8) + c, 8);
  store<u32>(state, load<u32>(state, 12) + d, 12);
  store<u32>(state, load<u32>(state, 16) + e, 16);
  store<u32>(state, load<u32>(state, 20) + f, 20);
  store<u32>(state, load<u32>(state, 24) + g, 24);
  store<u32>(state, load<u32>(state, 28) + h, 28);
}

/** Hashes `bytes` from the state `from`, which has taken `before` bytes already; the digest is then in `digest`. */
function finish(from: usize, before: usize, bytes: Span): void {
  memory.copy(state, from, DIGEST_BYTES);
  let at = addressOf(bytes);
  let left = lengthOf(bytes);
  while (left >= BLOCK_BYTES) {
    compress(at);
    at += BLOCK_BYTES;
    left -= BLOCK_BYTES;
  }
  const padded = left < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;
  memory.copy(tail, at, left);
  memory.fill(tail + left, 0, padded - left);
  store<u8>(tail + left, 0x80);
  store<u64>(tail + padded - 8, bswap(<u64>(before + lengthOf(bytes)) << 3));
  compress(tail);
  if (padded > BLOCK_BYTES) compress(tail + BLOCK_BYTES);
  for (let i: usize = 0; i < DIGEST_BYTES; i += 4) store<u32>(digest + i, bswap(load<u32>(state + i)));
}

function writeHex(to: Buffer): void {
  for (let i: usize = 0; i < DIGEST_BYTES; i++) {
    const byte = load<u8>(digest + i);
    to.byte(load<u8>(HEX + (byte >> 4)));
    to.byte(load<u8>(HEX + (byte & 15)));
  }
}

/** Writes SHA-256 in lower-case hexadecimal. */
export function writeSha256(to: Buffer, bytes: Span): void {
  finish(START, 0, bytes);
  writeHex(to);
}

/** A key for HMAC-SHA256, with both of its pads hashed already. */
export class HmacKey {
  private inner: StaticArray<u8> = new StaticArray<u8>(32);
  private outer: StaticArray<u8> = new StaticArray<u8>(32);

  constructor(key: Span) {
    if (lengthOf(key) > BLOCK_BYTES) {
      finish(START, 0, key);
      key = span(digest, DIGEST_BYTES);
    }
    this.padded(key, 0x36, this.inner);
    this.padded(key, 0x5c, this.outer);
  }

  private padded(key: Span, pad: u8, into: StaticArray<u8>): void {
    const block = new StaticArray<u8>(64);
    for (let i = 0; i < 64; i++) block[i] = pad;
    for (let i = 0; i < <i32>lengthOf(key); i++) block[i] = load<u8>(addressOf(key) + i) ^ pad;
    memory.copy(state, START, DIGEST_BYTES);
    compress(changetype<usize>(block));
    memory.copy(changetype<usize>(into), state, DIGEST_BYTES);
  }

  /** Writes HMAC-SHA256 in lower-case hexadecimal. */
  write(to: Buffer, bytes: Span): void {
    finish(changetype<usize>(this.inner), BLOCK_BYTES, bytes);
    finish(changetype<usize>(this.outer), BLOCK_BYTES, span(digest, DIGEST_BYTES));
    writeHex(to);
  }
}
