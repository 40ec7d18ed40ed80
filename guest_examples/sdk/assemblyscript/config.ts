// The configuration, checked in the order in which it is asked for. The first refusal counts; after it every question
// gets some harmless answer, so that `init` needs to look only once, at its end.

import { Level, log } from "./host";
import { Span } from "./memory";
import { Kind, Value, unpack } from "./msgpack";
import { Path, parsePath, parsed } from "./path";

const MAX_LIST_ENTRIES = 64;

let refusal: string = "";

/** Refuses a place in the configuration (empty for the whole), unless something was refused before. */
export function refuse(place: string, problem: string): void {
  if (refusal.length == 0) refusal = "configuration: " + (place.length == 0 ? problem : `${place} ${problem}`);
}

export function isRefused(): bool {
  return refusal.length != 0;
}

/** What `init` returns: 0, or 1 after the reason has been logged. */
export function status(): i32 {
  if (refusal.length == 0) return 0;
  log(Level.Error, refusal);
  return 1;
}

/** An entry of a list, and how messages name it. */
export class Entry {
  constructor(public value: Value, public place: string) {}

  string(): string {
    return stringOf(this.value, this.place);
  }
}

/** One map of the configuration. */
export class Config {
  private constructor(private keys: Value[], private items: Value[], private place: string) {}

  /** The whole configuration; refuses keys that are not in `allowed`. */
  static read(bytes: Span, allowed: string[]): Config {
    refusal = "";
    const value = unpack(bytes);
    if (value == null) refuse("", "not valid MessagePack");
    return Config.open(value == null ? new Value() : value, "", allowed);
  }

  static open(value: Value, place: string, allowed: string[]): Config {
    if (value.kind != Kind.Map) refuse(place, "must be a map");
    const config = new Config(value.keys, value.items, place);
    for (let i = 0; i < value.keys.length; i++) {
      const key = value.keys[i];
      if (key.kind != Kind.String) refuse(place, "has a key that is not a string");
      else if (!allowed.includes(key.text)) refuse("", `unknown key ${config.placeOf(key.text)}`);
    }
    return config;
  }

  placeOf(key: string): string {
    return this.place.length == 0 ? key : `${this.place}.${key}`;
  }

  /** Whether the key is given; an explicit nil counts as given. */
  has(key: string): bool {
    return this.find(key) >= 0;
  }

  private find(key: string): i32 {
    for (let i = this.keys.length - 1; i >= 0; i--) {
      if (this.keys[i].kind == Kind.String && this.keys[i].text == key) return i;
    }
    return -1;
  }

  /** A value of any kind. */
  required(key: string): Value {
    const index = this.find(key);
    if (index >= 0) return this.items[index];
    refuse(this.placeOf(key), "is missing");
    return new Value();
  }

  /** Text that is not empty. */
  string(key: string): string {
    return stringOf(this.required(key), this.placeOf(key));
  }

  /** One of a few words, by its index. */
  choice(key: string, choices: string[]): i32 {
    const value = this.required(key);
    const index = value.kind == Kind.String ? choices.indexOf(value.text) : -1;
    if (index < 0) refuse(this.placeOf(key), `must be one of ${choices.join(", ")}`);
    return index;
  }

  integer(key: string, low: i64, high: i64): i64 {
    const value = this.required(key);
    if (value.kind == Kind.Integer && value.integer >= low && value.integer <= high) return value.integer;
    refuse(this.placeOf(key), `must be an integer from ${low} to ${high}`);
    return low;
  }

  boolean(key: string): bool {
    const value = this.required(key);
    if (value.kind != Kind.Boolean) refuse(this.placeOf(key), "must be true or false");
    return value.integer != 0;
  }

  /** A list of 1 to 64 entries. */
  entries(key: string): Entry[] {
    const place = this.placeOf(key);
    const value = this.required(key);
    const entries: Entry[] = [];
    if (value.kind != Kind.List) refuse(place, "must be a list");
    else if (value.items.length < 1 || value.items.length > MAX_LIST_ENTRIES) {
      refuse(place, `must have from 1 to ${MAX_LIST_ENTRIES} entries`);
    } else {
      for (let i = 0; i < value.items.length; i++) entries.push(new Entry(value.items[i], `${place}[${i}]`));
    }
    return entries;
  }

  /** A dotted path. */
  path(key: string): Path {
    const text = this.string(key);
    if (isRefused()) return new Path([]);
    const problem = parsePath(text);
    if (problem.length == 0) return parsed;
    refuse(this.placeOf(key), problem);
    return new Path([]);
  }
}

function stringOf(value: Value, place: string): string {
  if (value.kind != Kind.String) refuse(place, "must be a string");
  else if (value.text.length == 0) refuse(place, "must not be empty");
  return value.text;
}
