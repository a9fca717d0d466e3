# Every target works on a fresh machine with Go; those that need more say so.
GO ?= go
export CGO_ENABLED ?= 0
FUZZTIME ?= 3s
LONGFUZZ ?= 20s
SOAK ?= 30m
SOAK_FLAGS ?=
TABLES ?= published triple rest
CALLS ?= 100000000
# One more than processors, because some packages wait most of the time.
PACKAGES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.PHONY: image scale fleet fleet-spark screenshots test-all man release e2e soak pgo loss bench-small bench-offload bench-formats all build test race lint fuzz golden bench tables comparison captures check check-sizes clean

all: build test

image: ## bin/image: a container image for amd64 and arm64, as an OCI image layout and as archives for docker load; needs no container engine
	GO=$(GO) scripts/image.sh bin/image

build: ## one static binary, bin/dubbo-wire
	$(GO) build -trimpath -o bin/dubbo-wire ./cmd/dubbo-wire

man: build ## the manual pages, bin/man/man1: one a command; man -l bin/man/man1/dubbo-wire.1
	bin/dubbo-wire man --date "$$(git log -1 --format=%cs 2>/dev/null)" bin/man/man1

release: ## bin/release: archives for Linux, macOS and Windows with completion and manual pages, .deb and .rpm packages, checksums; needs GNU tar, and nfpm from the Go module proxy
	GO=$(GO) scripts/release.sh bin/release

test: ## needs nothing but Go; four to ten minutes on two processors
	$(GO) test -timeout 30m ./...

test-all: ## "test" over all captures, with what else the machine has: root, Java, tmux, tshark, tcpdump, a browser, shells; then longer fuzzing and a minute of soak. What is missing is skipped
	@args=./...; if [ -n "$$AFTER_TEST" ]; then args="-vet=off $$($(GO) run ./internal/dev/subset tag)"; fi && \
		$(GO) test -p $(PACKAGES) -tags alltests -timeout 60m $$args
	$(MAKE) fuzz FUZZTIME=$(LONGFUZZ)
	$(GO) run ./internal/dev/e2e/soak -for 1m -skip

race: ## "test" on a smaller sample, with the race detector, of all tests that have more than one goroutine; then live captures, and privileges with cgo, where root may; needs a C compiler
	@args="$$($(GO) run ./internal/dev/subset race)" && CGO_ENABLED=1 $(GO) test -race -pgo=off -vet=off -short -timeout 30m -p $(PACKAGES) $$(echo "$$args" | tr ' ' '\n' | grep -v '/internal/capture$$')
	CGO_ENABLED=1 $(GO) test -race -pgo=off -vet=off -short -tags alltests -timeout 30m ./internal/capture

lint:
	$(GO) vet -tags alltests ./...
	@out="$$($(GO) tool gofumpt -l .)"; if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi
	GOGC=300 $(GO) tool staticcheck ./... # a quarter less processor time for half as much memory again

fuzz: ## every fuzz target for FUZZTIME
	GO=$(GO) FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

golden: ## rewrite the golden files; read the diff before you commit it; those of the full screen need root and tmux, those of filters root and tcpdump, those of estimates a JDK and Maven
	$(GO) test -tags alltests -timeout 30m -run '^TestEstimates$$' ./internal/dev/estimated -update
	$(GO) test -timeout 30m ./... -update
	$(GO) test -tags alltests -run '^(TestTables|TestScreen)$$' -v ./cmd/dubbo-wire -update
	$(GO) test -tags alltests -run '^TestGolden$$' ./internal/capture/filter -update

bench: ## every row of the budget: dubbo-wire against tcpdump on captures of 3.8 GB in all, outside the repository; every serialization
	$(GO) run ./internal/dev/bench/run

bench-formats: ## every serialization and what HTTP carries: bytes of bodies walked and printed per second, and Hessian2 against dubbo-go-hessian2
	$(GO) run ./internal/dev/bench/run -only formats

bench-small: ## small frames only
	$(GO) run ./internal/dev/bench/run -mix small -size 300MB

bench-offload: ## packets of up to 32 KiB
	$(GO) run ./internal/dev/bench/run -mix offload

loss: ## the loss experiment: packets removed at random from 100 MB, what is found against what was sent
	$(GO) run ./internal/dev/bench/loss

screenshots: ## docs/images: the page and the screen, of a committed capture; needs root, Chromium and tmux
	GO=$(GO) scripts/screenshots.sh

pgo: ## the profile that builds are optimised with, of the line on the benchmark's traffic; less CPU time, longer builds
	mkdir -p bin
	$(GO) test ./internal/dev/bench -run '^$$' -bench 'Line/(sizes|parts)$$' -benchtime 30x -cpuprofile line.prof -outputdir bin -o bin/bench.test
	$(GO) tool pprof -proto bin/bench.test bin/line.prof > cmd/dubbo-wire/default.pgo

tables: build ## the live tables measured anew with real Dubbo peers (as "captures", half an hour, in which nothing else should run; TABLES=rest measures one set, of published, triple and rest), then docs/comparison.md
	testdata/rig/tables.sh bin/dubbo-wire $(TABLES)
	$(MAKE) comparison

comparison: ## docs/comparison.md from the committed captures and the saved reports of the live tables
	$(GO) run ./internal/dev/comparison testdata/captures testdata/rig/tables > docs/comparison.md.new && mv docs/comparison.md.new docs/comparison.md

e2e: ## live captures of real Dubbo peers in network namespaces against their own log, some minutes: needs root, Java 17, Maven; "test-all" has it, too
	$(GO) test -tags alltests -count=1 -v ./internal/dev/e2e

soak: build ## load of real Dubbo peers for SOAK (a minute at least), SOAK_FLAGS are more flags of capture: memory, drops, CPU against tcpdump; the result is bin/soak.md; needs the same
	$(GO) run ./internal/dev/e2e/soak -for $(SOAK) -wire bin/dubbo-wire -capture "$(SOAK_FLAGS)"

fleet: build ## the queries of docs/sql in DuckDB, ClickHouse and Spark, over 1,000 Parquet files of the committed captures, against dubbo-wire itself; installs the engines from PyPI into bin/fleet
	testdata/fleet/fleet.sh bin/dubbo-wire bin/fleet

fleet-spark: build ## examples/spark in a local cluster of Spark while processes are killed, against examples/xargs and dubbo-wire itself; installs Spark from PyPI into bin/fleet, needs Java 17
	testdata/fleet/spark.sh bin/dubbo-wire bin/fleet

scale: build ## the figures of docs/scale.md: a GB, 10 to 10,000 files, saved reports, 100 million simulated calls in DuckDB (CALLS=N); needs 15 GB of disk and about two hours; installs DuckDB from PyPI into bin/scale
	$(GO) build -o bin/gencapture ./internal/dev/bench/gencapture
	test -x bin/scale/python/bin/python || python3 -m venv bin/scale/python
	bin/scale/python/bin/pip -q install duckdb
	bin/scale/python/bin/python testdata/fleet/scale.py bin/dubbo-wire bin/gencapture bin/scale/work --calls $(CALLS)

captures: ## record all captures anew with real Dubbo peers: needs root, Java 17, Maven; installs tcpdump
	testdata/rig/captures.sh

check-sizes: build ## the project's own captures against testdata/golden/check; UPDATE=--update writes these
	@for g in testdata/golden/check/*.json; do n=$${g##*/}; bin/dubbo-wire check testdata/captures/$${n%.json}.pcap.zst --golden $$g --strict --min-coverage 100 $(UPDATE) || exit; done

check: build lint check-sizes test race test-all ## what .ci/run runs

clean:
	rm -rf bin
