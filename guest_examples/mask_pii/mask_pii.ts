// Hides values of both row images by dotted path. The rules are in SEMANTICS.md of the SDKs; twin.py is the same in Python.

import {
  Buffer, Config, Field, HmacKey, Kind, Metric, Path, Span, Value,
  bytesOfFirst, containerEnd, countCharacters, endOf, event, fail, firstChild, isContainer, isRefused, keepText,
  keyAt, leadsTo, lengthOf, addressOf, memberValue, nextChild, refuse, root, scan, skip, span, splice, status, valueText,
  writeEscaped, writeSha256, writeString,
} from "../sdk/assemblyscript";

export { alloc, dealloc, wasm_host_abi_version } from "../sdk/assemblyscript";

const ACTIONS = ["redact", "null", "truncate", "hash", "hmac", "keep_last", "keep"];
const enum Act { Redact, Null, Truncate, Hash, Hmac, KeepLast, Keep }

const MAX_CHARACTERS: i64 = 1_000_000;
const MIN_KEY_BYTES: usize = 16;
const QUOTE = 0x22;
const STAR: u8 = 0x2a;
const BRACE_OPEN = 0x7b;

class Action {
  marker: Span = 0;
  characters: usize = 0;
  constructor(public act: Act) {}
}

class Rule {
  constructor(public path: Path, public action: Action, public unmatched: Metric) {}
}

/** Attributes that repeat values of the row; no path reaches into them. */
const ROW_ATTRIBUTES = [
  "cdc.entity.entity_identifier", "cdc.operation.changed_field_values", "debezium.tombstone", "opencdc.key",
];

let rules: Rule[] = [];
let byDefault: Action = new Action(Act.Keep);
let hmacKey: HmacKey | null = null;
let removedAttributes: StaticArray<Span> = [];
/** Bit i of entry d: the path of rule i has d segments. */
const endingAt = new StaticArray<u64>(130);

const NULL_TEXT = keepText("null");
const DEFAULT_MARKER = keepText("***");

export function init(address: usize, bytes: u32): i32 {
  const config = Config.read(span(address, bytes), ["rules", "default", "hmac_key", "remove_attributes"]);
  if (config.has("rules")) {
    const entries = config.entries("rules");
    for (let i = 0; i < entries.length && !isRefused(); i++) readRule(config, entries[i].value, entries[i].place);
  }
  if (config.has("default")) {
    const entry = Config.open(config.required("default"), "default", ["action", "marker", "n"]);
    byDefault = readAction(entry, config);
  }
  if (rules.length == 0 && byDefault.act == Act.Keep) refuse("", "has neither rules nor a default");
  const removed = ROW_ATTRIBUTES.slice();
  if (config.has("remove_attributes")) {
    const entries = config.entries("remove_attributes");
    for (let i = 0; i < entries.length; i++) removed.push(entries[i].string());
  }
  removedAttributes = StaticArray.fromArray(removed.map<Span>((key) => keepText(key)));
  return status();
}

function readRule(config: Config, value: Value, place: string): void {
  const entry = Config.open(value, place, ["path", "action", "marker", "n"]);
  const path = entry.path("path");
  for (let i = 0; i < rules.length; i++) {
    if (rules[i].path.isSame(path)) refuse(entry.placeOf("path"), "is given twice");
  }
  const action = readAction(entry, config);
  if (isRefused()) return;
  endingAt[path.length] |= <u64>1 << rules.length;
  rules.push(new Rule(path, action, new Metric("mask_pii.unmatched." + entry.string("path"))));
}

function readAction(entry: Config, config: Config): Action {
  const action = new Action(<Act>entry.choice("action", ACTIONS));
  const counts = action.act == Act.Truncate || action.act == Act.KeepLast;
  if (entry.has("marker") && action.act != Act.Redact) refuse(entry.placeOf("marker"), "is only for redact");
  if (entry.has("n") && !counts) refuse(entry.placeOf("n"), "is only for truncate and keep_last");
  if (action.act == Act.Redact) {
    action.marker = entry.has("marker") ? keepText(entry.string("marker")) : DEFAULT_MARKER;
  }
  if (counts) action.characters = <usize>entry.integer("n", 0, MAX_CHARACTERS);
  if (action.act == Act.Hmac) readKey(config);
  return action;
}

function readKey(config: Config): void {
  const value = config.required("hmac_key");
  let key: Span = 0;
  const bytes = value.bytes;
  if (value.kind == Kind.String) key = keepText(value.text);
  else if (bytes != null) key = span(bytes.dataStart, bytes.byteLength);
  else refuse("hmac_key", "must be a string or bytes");
  if (lengthOf(key) < MIN_KEY_BYTES) refuse("hmac_key", `must have at least ${MIN_KEY_BYTES} bytes`);
  hmacKey = new HmacKey(key);
}

export function transform(address: usize, bytes: u32): u64 {
  if (!event.open(address, bytes) || !event.removeAttributes(removedAttributes)) return event.failed();
  const before = event.bytes(Field.Before);
  const after = event.bytes(Field.After);
  if (before != 0) {
    const trouble = scan("before", before);
    if (trouble.length != 0) return fail(trouble);
  }
  if (after != 0) {
    const trouble = scan("after", after);
    if (trouble.length != 0) return fail(trouble);
  }
  matched = 0;
  if (before != 0) mask(Field.Before, before);
  if (after != 0) mask(Field.After, after);
  if (before != 0 || after != 0) {
    for (let i = 0; i < rules.length; i++) {
      if ((matched >> i & 1) == 0) rules[i].unmatched.add(1);
    }
  }
  return event.answer();
}

/** Bit i: rule i has matched a value of this event. */
let matched: u64 = 0;
let documentEnd: usize = 0;

function mask(field: Field, image: Span): void {
  documentEnd = endOf(image);
  splice.begin(image);
  const all: u64 = rules.length == 64 ? u64.MAX_VALUE : ((<u64>1 << rules.length) - 1);
  walk(root(image), 0, all, byDefault);
  const masked = splice.finish();
  if (masked != 0) event.setBytes(field, masked);
}

/** Masks a value and all below it, and gives where it ends. `alive`: the rules whose first segments led here. */
function walk(value: usize, depth: i32, alive: u64, inherited: Action): usize {
  const named = alive & endingAt[depth];
  matched |= named;
  const action = named == 0 ? inherited : rules[<i32>ctz(named)].action;
  if (isContainer(value) && (named == 0 || action.act == Act.Keep)) {
    const deeper = alive & ~named;
    if (deeper != 0 || action.act != Act.Keep) return walkChildren(value, depth, deeper, action);
  }
  const end = skip(value, documentEnd);
  apply(action, value, end);
  return end;
}

function walkChildren(container: usize, depth: i32, alive: u64, inherited: Action): usize {
  let child = firstChild(container);
  if (child == 0) return skip(container, documentEnd);
  const isObject = load<u8>(container) == BRACE_OPEN;
  while (true) {
    const key: Span = isObject ? keyAt(child) : 0;
    let deeper: u64 = 0;
    for (let left = alive; left != 0; left &= left - 1) {
      const segment = rules[<i32>ctz(left)].path.segments[depth];
      if (leadsTo(segment, key)) deeper |= left & -left;
    }
    const end = walk(isObject ? memberValue(child) : child, depth + 1, deeper, inherited);
    child = nextChild(end);
    if (child == 0) return containerEnd(end);
  }
}

function apply(action: Action, value: usize, end: usize): void {
  // A null hides nothing and stays null.
  if (action.act == Act.Keep || load<u8>(value) == 0x6e) return;
  if (action.act == Act.Null) {
    splice.replace(value, end).add(NULL_TEXT);
    return;
  }
  if (action.act == Act.Redact) {
    writeString(splice.replace(value, end), action.marker);
    return;
  }
  const text = valueText(value, documentEnd);
  if (action.act == Act.Truncate) {
    const kept = bytesOfFirst(text, action.characters);
    if (kept < lengthOf(text)) writeString(splice.replace(value, end), span(addressOf(text), kept));
    return;
  }
  const to = splice.replace(value, end);
  to.byte(QUOTE);
  if (action.act == Act.KeepLast) writeLast(to, text, action.characters);
  else if (action.act == Act.Hash) writeSha256(to, text);
  else hmacKey!.write(to, text);
  to.byte(QUOTE);
}

/** A text that is not longer than what may be seen is hidden as a whole. */
function writeLast(to: Buffer, text: Span, characters: usize): void {
  const count = countCharacters(text);
  const hidden = count > characters ? count - characters : count;
  const skipped = bytesOfFirst(text, hidden);
  to.fill(STAR, hidden);
  writeEscaped(to, span(addressOf(text) + skipped, lengthOf(text) - skipped));
}
