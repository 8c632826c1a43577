package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/rollback"
)

// TestBots: bots use every attack, hit and block, and win rounds, over a path that makes them roll back. Their
// worlds are equal, and one seed is one match.
func TestBots(t *testing.T) {
	match := func(seconds int, seed uint64) (*virtual, *tally) {
		m, err := newVirtual(options{seed: seed, rtt: 100 * time.Millisecond, loss: 2})
		require.NoError(t, err)
		m.run(time.Duration(seconds) * time.Second)
		replay, err := m.replay()
		require.NoError(t, err)
		o, err := watch(bytes.NewReader(replay))
		require.NoError(t, err)
		return m, o
	}
	m, o := match(90, 1)
	attacks := map[game.Act]int{}
	for seed, other := uint64(1), o; seed <= 5; seed++ { // a bot seldom throws: it takes three presses in a row
		if seed > 1 {
			_, other = match(60, seed)
		}
		for act, n := range other.attacks {
			attacks[act] += n
		}
	}
	for act := game.Jab; act <= game.Throw; act++ {
		require.Positive(t, attacks[act], act)
	}
	require.Greater(t, o.blocked, 5)
	require.Greater(t, o.rounds, 1)
	require.Positive(t, o.won[0]+o.won[1])
	require.Greater(t, o.ticks, 85*game.TickRate)
	for i, p := range m.players {
		require.Greater(t, o.begun[i], 20)
		require.Greater(t, o.hits[i], 5)
		require.Greater(t, p.Pressed, 50)
		require.InDelta(t, o.hits[0]+o.hits[1]+o.blocked, p.Hits, 2, "fireballs that hit at once with an attack count as one")
		s := p.Stats()
		require.Equal(t, rollback.Playing, p.View().State)
		require.Positive(t, s.Rollbacks)
		require.Greater(t, s.Sums, uint64(80))
		require.Zero(t, s.Desyncs)
		require.Zero(t, s.Stalls)
	}
	relay := m.relay.Stats()
	require.Greater(t, relay.Compared, uint64(80))
	require.Zero(t, relay.Differed)
	t.Logf("%+v", o)

	_, short := match(20, 2)
	_, again := match(20, 2)
	require.Equal(t, short, again)
}

// TestDesync: if something but the rules writes a player's world, the report of both players says what.
func TestDesync(t *testing.T) {
	m, err := newVirtual(options{seed: 3, rtt: 50 * time.Millisecond})
	require.NoError(t, err)
	m.run(5 * time.Second)
	for range 30 {
		p := m.players[0]
		pair, ok := p.Game.Pair(p.View().World)
		require.True(t, ok)
		p.Game.Fighter.Get(p.View().World, pair[1]).Wins = 1
		m.run(time.Second / game.TickRate)
	}
	m.run(4 * time.Second)
	for _, p := range m.players {
		var out bytes.Buffer
		report(&out, p)
		t.Log(out.String())
		require.NotContains(t, out.String(), " 0 desyncs")
		require.Contains(t, out.String(), "Wins")
	}
}

// TestRun: the program prints what a match has come to, keeps it, and prints the same when it plays it again.
func TestRun(t *testing.T) {
	call := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		require.Equal(t, want, run(t.Context(), args, &out, &errs), errs.String())
		return out.String(), errs.String()
	}
	file := filepath.Join(t.TempDir(), "match.replay")
	out, errs := call(0, "-seconds", "10", "-rtt", "80ms", "-save", file)
	require.Contains(t, out, "attacks hit")
	require.Contains(t, out, " 0 desyncs")
	require.Empty(t, errs)
	replayed, _ := call(0, "-replay", file)
	require.Contains(t, replayed, "the world's hash after")
	require.True(t, bytes.HasPrefix([]byte(out), []byte(replayed)), "%s\n%s", out, replayed)

	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b[:len(b)-len(b)/4], 0o600))
	replayed, errs = call(1, "-replay", file)
	require.Contains(t, errs, file)
	require.Contains(t, errs, "is cut off after tick")
	require.Contains(t, replayed, "the world's hash after", "it plays as far as it goes")
	require.NoError(t, os.WriteFile(file, b[:len(b)/10], 0o600))
	replayed, errs = call(1, "-replay", file)
	require.Contains(t, errs, "is cut off before its first tick")
	require.Empty(t, replayed)

	call(0, "-help")
	for _, bad := range [][]string{
		{"-seconds", "0"}, {"-rtt", "1h"}, {"-loss", "50"}, {"-what"}, {"-relay", "127.0.0.1:0", "-connect", "127.0.0.1:1"},
		{"-relay", "127.0.0.1:0", "-save", file}, {"-replay", file, "-save", file}, {"-web", "."}, {"-connect", "127.0.0.1:1", "-loss", "1"},
	} {
		_, errs := call(2, bad...)
		require.NotEmpty(t, errs)
	}
	_, errs = call(1, "-relay", "nowhere")
	require.Contains(t, errs, "-relay nowhere")
	_, errs = call(1, "-connect", "ftp://127.0.0.1")
	require.Contains(t, errs, "-connect ftp://127.0.0.1")
}
