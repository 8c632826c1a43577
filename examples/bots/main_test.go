package main

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the program, since it starts itself as the server.
func TestMain(m *testing.M) {
	if os.Getenv("BOTS_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

func options1(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parse(args, os.Stderr)
	require.NoError(t, err)
	return o
}

// Light bots and full clients play one match: no player is dropped, and nearly all inputs come in time.
func TestOneMatch(t *testing.T) {
	r, err := measure(context.Background(), options1(t, "-count", "24", "-seconds", "2"))
	require.NoError(t, err)
	require.Equal(t, 24, r.Players, r.reasons)
	require.Zero(t, r.gone)
	require.Zero(t, r.Left)
	require.NotZero(t, r.Ticks)
	require.Greater(t, r.Taken, r.Missing)
	t.Logf("%d ticks, %d of %d inputs missing", r.Ticks, r.Missing, r.Missing+r.Taken)
}

// Matches behind one port need fewer system calls than a socket for each. The long form compares
// the processor time: .ci/run long_host.
func TestManyMatches(t *testing.T) {
	by := map[string]*row{}
	for _, how := range []string{"sockets", "host"} {
		r, err := measure(context.Background(), options1(t, "-how", how, "-count", "120", "-matches", "30", "-full", "0", "-seconds", "2", "-ramp", "400"))
		require.NoError(t, err)
		require.Equal(t, 120, r.Players, r.reasons)
		require.Zero(t, r.gone, how)
		t.Logf("%s: %v a player and tick, %.3f calls a datagram, late %v and %v", how, r.perClientTick(), r.callsPerDatagram(), r.p50, r.p99)
		by[how] = r
	}
	require.Less(t, by["host"].callsPerDatagram(), 0.8*by["sockets"].callsPerDatagram())
}

// A server that is asked to end while players lose their connections keeps them, and ends when they
// have left.
func TestSigterm(t *testing.T) {
	o := options1(t, "-how", "host", "-count", "60", "-matches", "15", "-full", "0", "-seconds", "1", "-ramp", "400")
	server, err := startServer(o)
	require.NoError(t, err)
	r, err := drained(server, o, 3*time.Second)
	require.NoError(t, err)
	require.Zero(t, r.refused, "%v: nobody who was in a match is refused", r.why)
	require.Equal(t, 60, r.back, "all came back to their places")
	require.True(t, r.late, "a newcomer is refused")
	require.True(t, r.ended, "the process ends when the last match does")
}

func TestFlags(t *testing.T) {
	var out bytes.Buffer
	for _, args := range [][]string{{"x"}, {"-how", "odd"}, {"-count", "0"}, {"-count", "5", "-matches", "2", "-how", "host"}, {"-rate", "3"}, {"-matches", "2"}} {
		require.Error(t, run(context.Background(), args, &out), args)
	}
	require.Equal(t, 3*time.Millisecond, median([]time.Duration{5 * time.Millisecond, time.Millisecond, 3 * time.Millisecond}))
}
