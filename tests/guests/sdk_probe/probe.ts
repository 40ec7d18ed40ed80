// Shows what the SDK does for a test: edits fields as the configuration says, and answers in each of the four ways.

import {
  Config, DROP, Field, Level, Metric, Path, Span, Value, addressOf, event, fail, isRefused, keep, keepText, lengthOf, log,
  scan, select, several, span, splice, status, writeString,
} from "../../../guest_examples/sdk/assemblyscript";

export { alloc, dealloc, wasm_host_abi_version } from "../../../guest_examples/sdk/assemblyscript";

const enum Answer { Event, Drop, Both, Fail, Fields, Path }

class Edit {
  field: Field = Field.Before;
  bytes: Value | null = null;
  number: Value | null = null;
}

class Setting {
  key: Span = 0;
  value: Span = 0;
}

const settings: Setting[] = [];
let removed: StaticArray<Span> | null = null;
let answer: i32 = 0;
const edits: Edit[] = [];
const events = new Metric("probe.events");
const KEY = keepText("k");
const MARK = keepText("hidden");
let path: Path = new Path([]);

export function init(address: usize, bytes: u32): i32 {
  const config = Config.read(span(address, bytes), ["answer", "edits", "path", "attributes", "removed"]);
  answer = config.choice("answer", ["event", "drop", "both", "fail", "fields", "path"]);
  if (config.has("path")) path = config.path("path");
  const entries = config.entries("edits");
  for (let i = 0; i < entries.length && !isRefused(); i++) {
    const entry = Config.open(entries[i].value, entries[i].place, ["field", "bytes", "number"]);
    const edit = new Edit();
    edit.field = <Field>(<i32>entry.integer("field", 1, 14));
    if (entry.has("bytes")) edit.bytes = entry.required("bytes");
    if (entry.has("number")) edit.number = entry.required("number");
    edits.push(edit);
  }
  if (config.has("attributes")) readAttributes(config);
  return status();
}

function readAttributes(config: Config): void {
  const entries = config.entries("attributes");
  for (let i = 0; i < entries.length && !isRefused(); i++) {
    const entry = Config.open(entries[i].value, entries[i].place, ["key", "value"]);
    const setting = new Setting();
    const value = entry.required("value").bytes!;
    setting.key = keepBytes(entry.required("key"));
    setting.value = keep(span(value.dataStart, value.byteLength));
    settings.push(setting);
  }
  const names = config.entries("removed");
  removed = new StaticArray<Span>(names.length);
  for (let i = 0; i < names.length; i++) removed![i] = keepBytes(names[i].value);
}

function keepBytes(value: Value): Span {
  return keepText(value.text);
}

/** Removes and sets attributes; false when one of the event cannot be read. */
function editAttributes(): bool {
  const names = removed;
  if (names != null && !event.removeAttributes(names)) return false;
  for (let i = 0; i < settings.length; i++) {
    if (!event.setAttribute(settings[i].key, settings[i].value)) return false;
  }
  return true;
}

function apply(edit: Edit): void {
  const bytes = edit.bytes;
  const number = edit.number;
  if (bytes != null) event.setBytes(edit.field, span(bytes.bytes!.dataStart, bytes.bytes!.byteLength));
  else if (number != null) event.setNumber(edit.field, number.integer);
  else event.remove(edit.field);
}

/** The scalar fields in words, as a failure: what the SDK has read. */
function show(): u64 {
  const schema = event.bytes(Field.Schema) == 0 ? "-" : event.text(Field.Schema);
  const value = event.attribute(KEY);
  const attribute = value == 0 ? "-" : String.UTF8.decodeUnsafe(addressOf(value), lengthOf(value));
  const numbers = `${<u32>event.operation()} ${event.number(Field.Ts)} ${event.number(Field.EnvelopeVersion)}`;
  return fail(`${numbers} ${event.number(Field.BeforeIsKeyOnly)} ${schema} ${event.text(Field.Table)} ${attribute}`);
}

/** Replaces what the path leads to in `after`. */
function hide(): u64 {
  const document = event.bytes(Field.After);
  const trouble = scan("after", document);
  if (trouble.length != 0) return fail(trouble);
  splice.begin(document);
  select(document, path, (value, end) => writeString(splice.replace(value, end), MARK));
  const hidden = splice.finish();
  if (hidden != 0) event.setBytes(Field.After, hidden);
  return event.answer();
}

export function transform(address: usize, bytes: u32): u64 {
  if (!event.open(address, bytes)) return event.failed();
  events.add(2);
  events.add(events.value());
  log(Level.Warn, "seen");
  if (answer == Answer.Drop) return DROP;
  if (answer == Answer.Fail) return fail("as asked");
  if (answer == Answer.Fields) return show();
  if (answer == Answer.Path) return hide();
  for (let i = 0; i < edits.length; i++) apply(edits[i]);
  if (!editAttributes()) return event.failed();
  if (answer == Answer.Event) return event.answer();
  several.begin();
  several.add(span(address, bytes));
  several.add(event.build());
  return several.answer();
}
