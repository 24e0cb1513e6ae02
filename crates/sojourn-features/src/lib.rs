//! No code: only features of dependencies.
//!
//! Cargo compiles a dependency once for each set of features. A program alone asks for fewer of them than the tests of
//! the whole workspace do, so that it and all that it is built on would be compiled twice. The programs depend on this
//! crate and so get the features of the tests. `tests/test_crates.py` says when one is missing.
