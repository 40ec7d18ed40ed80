// Hands every event back as it came.

import { Config, one, span, status } from "../sdk/assemblyscript";

export { alloc, dealloc, wasm_host_abi_version } from "../sdk/assemblyscript";

export function init(address: usize, bytes: u32): i32 {
  Config.read(span(address, bytes), []);
  return status();
}

export function transform(address: usize, bytes: u32): u64 {
  return one(span(address, bytes));
}
