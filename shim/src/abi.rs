//! What all modules share at the C boundary: strings, status codes, the panic guard and the big stack.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// `remit_str`: UTF-8 text that somebody else owns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Str {
    data: *const u8,
    size: usize,
}

impl Str {
    pub fn of(text: &str) -> Self {
        Str { data: text.as_ptr(), size: text.len() }
    }

    pub fn empty() -> Self {
        Str { data: std::ptr::null(), size: 0 }
    }

    /// The text, checked to be UTF-8.
    ///
    /// # Safety
    /// `data` must point to `size` readable bytes that outlive `'a`, or `size` must be 0.
    pub unsafe fn get<'a>(self) -> Outcome<&'a str> {
        if self.size == 0 {
            return Ok("");
        }
        if self.data.is_null() {
            return Err(Failure::misuse("a string is null"));
        }
        // SAFETY: the caller promised `size` readable bytes at `data`.
        let bytes = unsafe { std::slice::from_raw_parts(self.data, self.size) };
        std::str::from_utf8(bytes)
            .map_err(|e| Failure::misuse(format!("text is not UTF-8 at byte {}", e.valid_up_to())))
    }
}

/// Reads `count` values of a C array.
///
/// # Safety
/// `items` must point to `count` readable values that outlive `'a`, or `count` must be 0.
pub unsafe fn slice<'a, T>(items: *const T, count: usize) -> Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if items.is_null() {
        return Err(Failure::misuse("an array is null"));
    }
    // SAFETY: the caller promised `count` readable values at `items`.
    Ok(unsafe { std::slice::from_raw_parts(items, count) })
}

/// `remit_shim_status`: what became of a call.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    Misuse = 1,
    Limit = 2,
    Refused = 3,
    Unsupported = 4,
    Panic = 5,
}

/// A status other than `Ok`, its message and, where there is one, its place in the input.
#[derive(Clone, Debug)]
pub struct Failure {
    pub status: Status,
    pub message: String,
    pub place: String,
}

pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    fn new(status: Status, message: impl Into<String>) -> Self {
        Failure { status, message: message.into(), place: String::new() }
    }

    /// The caller broke the rules of the header: a null handle, a bad index, text that is not UTF-8.
    pub fn misuse(message: impl Into<String>) -> Self {
        Failure::new(Status::Misuse, message)
    }

    /// A size, depth or count is past its bound.
    pub fn limit(message: impl Into<String>) -> Self {
        Failure::new(Status::Limit, message)
    }

    /// The input is well-formed for the header but not acceptable.
    pub fn refused(message: impl Into<String>) -> Self {
        Failure::new(Status::Refused, message)
    }

    /// The input is right, but this library does not do what it asks.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Failure::new(Status::Unsupported, message)
    }

    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }
}

thread_local! {
    static LAST: RefCell<(String, String)> = const { RefCell::new((String::new(), String::new())) };
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("panic without a message")
        .to_owned()
}

fn fail(failure: Failure) -> Status {
    LAST.with(|last| *last.borrow_mut() = (failure.message, failure.place));
    failure.status
}

/// Runs the body of an exported function: a failure or a panic becomes a status, its message the thread's last.
pub fn guard(body: impl FnOnce() -> Outcome<()>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => fail(failure),
        Err(payload) => fail(Failure::new(Status::Panic, panic_message(&*payload))),
    }
}

/// Runs the body of a function that cannot report: a panic in a destructor is swallowed, never unwound into C.
pub fn quietly(body: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(body));
}

/// Message of this thread's last call that did not return `Ok`; valid until its next one.
#[no_mangle]
pub extern "C" fn remit_shim_last_message() -> Str {
    LAST.with(|last| Str::of(&last.borrow().0))
}

/// Place of that failure in the input, empty where it has none; valid as long as the message.
#[no_mangle]
pub extern "C" fn remit_shim_last_place() -> Str {
    LAST.with(|last| Str::of(&last.borrow().1))
}

/// Stack for parsing and validating: Cedar's parser and type checker recurse per level and overflow cannot be
/// caught, so the caps on text are set for this size and hold with a wide margin.
pub const LOADING_STACK_BYTES: usize = 64 << 20;

/// Runs `work` on a thread of its own with the loading stack; its panic becomes a failure here.
pub fn on_loading_stack<T: Send>(work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("remit-shim-load".into())
            .stack_size(LOADING_STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(|e| Failure::limit(format!("no thread for loading: {e}")))?;
        thread.join().unwrap_or_else(|payload| Err(Failure::new(Status::Panic, panic_message(&*payload))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: the message is this thread's and no other call happens before it is copied.
        unsafe { remit_shim_last_message().get() }.unwrap().to_owned()
    }

    #[test]
    fn panic_becomes_status_and_message() {
        assert_eq!(guard(|| panic!("boom {}", 7)), Status::Panic);
        assert_eq!(last(), "boom 7");
        assert_eq!(guard(|| panic!("plain")), Status::Panic);
        assert_eq!(last(), "plain");
    }

    #[test]
    fn panic_on_the_loading_thread_becomes_a_failure() {
        let failure = on_loading_stack::<()>(|| panic!("deep")).unwrap_err();
        assert_eq!((failure.status, failure.message.as_str()), (Status::Panic, "deep"));
    }

    #[test]
    fn failure_keeps_its_status_and_message() {
        assert_eq!(guard(|| Err(Failure::limit("too much"))), Status::Limit);
        assert_eq!(last(), "too much");
        assert_eq!(guard(|| Ok(())), Status::Ok);
    }

    #[test]
    fn bad_strings_are_misuse() {
        let bad = [b'a', 0xff];
        let text = Str { data: bad.as_ptr(), size: 2 };
        assert_eq!(unsafe { text.get() }.unwrap_err().message, "text is not UTF-8 at byte 1");
        let null = Str { data: std::ptr::null(), size: 1 };
        assert_eq!(unsafe { null.get() }.unwrap_err().status, Status::Misuse);
        assert_eq!(unsafe { Str::empty().get() }.unwrap(), "");
    }
}
