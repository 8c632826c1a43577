# Short names for what people do most. Everything that a change must pass is .ci/run.

.PHONY: quick test lint bench

GO ?= go
# COUNT is how often each benchmark runs, BENCH which ones.
COUNT ?= 1
BENCH ?= .

# Formatting, vet, the rules of the repository, and the short tests: under a minute from
# a warm cache. .ci/run has them all.
quick:
	.ci/run gofmt
	$(GO) vet ./...
	FORETICK_WITHOUT=memory,ratio $(GO) test -short ./internal/... ./ecs ./prediction ./lagcomp ./netcode ./snapshot ./transport/sim

# The README's command: every test, some minutes.
test:
	$(GO) test ./...

# The pinned linter; the first run builds it.
lint:
	.ci/run lint

# make bench BENCH=Step COUNT=10 | tee new.txt
bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) . ./server ./client ./ecs ./prediction ./lagcomp ./netcode ./snapshot ./relay ./rollback
