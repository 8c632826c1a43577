package host

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

var _ tape.Keeper = (*port)(nil)

// fields makes the game of a hosted match that is recorded. It panics in tick panicAt.
func fields(panicAt *foretick.Tick) (g *game, newMatch func(server.Config) (*server.Server, error), level func(*foretick.ServerFrame)) {
	g = &game{each: func(f *foretick.Frame) {
		if *panicAt > 0 && f.Tick >= *panicAt {
			panic("the field floods")
		}
	}}
	var srv *server.Server
	newMatch = func(cfg server.Config) (_ *server.Server, err error) {
		cfg.Protocol = g.protocol()
		srv, err = server.New(cfg)
		return srv, err
	}
	return g, newMatch, func(f *foretick.ServerFrame) {
		for _, player := range srv.Players(nil) {
			f.Spawn(&g.Avatar, player.ID)
		}
	}
}

// One of many matches panics, after reconnects, a kick, a level change and an edit. The others lose no
// tick. The report names the tape, and each replay of the tape ends in the panic.
func TestTapeOfOneOfMany(t *testing.T) {
	matches, replays := min(costtest.Count(8, 8), 50), min(costtest.Count(2, 2), 20)
	length := time.Duration(min(costtest.Count(20, 20), 600)) * time.Second
	dir := t.TempDir()
	w := newTown(t, Config{OnDemand: true}, server.Config{})
	var panicAt foretick.Tick
	never := foretick.Tick(0)
	levels := map[string]func(*foretick.ServerFrame){}
	w.host.cfg.NewMatch = func(name string, end transport.Endpoint) (Match, error) {
		at := &never
		if name == "m7" {
			at = &panicAt
		}
		_, newMatch, level := fields(at)
		rec, err := flight.New(flight.Config{Name: name, Dir: dir})
		require.NoError(t, err)
		srv, err := newMatch(server.Config{Transport: end, MaxWaitingPerAddress: -1, Recorder: rec})
		w.servers[name], levels[name] = srv, level
		return srv, err
	}
	for i := range matches {
		players := 2
		if i == 7 {
			players = 6
		}
		for n := range players {
			w.join(fmt.Sprint("m", i), fmt.Sprint("player ", n))
		}
	}
	w.run(9 * time.Second)
	srv := w.servers["m7"]
	bots := w.bots[14:20]
	require.Len(t, srv.Players(nil), 6)
	for range 2 {
		bots[0].Vanish()
		bots[1].Vanish()
		w.run(time.Second)
	}
	require.NoError(t, srv.Do("kick", func(f *foretick.ServerFrame) { f.Kick(srv.Players(nil)[2].ID, 0, "enough") }))
	w.run(time.Second)
	require.NoError(t, srv.Do("level", func(*foretick.ServerFrame) { require.NoError(t, srv.NextLevel([]byte("two"), levels["m7"])) }))
	w.run(time.Second)
	var avatar ecs.Entity
	for _, e := range probe.OfServer(srv).Replicated() {
		avatar = e.Entity
	}
	edited := false
	require.NoError(t, flight.Edit(srv, avatar, "Position.X", 20, func(err error) { edited = err == nil }))
	w.run(length - w.net.Now())
	require.True(t, edited)
	w.join("m7", "late") // six again
	w.run(2 * time.Second)
	require.Len(t, srv.Players(nil), 6)
	require.NotZero(t, srv.Stats().Resumed)
	panicAt = srv.Tick() + 1
	before := map[string]foretick.Tick{}
	for name, s := range w.servers {
		before[name] = s.Tick()
	}
	w.run(3 * time.Second)
	require.Len(t, w.ends, 1)
	end := w.ends[0]
	require.Equal(t, "m7", end.Match)
	require.Equal(t, "the field floods", end.Panic)
	require.Contains(t, string(end.Stack), "tape_test.go", "of the system, not of what recorded it")
	require.FileExists(t, end.Tape)
	require.Contains(t, w.log.String(), "tape="+end.Tape)
	require.Equal(t, matches-1, w.host.Stats().Matches)
	for name, s := range w.servers {
		if name != "m7" {
			require.InDelta(t, 90, s.Tick()-before[name], 1, name)
			require.Zero(t, s.Stats().Slips, name)
		}
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)

	file, err := flight.Open(end.Tape)
	require.NoError(t, err)
	defer file.Close()
	in := file.Info()
	t.Logf("%v%d bytes raw", in, in.Bytes)
	for range replays {
		again := in.Panic.Tick
		_, newMatch, level := fields(&again)
		res, err := flight.Play(file, flight.Game{New: newMatch, Level: func([]byte) func(*foretick.ServerFrame) { return level }})
		require.NoError(t, err)
		require.NotNil(t, res.Panic)
		require.Equal(t, panicAt, res.Panic.Tick)
		require.EqualValues(t, panicAt-1, res.Ticks)
	}
}

// Over sockets and with several workers, a match panics and the others end by themselves. Every tape
// replays, whenever workers stepped the matches.
func TestTapesOfWorkers(t *testing.T) {
	dir, goroutines := t.TempDir(), runtime.NumGoroutine()
	key, public := ticket.NewKey(), netip.MustParseAddrPort("127.0.0.1:27016")
	gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
	require.NoError(t, err)
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{MaxPeers: 64, Batch: 32, Accept: gate.Accept})
	require.NoError(t, err)
	panicAt, never := foretick.Tick(90), foretick.Tick(0)
	var mu sync.Mutex
	ends := map[string]End{}
	gameOf := func(name string) func(server.Config) (*server.Server, error) {
		at := &never
		if name == "m2" {
			at = &panicAt
		}
		_, newMatch, _ := fields(at)
		return newMatch
	}
	h, err := New(Config{Transport: listen, OnDemand: true, Workers: 3, PlayersPerMatch: 8, OnEnd: func(e End) {
		mu.Lock()
		defer mu.Unlock()
		ends[e.Match] = e
	}, NewMatch: func(name string, end transport.Endpoint) (Match, error) {
		rec, err := flight.New(flight.Config{Name: name, Dir: dir, Keep: true})
		if err != nil {
			return nil, err
		}
		return gameOf(name)(server.Config{Transport: end, MaxWaitingPerAddress: -1, Recorder: rec})
	}})
	require.NoError(t, err)
	playing, leave := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(playing) }()
	light, err := bots.New(new(game).protocol(), func(dst *Move, _ int, _ uint32) { dst.X = 1 })
	require.NoError(t, err)
	const matches, each = 6, 2
	crowd := &bots.Crowd{Count: matches * each, Workers: 1, Start: func(n int) (bots.Player, error) {
		issued, err := ticket.Issue(key, ticket.Claims{Identity: fmt.Append(nil, "player ", n%each), Match: fmt.Sprint("m", n/each), Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{public}})
		if err != nil {
			return nil, err
		}
		e, err := udp.Dial(listen.LocalAddr().String(), udp.Config{Token: issued.Sealed})
		if err != nil {
			return nil, err
		}
		return light.Join(0, e)
	}}
	bots, stop := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { left <- crowd.Run(bots) }()
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return ends["m2"].Panic != nil }, time.Minute, 10*time.Millisecond)
	time.Sleep(time.Second)
	leave()
	require.NoError(t, <-ran)
	stop()
	require.NoError(t, <-left)
	require.Len(t, ends, matches, "Run returns after all have been told")
	for range 2000 { // sockets close a moment later
		if runtime.NumGoroutine() > goroutines {
			time.Sleep(10 * time.Millisecond)
		}
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines, "goroutines stay")
	require.FileExists(t, ends["m2"].Tape)
	files, err := filepath.Glob(filepath.Join(dir, "*.tape"))
	require.NoError(t, err)
	require.Len(t, files, matches)
	for _, f := range files {
		file, err := flight.Open(f)
		require.NoError(t, err)
		in := file.Info()
		require.False(t, in.Truncated)
		res, err := flight.Play(file, flight.Game{New: gameOf(in.Name)})
		require.NoError(t, err, in.Name)
		require.Equal(t, in.Ticks, res.Ticks)
		require.Equal(t, in.Name == "m2", res.Panic != nil)
		require.Greater(t, res.Ticks, 60)
		require.NoError(t, file.Close())
	}
}

// TestRecordedMatchHasTimes: the host's clock measures the times of a match's ticks, even if the match
// is recorded.
func TestRecordedMatchHasTimes(t *testing.T) {
	w := newTown(t, Config{OnDemand: true, Kind: kindOf}, server.Config{})
	var clock atomic.Int64
	w.host.clock = func() time.Duration { return time.Duration(clock.Add(int64(time.Millisecond))) }
	plain := w.host.cfg.NewMatch
	w.host.cfg.NewMatch = func(name string, end transport.Endpoint) (Match, error) {
		if kindOf(name) == "plain" {
			return plain(name, end)
		}
		never := foretick.Tick(0)
		_, newMatch, _ := fields(&never)
		rec, err := flight.New(flight.Config{Name: name, Dir: t.TempDir()})
		if err != nil {
			return nil, err
		}
		return newMatch(server.Config{Transport: end, Recorder: rec})
	}
	w.join("plain-1", "one")
	w.join("taped-1", "one")
	w.run(2 * time.Second)
	var sum stats.Host
	w.host.Figures(&sum)
	require.Len(t, sum.Kinds, 2)
	for _, k := range sum.Kinds {
		require.InDelta(t, k.Sum.Ticks, k.Sum.TickTime.Count(), 1, k.Name)
		require.GreaterOrEqual(t, k.Sum.TickTime.Quantile(0.5), time.Millisecond, k.Name)
		require.Positive(t, k.Sum.Systems[0].Total, k.Name)
	}
	require.NoError(t, w.host.Close(""))
}
