package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/examples/swarm/game"
	"github.com/foretick/foretick/transport/sim"
)

// TestMain lets the test binary be the program, for tests of whole processes.
func TestMain(m *testing.M) {
	if os.Getenv("EXAMPLE_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	var out, again, errs bytes.Buffer
	require.Zero(t, run(context.Background(), []string{"-seconds", "1"}, &out, &errs))
	require.Contains(t, out.String(), "8 players with 1250 units each gave 16 orders")
	require.Contains(t, out.String(), "differed 0 times")
	require.Zero(t, run(context.Background(), []string{"-seconds", "1"}, &again, &errs))
	require.Equal(t, out.String(), again.String())
	require.Empty(t, errs.String())
	require.Zero(t, run(context.Background(), []string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-what"}, {"-rtt", "2s"}, {"-relay", "127.0.0.1:0", "-connect", "127.0.0.1:1"}} {
		errs.Reset()
		require.Equal(t, 2, run(context.Background(), bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}

// Eight players give 120 orders a minute each, over a path that is uneven and loses packets. Each sends and receives at
// most 3 600 bytes a second, with all headers, and all eight worlds are equal. An order comes less than four ticks after
// the round trip.
func TestTraffic(t *testing.T) {
	const seconds, rtt = 7, 60 * time.Millisecond
	o, err := play(seconds, sim.Link{Latency: rtt / 2, Jitter: 6 * time.Millisecond, InOrder: true, Loss: 0.01}, 3)
	require.NoError(t, err)
	require.InDelta(t, seconds*2*game.Players, o.orders, game.Players, "120 orders a minute")
	lost := game.Players * game.Units
	for _, n := range o.left {
		lost -= n
	}
	t.Logf("%d B/s in %d datagrams, %d units lost, commands' ticks after %v, at most %d ticks, %d frames of %d waited", o.bytes, o.packets, lost, o.delay(), o.longest, o.waits, o.frames)
	require.Greater(t, lost, 20, "units of two players met")
	require.LessOrEqual(t, o.bytes, 3600)
	require.InDelta(t, 2*game.TickRate, o.packets, 2, "one packet a tick each way")
	require.GreaterOrEqual(t, o.compared, uint64(seconds))
	require.Zero(t, o.differed)
	require.Less(t, o.delay(), rtt+4*time.Second/game.TickRate)
	require.Less(t, o.waits, o.frames/20)
}

// A relay and two players in a process each, over UDP.
func TestProcesses(t *testing.T) {
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.LocalAddr().String()
	require.NoError(t, free.Close())
	begin := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		p, out := exec.Command(os.Args[0], args...), new(bytes.Buffer) // #nosec G204 -- this program itself
		p.Env, p.Stdout, p.Stderr = append(os.Environ(), "EXAMPLE_PROGRAM=1"), out, out
		require.NoError(t, p.Start())
		t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
		return p, out
	}
	relay, said := begin("-relay", addr)
	require.Eventually(t, func() bool { // the relay has taken the port
		l, err := net.ListenPacket("udp", addr)
		if err == nil {
			_ = l.Close()
		}
		return err != nil
	}, time.Minute, 20*time.Millisecond)
	var texts []*bytes.Buffer
	var players []*exec.Cmd
	for seed := range 2 {
		p, out := begin("-connect", addr, "-seconds", "3", "-seed", strconv.Itoa(seed))
		players, texts = append(players, p), append(texts, out)
	}
	gave := regexp.MustCompile(`gave (\d+) orders`)
	for i, p := range players {
		require.NoError(t, p.Wait(), texts[i].String())
		text := texts[i].String()
		orders := gave.FindStringSubmatch(text)
		require.NotNil(t, orders, text)
		n, _ := strconv.Atoi(orders[1])
		require.InDelta(t, 6, n, 2, text)
		require.Contains(t, text, "and 0 differed")
		require.False(t, strings.Contains(text, "0 sums"), text)
	}
	require.NoError(t, relay.Process.Signal(syscall.SIGTERM))
	require.NoError(t, relay.Wait(), said.String())
}
