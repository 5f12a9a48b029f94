# Every recipe is short; what takes thought is a script in Scripts, which says so at its head.

SWIFT ?= swift
PREFIX ?= $(HOME)/.local
CONFIG ?= supervisor.conf
DURATION ?= 24h
FUZZ_SECONDS ?= 600
COUNT ?= 10000000
MANUALS ?= .build/manuals
KILLS ?= 1000
SECONDS ?= 600
SUITES ?= bookworm
SANITIZERS ?= address thread

# What the shipped supervisor.conf starts, and what a person needs beside it. `make run` builds no more than this.
PROGRAMS = roostd roost roost-exec event-store outbox-planner relay-connector signer local-relay \
  dvm-tracker dvm-provider \
  $(foreach name,push-relay mirror people link-feed link-page backup,$(shell Scripts/is-wanted.sh $(name) $(CONFIG)))
# What a package has: everything that a configuration can name.
ALL_PROGRAMS = roostd roost roost-exec event-store outbox-planner relay-connector signer local-relay dvm-tracker \
  dvm-provider mirror people link-feed link-page backup push-relay
SWIFT_SOURCES = Sources Workers Tests Package.swift $(wildcard Benchmarks)

.DEFAULT_GOAL := help
.PHONY: help run build test methods check lint documentation sanitize bench bench-outbox hostile chaos fuzz soak \
  soak-relays power manuals site pictures install uninstall clean packages package dist image package-test image-test \
  boot-test python batch-trial

help: ## print this list
	@echo 'Roost. Usage: make TARGET'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: packages ## build what CONFIG=supervisor.conf starts, for release, and start it
	@for program in $(PROGRAMS); do $(SWIFT) build -c release --product $$program || exit; done
	@exec .build/release/roostd --config $(CONFIG)

build: packages ## build everything for debugging
	$(SWIFT) build --build-tests

test: packages python build ## run every test, real processes included
	-@Scripts/system-packages.sh mandoc man-db systemd jq
	-@Scripts/nginx.sh
	-@Scripts/prometheus.sh
	-@Scripts/browsers.sh
	@Scripts/test.sh "$$($(SWIFT) build --show-bin-path)"

methods: packages ## write docs/methods.json, and the types of clients/python, from the declarations of methods
	ROOST_WRITE=1 $(SWIFT) test --filter MemberTextsTests
	ROOST_WRITE=1 $(SWIFT) test --filter MethodReferenceTests
	python3 clients/python/generate.py

check: packages lint documentation ## lint, hold the house rules, build the documentation with warnings as errors
	$(SWIFT) test --filter HouseTests

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	Scripts/lint-scripts.sh

documentation: build
	Scripts/documentation.sh

sanitize: packages python ## run every test under each of SANITIZERS="address thread"
	@for sanitizer in $(SANITIZERS); do \
	  echo "$(SWIFT) test --sanitize=$$sanitizer"; \
	  $(SWIFT) test --sanitize=$$sanitizer --scratch-path .build-$$sanitizer || exit; \
	done

bench: packages ## measure against yardsticks in C and other supervisors, and print the ratios
	-@Scripts/python-environment.sh
	@for program in roostd roost roost-exec relay-connector event-store signer outbox-planner local-relay \
	    dvm-tracker dvm-provider people link-feed push-relay loop-bench event-bench batch-bench archive-bench \
	    session-bench websocket-bench job-bench push-bench http2-bench; do \
	  $(SWIFT) build -c release --product $$program || exit; \
	done
	@for program in push-relay push-fakes; do $(SWIFT) build -c release --product $$program || exit; done
	python3 Benchmarks/run.py

bench-outbox: packages ## simulate which relays to read from, beside other clients, and draw the plots of docs/
	$(SWIFT) build -c release --product outbox-bench
	python3 Benchmarks/outbox.py

hostile: packages ## attack the local relay and the connector in every way, and print how the honest fare
	@for program in roostd roost-exec event-store signer outbox-planner local-relay relay-connector archive-bench; do \
	  $(SWIFT) build -c release --product $$program || exit; \
	done
	python3 Benchmarks/hostile.py
	python3 Benchmarks/hostile_relays.py

chaos: packages python ## kill, stop and hold everything KILLS=1000 times at random, and print what was lost
	@for program in $(filter-out push-relay,$(PROGRAMS)); do \
	  $(SWIFT) build -c release --product $$program || exit; \
	done
	.venv/bin/python3 Benchmarks/chaos.py --kills $(KILLS)

fuzz: packages ## run each fuzz entry for FUZZ_SECONDS=600
	Scripts/fuzz.sh --seconds $(FUZZ_SECONDS)

batch-trial: packages ## verify COUNT=10000000 signatures in batches and by libsecp256k1, and compare the verdicts
	$(SWIFT) build -c release --product batch-trial
	.build/release/batch-trial $(COUNT)

soak: packages python build ## repeat every test with new seeds for DURATION=24h
	Scripts/soak.sh $(DURATION)

soak-relays: packages python ## observe authors at fifty relays that lie, refuse and stall, for SECONDS=600
	@for program in roostd roost-exec event-store signer outbox-planner relay-connector; do \
	  $(SWIFT) build -c release --product $$program || exit; \
	done
	.venv/bin/python3 Benchmarks/soak_relays.py --seconds $(SECONDS)

power: packages python build ## cut the power 200 times over all that is accepted, and say what was lost
	ROOST_POWER_CUTS=100 ROOST_POWER_ROUNDS=60 ROOST_POWER_TURNS=12 $(SWIFT) test --skip-build --filter PowerCutTests

manuals: ## write manual pages and completions of the shells into MANUALS=.build/manuals
	@for program in roostd roost; do $(SWIFT) build -c release --product $$program || exit; done
	python3 Scripts/manuals.py $(MANUALS) .build/release/roost .build/release/roostd

site: ## make README and docs/ into pages for a browser, .build-site/site/index.html
	@Scripts/python-environment.sh .venv-site
	.venv-site/bin/python3 Scripts/site.py

pictures: ## draw the pictures of README from a run of what is built: docs/images
	@Scripts/python-environment.sh .venv-site
	.venv-site/bin/python3 Scripts/pictures.py

install: packages ## install under PREFIX=~/.local, with a systemd user unit; says how to start it
	Scripts/install.sh $(PREFIX) $(PROGRAMS)

uninstall: ## remove what `make install` put under PREFIX=~/.local; settings and data stay
	Scripts/install.sh --remove $(PREFIX)

package: packages ## build a Debian package of everything, .build-package/roost_VERSION_ARCH.deb
	Scripts/package.sh $(ALL_PROGRAMS)

dist: package ## also make a tarball, the bill of materials (SPDX) and SHA256SUMS, in .build-package
	Scripts/dist.sh

package-test: packages ## install, use, upgrade and remove that package in fresh roots of SUITES="bookworm"; needs root
	Scripts/package.sh --keep-stage --version 0.1.99 $(ALL_PROGRAMS)
	Tests/Packages/run.sh $(SUITES)

image: ## make a container image of that package, .build-package/roost-VERSION-ARCH.oci.tar; needs root
	Scripts/image.sh

image-test: packages ## run, use and upgrade that image by podman and runc; needs root
	Scripts/package.sh --keep-stage --version 0.1.99 $(ALL_PROGRAMS)
	Scripts/image.sh --version 0.1.99
	Scripts/image.sh
	Tests/Packages/image.sh

boot-test: packages ## boot a machine with that package under qemu, with real systemd; needs root
	Scripts/package.sh --keep-stage --version 0.1.99 $(ALL_PROGRAMS)
	Tests/Packages/boot.sh

clean: ## remove what builds, tests and measurements leave here; the Python environments stay
	rm -rf .build .build-* Benchmarks/results

packages:
	@Scripts/system-packages.sh

# Without these environments the tests that need them say "skipped: …"; that is no reason to stop.
python: ## make the Python environments that some tests and the first session of the README use
	-@Scripts/python-environment.sh || true
