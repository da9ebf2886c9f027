# Everything that is done with this tree; `make` alone lists it.
.DEFAULT_GOAL := help
.PHONY: help demo picture build test lint bench soak fuzz setup clean

VERSION      := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LINT_VERSION := v2.15.0
LINT         := bin/golangci-lint-$(LINT_VERSION)
FUZZ_TIME    := 10s
SUDO         := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## a whole run on this tree, without a model or a key (as a Slack thread: bin/deckhand demo slack .)
	bin/deckhand demo .

picture: ## docs/thread.svg, drawn from the demo's own cards
	go run ./cmd/internal/picture docs/thread.svg

build: ## bin/deckhand, a static binary
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o bin/deckhand ./cmd/deckhand

# SQLite is C that was translated to Go and works on memory of its own, where the
# race detector sees nothing and costs most of a test's time; pictures are drawn, and
# JavaScript is run, by one goroutine each. Vet is in the lint.
CALM := modernc.org gonum.org golang.org/x/image git.sr.ht github.com/golang/freetype image compress github.com/dop251/goja github.com/dlclark/regexp2
RACE := -race $(CALM:%=-gcflags=%/...=-race=false) -vet=off

# What waits longest begins first, so that no core idles at the end.
LONGEST := ./memory/redis ./cmd/deckhand ./cmd/internal/e2e/...

# What runs programs in a sandbox starts this one again for each. Beside the race
# detector that takes seconds, and more memory than any bound leaves.
SANDBOXED := ./tools/sandbox/... ./tools/code ./tools/git ./tools/job ./tools/page ./tools/program ./tools/web
OTHERS    = $(filter-out $(shell go list $(SANDBOXED)),$(shell go list ./...))

test: setup ## all tests in random order, most with the race detector; what was skipped, and why, stands at the end
	@go run ./cmd/internal/tested $(RACE) -p 3 -shuffle=on -timeout 18m $(LONGEST) $(OTHERS) -- -vet=off -p 3 -shuffle=on $(SANDBOXED)

lint: $(LINT) ## formatting, many linters, and the rules of the house: sizes, floors, calls that go back up
	$(LINT) run ./...
	go run ./cmd/internal/house

bench: build setup ## a table of speed and size, with ratios to raw baselines
	go run ./cmd/bench

SOAK_ROWS := $(CURDIR)/bin/soak.md

soak: setup ## the crash suites' long form on SQLite, Redis, Sentinel and Cluster: 1,000 kills, and a table of figures
	@mkdir -p bin && rm -f $(SOAK_ROWS)
	DECKHAND_SOAK=$(SOAK_ROWS) go test $(RACE) -count=1 -p 1 -timeout 30m -parallel 6 -run 'TestDeath|TestSleep|TestCrash|TestSchedules|UnderLoad' \
		./memory/redis ./cmd/internal/e2e/engine ./cmd/internal/e2e/slack ./cmd/internal/e2e/discord ./cmd/internal/e2e/schedule
	@echo '| suite | store | kills | other strikes | runs | effects | takeover p50 | takeover max | lost or repeated | second outcomes |'
	@echo '|---|---|---|---|---|---|---|---|---|---|'
	@sort $(SOAK_ROWS)
	@awk -F ' *[|] *' '{ k += $$4; s += $$5; r += $$6; e += $$7; o += $$11; if ($$10 != "0") bad = 1 } END { \
		printf "| all | | **%d** | %d | %d | %d | | | **%s** | %d |\n", k, s, r, e, bad ? "FAILED" : "0", o; exit bad }' $(SOAK_ROWS)

fuzz: ## every fuzz target for a while (FUZZ_TIME=10s)
	@grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | while IFS=: read -r file name; do \
		echo "$$file $${name#func }"; \
		go test -run '^$$' -fuzz "^$${name#func }\$$" -fuzztime $(FUZZ_TIME) "$$(dirname "$$file")" || exit 1; \
	done

clean: ## remove what was built
	rm -rf bin

# need installs a command that the tests use: command, package for apt, for brew.
define need
	@command -v $(1) >/dev/null || { \
		if command -v apt-get >/dev/null; then \
			$(SUDO) apt-get update -qq && \
			$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(2); \
		elif command -v brew >/dev/null; then \
			brew install $(3); \
		else \
			echo "the tests need $(1), and neither apt-get nor brew is here: install it and run make again" >&2; exit 1; \
		fi; }
endef

# The race detector needs a C compiler; the stores are tested against a real Redis,
# sandboxes with real programs.
setup:
	$(call need,cc,gcc libc6-dev,gcc)
	$(call need,redis-server,redis-server,redis)
	$(call need,python3,python3,python)
	$(call need,pip3,python3-pip,python)
ifeq ($(shell uname),Linux)
	$(call need,bwrap,bubblewrap)
endif

$(LINT):
	GOBIN="$(CURDIR)/bin" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv bin/golangci-lint $@
