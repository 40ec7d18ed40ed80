// Keeps the events of one table and drops all others. Change `transform` into what you need.

import { Config, DROP, Field, event, span, status } from "../sdk";

export { alloc, dealloc, wasm_host_abi_version } from "../sdk";

let table: string = "";

// Called once, before the first event. What it refuses, the host shows to whoever wrote the configuration.
export function init(address: usize, bytes: u32): i32 {
  const config = Config.read(span(address, bytes), ["table"]);
  table = config.string("table");
  return status();
}

// Called for each event. The answer may depend on the event and the configuration, on nothing else.
export function transform(address: usize, bytes: u32): u64 {
  if (!event.open(address, bytes)) return event.failed();
  return event.text(Field.Table) == table ? event.answer() : DROP;
}
