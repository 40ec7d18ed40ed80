//! Keeps the events of one table and drops all others. Change `transform` into what you need.

use wasm_host::{Answer, Entry, Event, Transform};

struct OneTable {
    table: &'static str,
}

impl Transform for OneTable {
    /// Called once, before the first event. What it refuses, the host shows to whoever wrote the configuration.
    fn configure(config: Entry<'static>) -> Result<OneTable, String> {
        let table = config.open(&["table"])?.required("table")?.string()?;
        Ok(OneTable { table })
    }

    /// Called for each event. The answer may depend on the event and the configuration, on nothing else.
    fn transform(&self, event: &Event) -> Result<Answer, String> {
        let is_ours = event.table == self.table.as_bytes();
        Ok(if is_ours { Answer::Keep } else { Answer::Drop })
    }
}

wasm_host::export!(OneTable);
