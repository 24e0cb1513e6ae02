# Everything one types at Sojourn; each target is a script or a tool one can also run by hand.

.PHONY: demo test test-all bench hostile check fuzz mutants coverage deny miri pages docs wheel deb static release stacks web

## demo: set up, then reproduce Fig. 2 of "The Good, the Bad and the WiFi" and judge the claims about it
demo:
	@scripts/setup simulator
	@.venv/bin/sojourn reproduce good-bad-wifi --only rrul --profile quick --repeat 10 --out out/demo --force

## test: set up, then run the Rust tests and the quick Python tests
test:
	@scripts/test -m "not slow"

## test-all: set up, then run all tests, those that take more than a few seconds among them
test-all:
	@scripts/test

## pages: make the pages of results that are not current (PAGES="rural flusher": some); ARGS="--list" says which, and why
pages:
	@scripts/setup --release
	@.venv/bin/python -m tools.pages $(ARGS) $(PAGES)

## docs: build the documentation as a site, in out/site
docs:
	@scripts/setup
	@.venv/bin/python -m tools.docs

## wheel: build a wheel that needs no compiler, in out/wheels (ARGS="--arch aarch64", ARGS="--libpcap FOLDER")
wheel:
	@python3 -m tools.release.wheel $(ARGS)

## static: build a daemon that needs no library, in out/static (ARGS="--arch aarch64", ARGS="--libpcap FOLDER")
static:
	@python3 -m tools.release.static $(ARGS)

## deb: build the Debian package of the daemon, in out/deb
deb:
	@tools/release/deb

## release: cut the changelog, build and check all files of a release in out/release, and set its tag; uploads nothing
release:
	@scripts/setup
	@.venv/bin/python -m tools.release $(ARGS)

## stacks: build the program with the transports that --stack names, quinn and noq (ARGS=quiche: that one too)
stacks:
	@scripts/stacks $(ARGS)

## web: build the pages for a browser, in out/web; needs node, npm and Rust's target wasm32-unknown-unknown
web:
	@scripts/web

## bench: the benchmarks
bench:
	@cargo bench --workspace

## hostile: a thousand hostile inputs, which must all end in a result or a sentence
hostile:
	@scripts/setup
	@.venv/bin/python -m tests.hostile

## check: formatting, lints, documentation, types
check:
	@scripts/setup
	@scripts/check

## fuzz: each fuzz target for FUZZ_SECONDS (10); FUZZ_TARGETS names some of them
fuzz:
	@tools/faults/fuzz

## mutants: mutation tests of the crates in MUTANTS_CRATES; MUTANTS_SHARD=1/8 takes every eighth mutant
mutants:
	@tools/faults/mutants

## coverage: which lines the Rust tests run, as text and as target/llvm-cov/html
coverage:
	@tools/faults/coverage

## deny: licences, vulnerabilities, duplicate and foreign sources of dependencies (ARGS=--install gets cargo-deny)
deny:
	@tools/faults/deny $(ARGS)

## miri: the unit tests of the crates that Miri can run, for undefined behaviour
miri:
	@tools/faults/miri
