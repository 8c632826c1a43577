// Package benchmarks compares package ecs of Foretick with the ECS libraries
// ark and donburi and with plain slices. They do the same work alternately,
// round by round, in one process. The results are ratios to the plain slices,
// medians over at least 21 rounds. These ratios vary little where nanoseconds
// vary a lot.
//
//	cd benchmarks
//	go test -bench .        # the ratios as custom metrics
//	go run ./table          # the same, into docs/BENCHMARKS.md
//
// Each library is used in the fastest way that its public API offers: ark with
// whole tables and a registered filter, donburi with a query that is created
// once. Where a library lacks an operation, it is written by hand, or the
// column stays empty; see [Cases].
package benchmarks
