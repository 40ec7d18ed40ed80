// The SDK: everything a guest needs, under one name. See README.md.

export { DROP, fail, one, several } from "./answer";
export { Buffer } from "./buffer";
export { Config, Entry, isRefused, refuse, status } from "./config";
export { Field, Operation, event } from "./event";
export { Level, Metric, log } from "./host";
export { Span, addressOf, alloc, dealloc, equal, keep, keepText, lengthOf, span, take, wasm_host_abi_version } from "./memory";
export { Kind, Value } from "./msgpack";
export { containerEnd, endOf, firstChild, isContainer, memberValue, nextChild, root, scan, skip, textOf } from "./json";
export { ANY_CHILD, Path, keyAt, leadsTo, select } from "./path";
export { HmacKey, writeSha256 } from "./sha256";
export { splice } from "./splice";
export { decode, valueText, writeEscaped, writeString } from "./text";
export { bytesOfFirst, countCharacters } from "./utf8";
