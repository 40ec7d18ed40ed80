// What the host offers: a log and counters.

@external("env", "log")
declare function hostLog(level: i32, address: usize, bytes: usize): void;

@external("env", "record_metric")
declare function hostRecordMetric(name: usize, value: i64): void;

@external("env", "get_metric")
declare function hostGetMetric(name: usize): i64;

export const enum Level {
  Trace = 0,
  Debug = 1,
  Info = 2,
  Warn = 3,
  Error = 4,
}

export function log(level: Level, text: string): void {
  const encoded = String.UTF8.encode(text);
  hostLog(level, changetype<usize>(encoded), encoded.byteLength);
}

/** A counter. Made once, for example in `init`, because its name (128 bytes at most) is kept for the host to read. */
export class Metric {
  private name: ArrayBuffer;

  constructor(name: string) {
    this.name = String.UTF8.encode(name, true);
  }

  add(value: i64): void {
    hostRecordMetric(changetype<usize>(this.name), value);
  }

  /** What this event has recorded so far. */
  value(): i64 {
    return hostGetMetric(changetype<usize>(this.name));
  }
}
