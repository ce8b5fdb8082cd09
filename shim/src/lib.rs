//! A C ABI over the Cedar policy engine and a JSON Schema validator, for Remit's C++ side.
//!
//! Rules that hold for every exported function:
//!  * no panic leaves it: `abi::guard` turns one into `Status::Panic` with its message;
//!  * strings come in as pointer and length and must be UTF-8; strings that go out belong to a handle (or, for
//!    the last message, to the thread) and say so in the header;
//!  * what is shared between threads (`Engine`, `Schema`) is immutable and reference counted;
//!  * what a hostile text could make deep or large is bounded before a recursive library sees it.

mod abi;
mod cedar;
mod json_schema;
