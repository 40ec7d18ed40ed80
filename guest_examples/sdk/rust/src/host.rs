//! The three functions a guest may import, and the exports' memory: the only file of the SDK with `unsafe` in it.

use std::alloc::{GlobalAlloc, Layout, System};

#[link(wasm_import_module = "env")]
extern "C" {
    #[link_name = "log"]
    fn import_log(level: i32, text: *const u8, text_bytes: u32);
    #[link_name = "record_metric"]
    fn import_record_metric(name: *const u8, value: i64);
    #[link_name = "get_metric"]
    fn import_get_metric(name: *const u8) -> i64;
}

/// How loud a log line is.
#[derive(Clone, Copy)]
pub enum Level {
    Trace = 0,
    Debug = 1,
    Info = 2,
    Warn = 3,
    Error = 4,
}

/// Writes one line to the host's log.
pub fn log(level: Level, text: &str) {
    // SAFETY: the host reads `len` bytes at the pointer during the call and keeps neither.
    unsafe { import_log(level as i32, text.as_ptr(), text.len() as u32) }
}

/// The name of a counter: at most 128 bytes without NUL, kept with its terminator because the host reads up to it.
pub struct Metric(Vec<u8>);

impl Metric {
    /// Cuts the name at its first NUL and at 128 bytes, where the host would stop reading.
    pub fn new(name: &str) -> Metric {
        let end = name.bytes().take(128).position(|byte| byte == 0).unwrap_or_else(|| name.len().min(128));
        let mut terminated = name.as_bytes()[..end].to_vec();
        terminated.push(0);
        Metric(terminated)
    }

    /// Adds to the counter.
    pub fn add(&self, value: i64) {
        // SAFETY: `new` put a NUL at the end.
        unsafe { import_record_metric(self.0.as_ptr(), value) }
    }

    /// What this event has recorded under the name so far.
    pub fn recorded(&self) -> i64 {
        // SAFETY: `new` put a NUL at the end.
        unsafe { import_get_metric(self.0.as_ptr()) }
    }
}

/// The standard allocator of the target (it reuses what is freed), with a last word before memory runs out.
struct SpokenAllocator;

/// Says why in the log and traps. A failed event would be wrong: a fresh instance may have the room.
fn out_of_memory(size: usize) -> ! {
    // Written without formatting: that would allocate.
    const LABEL: &[u8; 32] = b"out of memory, bytes asked for: ";
    let mut text = [0; LABEL.len() + 10];
    let mut digits = 0;
    let mut rest = size as u32;
    while rest > 0 || digits == 0 {
        digits += 1;
        let place = text.len() - digits;
        text[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text[..LABEL.len()].copy_from_slice(LABEL);
    let first = text.len() - digits;
    text.copy_within(first.., LABEL.len());
    // SAFETY: the host reads the bytes during the call.
    unsafe { import_log(Level::Error as i32, text.as_ptr(), (LABEL.len() + digits) as u32) };
    trap()
}

/// Ends this instance. The host adds the last log line to the failure, and runs the event again on a fresh instance.
pub fn trap() -> ! {
    std::process::abort()
}

// SAFETY: every call is handed to the system allocator unchanged; a null answer never gets out.
unsafe impl GlobalAlloc for SpokenAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = System.alloc(layout);
        if memory.is_null() {
            out_of_memory(layout.size());
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        System.dealloc(memory, layout)
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let moved = System.realloc(memory, layout, size);
        if moved.is_null() {
            out_of_memory(size);
        }
        moved
    }
}

#[global_allocator]
static ALLOCATOR: SpokenAllocator = SpokenAllocator;

/// The layout of a block the host asks for; a size of 0 still needs an address that is not 0. It is also the layout of
/// a boxed slice of bytes, so an answer goes out without another copy.
fn layout(size: u32) -> Layout {
    match Layout::from_size_align(size.max(1) as usize, 1) {
        Ok(layout) => layout,
        Err(_) => out_of_memory(size as usize),
    }
}

/// What the export `alloc` does.
pub fn alloc(size: u32) -> *mut u8 {
    // SAFETY: the layout is never empty.
    unsafe { std::alloc::alloc(layout(size)) }
}

/// What the export `dealloc` does.
///
/// # Safety
/// `memory` came from `alloc(size)` or was handed out in an answer of that length, and is freed once: the contract.
pub unsafe fn dealloc(memory: *mut u8, size: u32) {
    std::alloc::dealloc(memory, layout(size))
}

/// The bytes the host has written for this call.
///
/// # Safety
/// `memory` came from `alloc` and holds `size` bytes until the export returns: the contract.
pub unsafe fn input<'a>(memory: *const u8, size: u32) -> &'a [u8] {
    std::slice::from_raw_parts(memory, size as usize)
}

/// Pointer and length as they stand in an answer.
pub fn pack(bytes: &[u8]) -> u64 {
    (bytes.as_ptr() as u64) << 32 | bytes.len() as u64
}

/// Hands bytes over to the host, which reads them and frees exactly their length.
pub fn hand_over(bytes: Vec<u8>) -> u64 {
    if bytes.is_empty() {
        return (alloc(0) as u64) << 32;
    }
    pack(Box::leak(bytes.into_boxed_slice()))
}
