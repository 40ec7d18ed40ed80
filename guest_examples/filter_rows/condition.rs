//! Conditions on the values of an event: fields, scalars, comparisons, and their combination by all, any and not.
//! The grammar and the texts: sdk/SEMANTICS.md, "Fields", "Scalars" and "Conditions".

use std::borrow::Cow;
use std::cmp::Ordering;
use wasm_host::check::refuse;
use wasm_host::config::Value;
use wasm_host::event::not_json;
use wasm_host::json::{is_number, Kind};
use wasm_host::path::Path;
use wasm_host::text::{contains, value_text};
use wasm_host::walk::Walk;
use wasm_host::{decimal, Entry, Event, Reader};

const OPERATORS: [&str; 11] = ["=", "!=", "<", "<=", ">", ">=", "in", "prefix", "suffix", "contains", "exists"];
const MAX_COMPARISONS: usize = 64;
const MAX_DEPTH: usize = 8;

/// Where a value is taken from.
pub enum Field {
    Schema,
    Table,
    Attribute(&'static str),
    Before,
    After,
    Row,
}

/// A value of an event or of the configuration: decoded text of a string, JSON text of anything else.
pub struct Scalar<'a> {
    pub kind: Kind,
    pub text: Cow<'a, [u8]>,
}

/// One comparison; it holds when at least one of the values that the field stands for satisfies it.
pub struct Comparison {
    field: Field,
    operator: &'static str,
    operands: Vec<Scalar<'static>>,
}

enum Combination {
    All(Vec<Combination>),
    Any(Vec<Combination>),
    Not(Box<Combination>),
    /// The number of a comparison.
    One(usize),
}

/// Up to 64 comparisons, tested together; bit i stands for comparison i.
#[derive(Default)]
pub struct Tests {
    comparisons: Vec<Comparison>,
    /// The path of each comparison; empty for those that read the envelope.
    paths: Vec<Path>,
}

/// A condition: comparisons and how they are combined.
pub struct Condition {
    tests: Tests,
    root: Combination,
}

fn parse_field(entry: &Entry<'static>) -> Result<(Field, Path), String> {
    let text = entry.string()?;
    let location = &entry.location;
    let (source, rest) = text.split_once(':').unwrap_or(("", text));
    let field = match source {
        "event" if rest == "schema" => return Ok((Field::Schema, Path::new())),
        "event" if rest == "table" => return Ok((Field::Table, Path::new())),
        "event" => return refuse(location, "must be event:schema or event:table"),
        "attribute" if (1..=100).contains(&rest.len()) => return Ok((Field::Attribute(rest), Path::new())),
        "attribute" => return refuse(location, "must name an attribute of 1 to 100 bytes"),
        "before" => Field::Before,
        "after" => Field::After,
        "row" => Field::Row,
        _ => return Ok((Field::Row, entry.path()?)),
    };
    let rest = Entry { value: Value::Str(rest), location: location.clone() };
    Ok((field, rest.path()?))
}

fn parse_scalar(entry: Entry<'static>) -> Result<Scalar<'static>, String> {
    let scalar = |kind, text: &'static str| Ok(Scalar { kind, text: Cow::Borrowed(text.as_bytes()) });
    match entry.value {
        Value::Nil => scalar(Kind::Null, "null"),
        Value::Bool(true) => scalar(Kind::Boolean, "true"),
        Value::Bool(false) => scalar(Kind::Boolean, "false"),
        Value::Str(text) => scalar(Kind::String, text),
        Value::Int(number) => {
            let mut text = String::from(if number < 0 { "-" } else { "" });
            wasm_host::text::push_decimal(&mut text, number.unsigned_abs() as u64);
            Ok(Scalar { kind: Kind::Number, text: Cow::Owned(text.into_bytes()) })
        }
        Value::Map(_) => {
            let decimal = entry.open(&["decimal"])?.required("decimal")?;
            let text = decimal.string()?;
            if !is_number(text.as_bytes()) {
                return refuse(&decimal.location, "must be a JSON number");
            }
            scalar(Kind::Number, text)
        }
        _ => refuse(&entry.location, "must be a string, an integer, a boolean, nil or {\"decimal\": text}"),
    }
}

fn parse_operands(reader: &Reader<'static>, operator: &str) -> Result<Vec<Scalar<'static>>, String> {
    let value = reader.required("value")?;
    if operator == "in" {
        return value.list()?.into_iter().map(parse_scalar).collect();
    }
    let location = value.location.clone();
    let operand = parse_scalar(value)?;
    let (is_right, kinds) = match operator {
        "<" | "<=" | ">" | ">=" => (matches!(operand.kind, Kind::String | Kind::Number), "a string or a number"),
        "prefix" | "suffix" | "contains" => (operand.kind == Kind::String, "a string"),
        "exists" => (operand.kind == Kind::Boolean, "true or false"),
        _ => (true, ""),
    };
    if !is_right {
        return refuse(&location, &["must be ", kinds, " for ", operator].concat());
    }
    Ok(vec![operand])
}

impl Comparison {
    fn is_satisfied_by(&self, value: &Scalar) -> bool {
        let operand = &self.operands[0];
        let is_text = value.kind == Kind::String;
        match self.operator {
            "exists" => true,
            "!=" => !equals(value, operand),
            "prefix" => is_text && value.text.starts_with(&operand.text),
            "suffix" => is_text && value.text.ends_with(&operand.text),
            "contains" => is_text && contains(&value.text, &operand.text),
            "<" => order(value, operand).map_or(false, Ordering::is_lt),
            "<=" => order(value, operand).map_or(false, Ordering::is_le),
            ">" => order(value, operand).map_or(false, Ordering::is_gt),
            ">=" => order(value, operand).map_or(false, Ordering::is_ge),
            _ => self.operands.iter().any(|operand| equals(value, operand)),
        }
    }
}

fn equals(value: &Scalar, operand: &Scalar) -> bool {
    match (value.kind, value.kind == operand.kind) {
        (_, false) => false,
        (Kind::Number, _) => decimal::compare(&value.text, &operand.text).is_eq(),
        _ => value.text == operand.text,
    }
}

fn order(value: &Scalar, operand: &Scalar) -> Option<Ordering> {
    match (value.kind, value.kind == operand.kind) {
        (Kind::Number, true) => Some(decimal::compare(&value.text, &operand.text)),
        (Kind::String, true) => Some(value.text.cmp(&operand.text)),
        _ => None,
    }
}

impl Tests {
    /// The test whether a field is one of some strings.
    pub fn is_in(field: &Entry<'static>, texts: &[&'static str]) -> Result<Tests, String> {
        let scalar = |text: &&'static str| Scalar { kind: Kind::String, text: Cow::Borrowed(text.as_bytes()) };
        let operands = texts.iter().map(scalar).collect();
        let (field, path) = parse_field(field)?;
        Ok(Tests { comparisons: vec![Comparison { field, operator: "in", operands }], paths: vec![path] })
    }

    /// Which comparisons a value of the event satisfies. Images are looked at, both of them, if a comparison reads one.
    pub fn run(&self, event: &Event) -> Result<u64, String> {
        let mut found = self.run_on_images(event)?;
        for (index, comparison) in self.comparisons.iter().enumerate() {
            let text = match comparison.field {
                Field::Schema => event.schema,
                Field::Table => Some(event.table),
                Field::Attribute(key) => event.attribute(key.as_bytes())?,
                _ => None,
            };
            let value = text.map(|text| Scalar { kind: Kind::String, text: Cow::Borrowed(text) });
            if value.map_or(false, |value| comparison.is_satisfied_by(&value)) {
                found |= 1 << index;
            }
        }
        Ok(found)
    }

    fn run_on_images(&self, event: &Event) -> Result<u64, String> {
        let (mut in_before, mut in_after) = (0, 0);
        for (index, comparison) in self.comparisons.iter().enumerate() {
            match comparison.field {
                Field::Before => in_before |= 1 << index,
                Field::After => in_after |= 1 << index,
                Field::Row if event.after.is_some() => in_after |= 1 << index,
                Field::Row => in_before |= 1 << index,
                _ => {}
            }
        }
        let mut found = 0;
        if in_before | in_after != 0 {
            self.run_on_image(event.before, "before", in_before, &mut found)?;
            self.run_on_image(event.after, "after", in_after, &mut found)?;
        }
        Ok(found)
    }

    fn run_on_image(&self, image: Option<&[u8]>, name: &str, active: u64, found: &mut u64) -> Result<(), String> {
        let image = match image {
            Some(image) => image,
            None => return Ok(()),
        };
        let mut walk = Walk::new(image, &self.paths, active);
        while let Some(stop) = walk.step().map_err(|trouble| not_json(name, trouble))? {
            // Containers equal nothing, so the text of one is never looked at.
            let text = if stop.is_open { Cow::Borrowed(&b""[..]) } else { value_text(image, stop.span) };
            let value = Scalar { kind: stop.span.kind, text };
            let mut left = stop.matched & !*found;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                if self.comparisons[bit.trailing_zeros() as usize].is_satisfied_by(&value) {
                    *found |= bit;
                }
            }
        }
        Ok(())
    }
}

impl Condition {
    /// Reads a condition.
    pub fn parse(entry: Entry<'static>) -> Result<Condition, String> {
        let mut tests = Tests::default();
        let location = entry.location.clone();
        let root = parse(entry, 1, &mut tests)?;
        if tests.comparisons.len() > MAX_COMPARISONS {
            return refuse(&location, "has more than 64 comparisons");
        }
        Ok(Condition { tests, root })
    }

    /// Whether the condition holds for an event.
    pub fn holds(&self, event: &Event) -> Result<bool, String> {
        let found = self.tests.run(event)?;
        Ok(self.is_met(&self.root, found))
    }

    fn is_met(&self, combination: &Combination, found: u64) -> bool {
        match combination {
            Combination::All(parts) => parts.iter().all(|part| self.is_met(part, found)),
            Combination::Any(parts) => parts.iter().any(|part| self.is_met(part, found)),
            Combination::Not(part) => !self.is_met(part, found),
            Combination::One(index) => {
                let comparison = &self.tests.comparisons[*index];
                let is_wanted = comparison.operator != "exists" || *comparison.operands[0].text == *b"true";
                (found >> index & 1 == 1) == is_wanted
            }
        }
    }
}

fn parse(entry: Entry<'static>, depth: usize, tests: &mut Tests) -> Result<Combination, String> {
    if depth > MAX_DEPTH {
        return refuse(&entry.location, "is nested deeper than 8 levels");
    }
    let combine = ["all", "any", "not"].into_iter().find(|key| entry.value.get(key).is_some());
    let combine = match combine {
        Some(key) => key,
        None => return parse_comparison(entry.open(&["field", "op", "value"])?, tests),
    };
    let inner = entry.open(&[combine])?.required(combine)?;
    if combine == "not" {
        return Ok(Combination::Not(Box::new(parse(inner, depth + 1, tests)?)));
    }
    let mut parts = Vec::new();
    for part in inner.list()? {
        parts.push(parse(part, depth + 1, tests)?);
    }
    Ok(if combine == "all" { Combination::All(parts) } else { Combination::Any(parts) })
}

fn parse_comparison(reader: Reader<'static>, tests: &mut Tests) -> Result<Combination, String> {
    let (field, path) = parse_field(&reader.required("field")?)?;
    let operator = OPERATORS[reader.required("op")?.choice(&OPERATORS)?];
    let operands = parse_operands(&reader, operator)?;
    tests.comparisons.push(Comparison { field, operator, operands });
    tests.paths.push(path);
    Ok(Combination::One(tests.comparisons.len() - 1))
}
