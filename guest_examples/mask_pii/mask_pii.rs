//! Hides values of both row images by dotted path. The configuration and its texts: sdk/SEMANTICS.md.

use wasm_host::check::refuse;
use wasm_host::config::Value;
use wasm_host::event::{not_json, AFTER, BEFORE};
use wasm_host::host::Metric;
use wasm_host::json::{Kind, Span, Trouble};
use wasm_host::path::Path;
use wasm_host::sha256::{put_hex, sha256, HmacKey};
use wasm_host::text::{put_json_string, value_text};
use wasm_host::walk::{all, Edit, Walk};
use wasm_host::{Answer, Change, Entry, Event, Reader, Transform};

const ACTIONS: [&str; 7] = ["redact", "null", "truncate", "hash", "hmac", "keep_last", "keep"];

/// Attributes that repeat values of the row, where a path rule does not reach.
const ROW_ATTRIBUTES: [&str; 4] =
    ["cdc.entity.entity_identifier", "cdc.operation.changed_field_values", "debezium.tombstone", "opencdc.key"];

/// What happens to one value.
enum Action {
    /// The marker, as JSON.
    Redact(Vec<u8>),
    Null,
    Truncate(usize),
    Hash,
    Hmac(HmacKey),
    KeepLast(usize),
    Keep,
}

struct MaskPii {
    paths: Vec<Path>,
    actions: Vec<Action>,
    unmatched: Vec<Metric>,
    default: Action,
    removed_attributes: Vec<&'static [u8]>,
}

fn read_key(top: &Reader) -> Result<HmacKey, String> {
    let entry = top.required("hmac_key")?;
    let key = match entry.value {
        Value::Str(text) => text.as_bytes(),
        Value::Bin(bytes) => bytes,
        _ => return refuse("hmac_key", "must be a string or bytes"),
    };
    if key.len() < 16 {
        return refuse("hmac_key", "must have at least 16 bytes");
    }
    Ok(HmacKey::new(key))
}

fn read_action(reader: &Reader, top: &Reader) -> Result<Action, String> {
    let name = ACTIONS[reader.required("action")?.choice(&ACTIONS)?];
    let marker = reader.get("marker");
    if marker.is_some() && name != "redact" {
        return refuse(&reader.place("marker"), "is only for redact");
    }
    if reader.get("n").is_some() && !matches!(name, "truncate" | "keep_last") {
        return refuse(&reader.place("n"), "is only for truncate and keep_last");
    }
    let characters = || reader.required("n")?.integer(0, 1_000_000).map(|n| n as usize);
    Ok(match name {
        "redact" => {
            let mut json = Vec::new();
            put_json_string(marker.map_or(Ok("***"), |entry| entry.string())?.as_bytes(), &mut json);
            Action::Redact(json)
        }
        "null" => Action::Null,
        "truncate" => Action::Truncate(characters()?),
        "hash" => Action::Hash,
        "hmac" => Action::Hmac(read_key(top)?),
        "keep_last" => Action::KeepLast(characters()?),
        _ => Action::Keep,
    })
}

impl MaskPii {
    fn add_rule(&mut self, entry: Entry<'static>, top: &Reader) -> Result<(), String> {
        let reader = entry.open(&["path", "action", "marker", "n"])?;
        let path_entry = reader.required("path")?;
        let path = path_entry.path()?;
        if self.paths.contains(&path) {
            return refuse(&path_entry.location, "is given twice");
        }
        self.paths.push(path);
        self.actions.push(read_action(&reader, top)?);
        self.unmatched.push(Metric::new(&["mask_pii.unmatched.", path_entry.string()?].concat()));
        Ok(())
    }

    /// The masked image, nothing when it stays as it is. `matched` gathers the rules that led to a value.
    fn mask(&self, image: &[u8], matched: &mut u64) -> Result<Option<Vec<u8>>, Trouble> {
        let masks_leaves = !matches!(self.default, Action::Keep);
        let mut walk = Walk::new(image, &self.paths, all(self.paths.len())).stop_at_leaves(masks_leaves);
        let mut edit = Edit::new(image);
        // Depth and start of the outermost container that a rule keeps; the default is off below it.
        let mut kept: Option<(usize, usize)> = None;
        while let Some(stop) = walk.step()? {
            *matched |= stop.matched;
            let is_kept = kept.map_or(false, |(depth, start)| walk.opened_at(depth) == Some(start));
            let action = match stop.matched {
                0 if is_kept => continue,
                0 => &self.default,
                rules => &self.actions[rules.trailing_zeros() as usize],
            };
            match (action, stop.is_open) {
                (Action::Keep, true) if !is_kept => kept = Some((walk.depth() - 1, stop.span.start)),
                (Action::Keep, _) => {}
                (_, true) => apply(action, image, walk.skip()?, &mut edit),
                (_, false) => apply(action, image, stop.span, &mut edit),
            }
        }
        Ok(edit.finish())
    }
}

/// Replaces one value, unless the action leaves it as it is. A null hides nothing and stays null.
fn apply(action: &Action, image: &[u8], span: Span, edit: &mut Edit) {
    if span.kind == Kind::Null {
        return;
    }
    match action {
        Action::Keep => {}
        Action::Redact(marker) => edit.replace(span).extend_from_slice(marker),
        Action::Null => edit.replace(span).extend_from_slice(b"null"),
        Action::Truncate(characters) => {
            let text = value_text(image, span);
            let end = offset_of(&text, *characters);
            if end < text.len() {
                put_json_string(&text[..end], edit.replace(span));
            }
        }
        Action::KeepLast(characters) => {
            let text = value_text(image, span);
            let count = text.iter().filter(|byte| is_first_byte(**byte)).count();
            // A text that is not longer than what may be seen is hidden as a whole.
            let hidden = if count > *characters { count - characters } else { count };
            let masked = [&b"*".repeat(hidden), &text[offset_of(&text, hidden)..]].concat();
            put_json_string(&masked, edit.replace(span));
        }
        Action::Hash => put_digest(&sha256(&value_text(image, span)), edit.replace(span)),
        Action::Hmac(key) => put_digest(&key.digest(&value_text(image, span)), edit.replace(span)),
    }
}

fn is_first_byte(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// The offset behind the first `characters` of a text, or its length when it has no more than these.
fn offset_of(text: &[u8], characters: usize) -> usize {
    let mut starts = (0..text.len()).filter(|at| is_first_byte(text[*at]));
    starts.nth(characters).unwrap_or(text.len())
}

fn put_digest(digest: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    put_hex(digest, out);
    out.push(b'"');
}

impl Transform for MaskPii {
    fn configure(config: Entry<'static>) -> Result<MaskPii, String> {
        let top = config.open(&["rules", "default", "hmac_key", "remove_attributes"])?;
        let mut made = MaskPii {
            paths: Vec::new(),
            actions: Vec::new(),
            unmatched: Vec::new(),
            default: Action::Keep,
            removed_attributes: ROW_ATTRIBUTES.iter().map(|key| key.as_bytes()).collect(),
        };
        if let Some(rules) = top.get("rules") {
            for entry in rules.list()? {
                made.add_rule(entry, &top)?;
            }
        }
        if let Some(default) = top.get("default") {
            made.default = read_action(&default.open(&["action", "marker", "n"])?, &top)?;
        }
        if made.paths.is_empty() && matches!(made.default, Action::Keep) {
            return refuse("", "has neither rules nor a default");
        }
        made.removed_attributes.extend(top.strings("remove_attributes")?.iter().map(|key| key.as_bytes()));
        Ok(made)
    }

    fn transform(&self, event: &Event) -> Result<Answer, String> {
        let mut matched = 0;
        let mut masked = |image: Option<&[u8]>, name: &str| match image {
            Some(image) => self.mask(image, &mut matched).map_err(|trouble| not_json(name, trouble)),
            None => Ok(None),
        };
        let before = masked(event.before, "before")?;
        let after = masked(event.after, "after")?;
        let mut change = Change::default();
        change.remove_attributes(event, &self.removed_attributes)?;
        if let Some(before) = &before {
            change.set(BEFORE, before);
        }
        if let Some(after) = &after {
            change.set(AFTER, after);
        }
        if event.before.is_some() || event.after.is_some() {
            let unmatched = self.unmatched.iter().enumerate().filter(|(rule, _)| matched >> rule & 1 == 0);
            unmatched.for_each(|(_, metric)| metric.add(1));
        }
        Ok(change.answer(event))
    }
}

wasm_host::export!(MaskPii);
