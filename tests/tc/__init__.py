"""Lines for `tc`, and what `tc` and a kernel make of them."""
