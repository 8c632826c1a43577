// Package benchmarks does the same work in package ecs of Foretick, in the ECS
// libraries ark and donburi, and with plain slices, in turn, round by round, in
// one process. What it reports are ratios to the plain slices: medians over at
// least 21 rounds, which change little where nanoseconds change a lot.
//
//	cd benchmarks
//	go test -bench .        # the ratios as custom metrics
//	go run ./table          # the same, into docs/BENCHMARKS.md
//
// Each library is used in the fastest way that its public API has for the work:
// ark by whole tables and with a registered filter, donburi by a query that is
// made once. Where a library has nothing for the work, it is done by hand, or
// the column stays empty; [Cases] says which.
package benchmarks
