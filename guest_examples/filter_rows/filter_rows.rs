//! Keeps the events that a subscription asks for. The configuration and its texts: sdk/SEMANTICS.md.

mod condition;

use condition::{Condition, Tests};
use wasm_host::config::Value;
use wasm_host::event::{self, not_json};
use wasm_host::json::{Kind, Trouble};
use wasm_host::path::{Path, Segment};
use wasm_host::text::{matches, value_text};
use wasm_host::walk::{all, Walk};
use wasm_host::{Answer, Entry, Event, Reader, Transform};

const KEYS: [&str; 9] = [
    "operations",
    "exclude_operations",
    "entities",
    "exclude_entities",
    "tenants",
    "tenant_field",
    "triggers",
    "changed_fields",
    "where",
];
const OPERATIONS: [&str; 7] = ["INSERT", "CREATE", "UPDATE", "DELETE", "READ", "SCHEMA_CHANGE", "TRUNCATE"];
/// The operation that each of these words stands for.
const NUMBERS: [u32; 7] =
    [event::INSERT, event::INSERT, event::UPDATE, event::DELETE, event::READ, event::SCHEMA_CHANGE, event::TRUNCATE];
const TENANT_FIELD: &str = "attribute:cdc.entity.tenant_id";
const TRIGGER: &[u8] = b"cdc.operation.trigger";
const CHANGED_FIELDS: &str = "cdc.operation.changed_fields";

struct FilterRows {
    operations: Vec<u32>,
    excluded_operations: Vec<u32>,
    entities: Vec<&'static str>,
    excluded_entities: Vec<&'static str>,
    tenants: Vec<&'static str>,
    tenant_test: Tests,
    triggers: Vec<&'static str>,
    changed_fields: Vec<&'static str>,
    changed_paths: Vec<Path>,
    condition: Option<Condition>,
}

fn read_operations(reader: &Reader, key: &str) -> Result<Vec<u32>, String> {
    match reader.get(key) {
        None => Ok(Vec::new()),
        Some(entry) => entry.list()?.iter().map(|word| Ok(NUMBERS[word.choice(&OPERATIONS)?])).collect(),
    }
}

fn matches_any(patterns: &[&str], text: &[u8]) -> bool {
    patterns.iter().any(|pattern| matches(pattern.as_bytes(), text))
}

fn is_entity(event: &Event, patterns: &[&str]) -> bool {
    let is_qualified = |schema: &[u8]| matches_any(patterns, &[schema, b".", event.table].concat());
    !patterns.is_empty() && (matches_any(patterns, event.table) || event.schema.map_or(false, is_qualified))
}

impl FilterRows {
    fn is_subscribed(&self, event: &Event, is_rowless: bool) -> bool {
        !self.excluded_operations.contains(&event.op)
            && (self.operations.is_empty() || self.operations.contains(&event.op) || is_rowless)
            && (self.entities.is_empty() || is_entity(event, &self.entities))
            && !is_entity(event, &self.excluded_entities)
    }

    fn is_wanted(&self, event: &Event) -> Result<bool, String> {
        if !self.tenants.is_empty() && self.tenant_test.run(event)? == 0 {
            return Ok(false);
        }
        if !self.triggers.is_empty() {
            let trigger = event.attribute(TRIGGER)?;
            if !trigger.map_or(false, |trigger| matches_any(&self.triggers, trigger)) {
                return Ok(false);
            }
        }
        if !self.changed_fields.is_empty() && !self.is_changed(event)? {
            return Ok(false);
        }
        self.condition.as_ref().map_or(Ok(true), |condition| condition.holds(event))
    }

    fn is_changed(&self, event: &Event) -> Result<bool, String> {
        if let Some(list) = event.attribute(CHANGED_FIELDS.as_bytes())? {
            return self.is_listed(list).map_err(|trouble| not_json(CHANGED_FIELDS, trouble));
        }
        let before = self.columns(event.before).map_err(|trouble| not_json("before", trouble))?;
        let after = self.columns(event.after).map_err(|trouble| not_json("after", trouble))?;
        let is_available = |column: &str| !event.has_text(event::UNAVAILABLE_COLUMNS, column.as_bytes());
        let mut columns = self.changed_fields.iter().enumerate();
        Ok(columns.any(|(index, column)| before[index] != after[index] && is_available(column)))
    }

    /// Whether the producer lists one of the columns. Only strings right inside an array count.
    fn is_listed(&self, list: &[u8]) -> Result<bool, Trouble> {
        let children = [vec![Segment::Any]];
        let mut walk = Walk::new(list, &children, 1);
        let mut is_found = false;
        while let Some(stop) = walk.step()? {
            let is_in_array = walk.opened_at(0).map_or(false, |start| list[start] == b'[');
            if is_in_array && stop.span.kind == Kind::String {
                let listed = value_text(list, stop.span);
                is_found |= self.changed_fields.iter().any(|column| *column.as_bytes() == *listed);
            }
        }
        Ok(is_found)
    }

    /// The JSON text of each column in question, if it is there. Of duplicates the last counts.
    fn columns<'a>(&self, image: Option<&'a [u8]>) -> Result<Vec<Option<&'a [u8]>>, Trouble> {
        let mut columns = vec![None; self.changed_paths.len()];
        let image = match image {
            Some(image) => image,
            None => return Ok(columns),
        };
        let mut walk = Walk::new(image, &self.changed_paths, all(self.changed_paths.len()));
        while let Some(stop) = walk.step()? {
            let span = if stop.is_open { walk.skip()? } else { stop.span };
            for (index, column) in columns.iter_mut().enumerate() {
                if stop.matched >> index & 1 == 1 {
                    *column = Some(&image[span.start..span.end]);
                }
            }
        }
        Ok(columns)
    }
}

impl Transform for FilterRows {
    fn configure(config: Entry<'static>) -> Result<FilterRows, String> {
        let top = config.open(&KEYS)?;
        let operations = read_operations(&top, "operations")?;
        let excluded_operations = read_operations(&top, "exclude_operations")?;
        let entities = top.strings("entities")?;
        let excluded_entities = top.strings("exclude_entities")?;
        let tenants = top.strings("tenants")?;
        let default = Entry { value: Value::Str(TENANT_FIELD), location: "tenant_field".into() };
        let tenant_test = Tests::is_in(&top.get("tenant_field").unwrap_or(default), &tenants)?;
        let triggers = top.strings("triggers")?;
        let changed_fields = top.strings("changed_fields")?;
        let changed_paths = changed_fields.iter().map(|key| vec![Segment::Key(key.as_bytes().to_vec())]).collect();
        let condition = top.get("where").map(Condition::parse).transpose()?;
        Ok(FilterRows {
            operations,
            excluded_operations,
            entities,
            excluded_entities,
            tenants,
            tenant_test,
            triggers,
            changed_fields,
            changed_paths,
            condition,
        })
    }

    fn transform(&self, event: &Event) -> Result<Answer, String> {
        let is_rowless = matches!(event.op, event::TRUNCATE | event::SCHEMA_CHANGE);
        if !self.is_subscribed(event, is_rowless) {
            return Ok(Answer::Drop);
        }
        // There is no row to look at, and losing one of these would corrupt a copy of the table.
        if is_rowless || self.is_wanted(event)? {
            return Ok(Answer::Keep);
        }
        Ok(Answer::Drop)
    }
}

wasm_host::export!(FilterRows);
