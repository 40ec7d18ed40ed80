// Memory of one event. Blocks lie one behind the other and all become free together, when the host has given back the
// last block it holds: nothing is ever leaked and nothing is fragmented. What must outlive an event (the configuration)
// belongs into ordinary AssemblyScript objects, which live on a heap of their own, or into `keep`.

/** Bytes somewhere in memory: address in the upper half, length in the lower. 0 means "there is none". */
export type Span = u64;

const MAX_BLOCK_BYTES: usize = 1 << 30;

let base: usize = 0;
let top: usize = 0;
let end: usize = 0;
let held: i32 = 0;

@inline export function span(address: usize, bytes: usize): Span {
  return (<u64>address << 32) | <u64>bytes;
}

@inline export function addressOf(bytes: Span): usize {
  return <usize>(bytes >> 32);
}

@inline export function lengthOf(bytes: Span): usize {
  return <usize>(bytes & 0xffffffff);
}

/** Memory for the event under way. Traps with a message when there is none. */
export function take(size: usize): usize {
  if (size > MAX_BLOCK_BYTES) abort("out of memory: a block of more than 1 GiB was asked for");
  size = (size + 15) & ~15;
  if (size > end - top) more(size);
  const block = top;
  top += size;
  return block;
}

function more(size: usize): void {
  const room = <usize>memory.size() << 16;
  // AssemblyScript's own heap may have grown in between; then go on behind it.
  if (end != room) base = top = end = room;
  const pages = (size - (end - top) + 0xffff) >> 16;
  if (memory.grow(<i32>pages) < 0) abort("out of memory: the host's limit is reached");
  end += pages << 16;
}

/** Makes a block longer: in place if it was the last one taken, else it moves. */
export function extend(block: usize, size: usize, wanted: usize): usize {
  if (((block + size + 15) & ~15) == top) top = block;
  const longer = take(wanted);
  if (longer != block) memory.copy(longer, block, size);
  return longer;
}

/** A copy that stays for the life of the instance; for configuration. */
export function keep(bytes: Span): Span {
  const copy = heap.alloc(lengthOf(bytes) + 1);
  memory.copy(copy, addressOf(bytes), lengthOf(bytes));
  return span(copy, lengthOf(bytes));
}

/** The UTF-8 bytes of a string, for the life of the instance. */
export function keepText(text: string): Span {
  const encoded = String.UTF8.encode(text);
  return keep(span(changetype<usize>(encoded), encoded.byteLength));
}

export function equal(a: Span, b: Span): bool {
  if (lengthOf(a) != lengthOf(b)) return false;
  return memory.compare(addressOf(a), addressOf(b), lengthOf(a)) == 0;
}

/** Below, equal to or above 0, as the bytes of `a` stand to those of `b`. */
export function compare(a: Span, b: Span): i32 {
  const order = memory.compare(addressOf(a), addressOf(b), min(lengthOf(a), lengthOf(b)));
  return order != 0 ? order : <i32>lengthOf(a) - <i32>lengthOf(b);
}

/** Part of the contract: the host's blocks. */
export function alloc(size: u32): usize {
  held++;
  return take(size == 0 ? 1 : size);
}

/** Part of the contract. */
export function dealloc(_block: usize, _size: u32): void {
  held--;
  if (held == 0) top = base;
}

/** Part of the contract. */
export function wasm_host_abi_version(): i32 {
  return 1;
}
