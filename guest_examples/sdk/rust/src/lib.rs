//! Write transforms for wasm-host: the exports, the event, the configuration and the JSON images. See README.md.
//!
//! Everything the host hands in is hostile. What parses it is safe Rust (`forbid(unsafe_code)` in each of those files),
//! so a slip is a trap that the host catches, never a read outside the bytes.

pub mod change;
pub mod check;
pub mod config;
pub mod decimal;
pub mod event;
pub mod host;
pub mod json;
pub mod path;
pub mod sha256;
pub mod text;
pub mod walk;
pub mod wire;

pub use change::Change;
pub use check::{Entry, Reader};
pub use event::Event;

/// What becomes of an event.
pub enum Answer {
    /// It goes on as it came (but for earlier occurrences of an image).
    Keep,
    /// It is filtered out.
    Drop,
    /// It goes on as these bytes.
    Event(Vec<u8>),
    /// Several go on; each was added by `put_event`.
    Several(Vec<u8>),
}

/// Adds one event to an answer of several.
pub fn put_event(events: &mut Vec<u8>, event: &[u8]) {
    wire::put_varint(events, event.len() as u64);
    events.extend_from_slice(event);
}

/// A guest: made once from its configuration, then asked for each event. `export!` gives it its exports.
pub trait Transform: Sized {
    /// Reads the configuration. The text of an error is what the host says when it refuses to load the guest.
    fn configure(config: Entry<'static>) -> Result<Self, String>;

    /// Answers one event. The text of an error is the event's failure, for people.
    fn transform(&self, event: &Event) -> Result<Answer, String>;

    /// Answers the bytes of one event; for a guest that does not look into them.
    fn transform_bytes(&self, bytes: &[u8]) -> Result<Answer, String> {
        let event = Event::read(bytes)?;
        let answer = self.transform(&event)?;
        Ok(if matches!(answer, Answer::Keep) { Change::default().answer(&event) } else { answer })
    }
}

/// What the export `init` does; `None` is a configuration that was refused, with the reason in the log.
pub fn start<T: Transform>(bytes: &[u8]) -> Option<T> {
    std::panic::set_hook(Box::new(|panic| host::log(host::Level::Error, &panic.to_string())));
    // Texts of the configuration stay in use as long as the instance lives.
    let bytes: &'static [u8] = Box::leak(bytes.to_vec().into_boxed_slice());
    let made = match config::Value::read(bytes) {
        Some(value) => T::configure(Entry { value, location: String::new() }),
        None => Err("configuration: not valid MessagePack".into()),
    };
    made.map_err(|text| host::log(host::Level::Error, &text)).ok()
}

/// What the export `transform` does: the packed answer.
pub fn answer(result: Result<Answer, String>, input: &[u8]) -> u64 {
    match result {
        Ok(Answer::Keep) => host::pack(input),
        Ok(Answer::Drop) => 0,
        Ok(Answer::Event(bytes)) => host::hand_over(bytes),
        Ok(Answer::Several(bytes)) => 1 << 62 | host::hand_over(bytes),
        Err(text) => 2 << 62 | host::hand_over(text.into_bytes()),
    }
}

/// Gives a guest the exports of the contract: `wasm_host::export!(MyGuest);`
#[macro_export]
macro_rules! export {
    ($guest:ty) => {
        thread_local! {
            // An instance has one thread; this is how safe Rust spells a variable that lives as long as the instance.
            static GUEST: std::cell::RefCell<Option<$guest>> = std::cell::RefCell::new(None);
        }

        #[no_mangle]
        pub extern "C" fn wasm_host_abi_version() -> i32 {
            1
        }

        #[no_mangle]
        pub extern "C" fn alloc(size: u32) -> *mut u8 {
            $crate::host::alloc(size)
        }

        /// # Safety
        /// The block is one of `alloc` or of an answer, and is freed once: the contract.
        #[no_mangle]
        pub unsafe extern "C" fn dealloc(memory: *mut u8, size: u32) {
            $crate::host::dealloc(memory, size)
        }

        /// # Safety
        /// The block is one of `alloc`: the contract.
        #[no_mangle]
        pub unsafe extern "C" fn init(memory: *const u8, size: u32) -> i32 {
            let made = $crate::start::<$guest>($crate::host::input(memory, size));
            let status = if made.is_some() { 0 } else { 1 };
            GUEST.with(|guest| *guest.borrow_mut() = made);
            status
        }

        /// # Safety
        /// The block is one of `alloc`: the contract.
        #[no_mangle]
        pub unsafe extern "C" fn transform(memory: *const u8, size: u32) -> u64 {
            let input = $crate::host::input(memory, size);
            GUEST.with(|guest| {
                let guest = guest.borrow();
                let guest = guest.as_ref().expect("init comes before transform");
                $crate::answer($crate::Transform::transform_bytes(guest, input), input)
            })
        }
    };
}
