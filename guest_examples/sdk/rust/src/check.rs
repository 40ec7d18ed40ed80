//! The configuration checked in words: each function checks one thing and refuses in the words of `sdk/SEMANTICS.md`.
#![forbid(unsafe_code)]

use crate::config::Value;
use crate::path::{self, Path};
use crate::text::push_decimal;

pub const MAX_ENTRIES: usize = 64;

/// A value and how messages name it; the location is empty for the whole configuration.
#[derive(Clone)]
pub struct Entry<'a> {
    pub value: Value<'a>,
    pub location: String,
}

/// The text of a refusal.
pub fn refuse<T>(location: &str, problem: &str) -> Result<T, String> {
    let blank = if location.is_empty() { "" } else { " " };
    Err(["configuration: ", location, blank, problem].concat())
}

impl<'a> Entry<'a> {
    /// Takes a map and refuses keys that are not in `allowed`.
    pub fn open(self, allowed: &[&str]) -> Result<Reader<'a>, String> {
        let reader = Reader { map: self.value, location: self.location };
        let pairs = match &reader.map {
            Value::Map(pairs) => pairs,
            _ => return refuse(&reader.location, "must be a map"),
        };
        for (key, _) in pairs {
            match key {
                Value::Str(key) if allowed.contains(key) => {}
                Value::Str(key) => return refuse("unknown key", &reader.place(key)),
                _ => return refuse(&reader.location, "has a key that is not a string"),
            }
        }
        Ok(reader)
    }

    /// Text that is not empty.
    pub fn string(&self) -> Result<&'a str, String> {
        match self.value {
            Value::Str("") => refuse(&self.location, "must not be empty"),
            Value::Str(text) => Ok(text),
            _ => refuse(&self.location, "must be a string"),
        }
    }

    /// One of a few words, by its place.
    pub fn choice(&self, choices: &[&str]) -> Result<usize, String> {
        let found = match self.value {
            Value::Str(word) => choices.iter().position(|choice| *choice == word),
            _ => None,
        };
        match found {
            Some(index) => Ok(index),
            None => refuse(&self.location, &["must be one of ", &choices.join(", ")].concat()),
        }
    }

    /// A whole number within bounds.
    pub fn integer(&self, low: u32, high: u32) -> Result<u32, String> {
        match self.value {
            Value::Int(number) if (i128::from(low)..=i128::from(high)).contains(&number) => Ok(number as u32),
            _ => {
                let mut problem = String::from("must be an integer from ");
                push_decimal(&mut problem, u64::from(low));
                problem.push_str(" to ");
                push_decimal(&mut problem, u64::from(high));
                refuse(&self.location, &problem)
            }
        }
    }

    /// A list of 1 to 64 entries, each with its location.
    pub fn list(&self) -> Result<Vec<Entry<'a>>, String> {
        let values = match &self.value {
            Value::Array(values) => values,
            _ => return refuse(&self.location, "must be a list"),
        };
        if values.is_empty() || values.len() > MAX_ENTRIES {
            return refuse(&self.location, "must have from 1 to 64 entries");
        }
        let place = |index: usize| {
            let mut location = [&self.location, "["].concat();
            push_decimal(&mut location, index as u64);
            location.push(']');
            location
        };
        Ok(values.iter().enumerate().map(|(i, value)| Entry { value: value.clone(), location: place(i) }).collect())
    }

    /// A dotted path.
    pub fn path(&self) -> Result<Path, String> {
        path::parse(self.string()?).or_else(|problem| refuse(&self.location, problem))
    }
}

/// One map of the configuration.
pub struct Reader<'a> {
    map: Value<'a>,
    location: String,
}

impl<'a> Reader<'a> {
    /// How messages name a key of this map.
    pub fn place(&self, key: &str) -> String {
        let dot = if self.location.is_empty() { "" } else { "." };
        [self.location.as_str(), dot, key].concat()
    }

    /// The value of a key, if it is given; an explicit nil counts as given.
    pub fn get(&self, key: &str) -> Option<Entry<'a>> {
        self.map.get(key).map(|value| Entry { value: value.clone(), location: self.place(key) })
    }

    /// The value of a key that must be given.
    pub fn required(&self, key: &str) -> Result<Entry<'a>, String> {
        self.get(key).map_or_else(|| refuse(&self.place(key), "is missing"), Ok)
    }

    /// A list of strings that are not empty; an absent key is an empty list.
    pub fn strings(&self, key: &str) -> Result<Vec<&'a str>, String> {
        match self.get(key) {
            Some(entry) => entry.list()?.iter().map(Entry::string).collect(),
            None => Ok(Vec::new()),
        }
    }
}
