package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/stats"
)

// TestSystemTimesAllocatesNothing: the times are always measured.
func TestSystemTimesAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	s, run := timedSystem(), &game.SystemRun{}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.BeforeSystem(run, 0)
		s.AfterSystem(run, 0)
	}))
}

// BenchmarkSystemTimes measures what timing adds to a system's run, with the clock of Run.
func BenchmarkSystemTimes(b *testing.B) {
	s, run := timedSystem(), &game.SystemRun{}
	b.ReportAllocs()
	for b.Loop() {
		s.BeforeSystem(run, 0)
		s.AfterSystem(run, 0)
	}
}

func timedSystem() systemTimes {
	start := time.Now()
	return systemTimes{clock: func() time.Duration { return time.Since(start) }, at: []int32{0}, each: make([]stats.System, 1)}
}
