//! Shows what the SDK does for a test: edits fields as the configuration says, and answers in each of the four ways.

use wasm_host::config::Value;
use wasm_host::host::{log, Level, Metric};
use wasm_host::{put_event, Answer, Change, Entry, Event, Transform};

struct Probe {
    answer: usize,
    edits: Vec<Value<'static>>,
    attributes: Vec<(&'static [u8], &'static [u8])>,
    removed: Vec<&'static [u8]>,
}

/// The scalar fields in words, as a failure: what the SDK has read.
fn show(event: &Event) -> Result<Answer, String> {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or(b"-")).into_owned();
    Err(format!(
        "{} {} {} {} {} {} {}",
        event.op,
        event.ts,
        event.envelope_version,
        u8::from(event.before_is_key_only),
        text(event.schema),
        text(Some(event.table)),
        text(event.attribute(b"k")?),
    ))
}

impl Transform for Probe {
    fn configure(config: Entry<'static>) -> Result<Probe, String> {
        let top = config.open(&["answer", "edits", "attributes", "removed"])?;
        let answer = top.required("answer")?.choice(&["event", "drop", "both", "fail", "fields"])?;
        let mut edits = Vec::new();
        for entry in top.required("edits")?.list()? {
            edits.push(entry.value.clone());
            entry.open(&["field", "bytes", "number"])?;
        }
        let mut attributes = Vec::new();
        if let Some(entry) = top.get("attributes") {
            for entry in entry.list()? {
                if let (Some(Value::Str(key)), Some(Value::Bin(value))) = (entry.value.get("key"), entry.value.get("value")) {
                    attributes.push((key.as_bytes(), *value));
                }
            }
        }
        let removed = top.strings("removed")?.into_iter().map(str::as_bytes).collect();
        Ok(Probe { answer, edits, attributes, removed })
    }

    fn transform(&self, event: &Event) -> Result<Answer, String> {
        let metric = Metric::new("probe.events");
        metric.add(2);
        metric.add(metric.recorded());
        log(Level::Warn, "seen");
        let mut change = Change::default();
        for edit in &self.edits {
            let field = match edit.get("field") {
                Some(Value::Int(field)) => *field as u32,
                _ => continue,
            };
            match (edit.get("bytes"), edit.get("number")) {
                (Some(Value::Bin(bytes)), _) => change.set(field, bytes),
                (_, Some(Value::Int(number))) => change.set_number(field, *number as u64),
                _ => change.remove(field),
            }
        }
        change.remove_attributes(event, &self.removed)?;
        for (key, value) in &self.attributes {
            change.set_attribute(event, key, value)?;
        }
        match self.answer {
            0 => Ok(change.answer(event)),
            1 => Ok(Answer::Drop),
            3 => Err("as asked".into()),
            4 => show(event),
            _ => {
                let mut both = Vec::new();
                put_event(&mut both, event.bytes);
                put_event(&mut both, &change.encode(event));
                Ok(Answer::Several(both))
            }
        }
    }
}

wasm_host::export!(Probe);
