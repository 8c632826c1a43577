package simtest_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	tapes "github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// barrierMatch has two players. The packets of the first one are held at times.
type barrierMatch struct {
	*simtest.Match
	srv     *server.Server
	game    *barrierGame
	clients []*client.Client
	games   []*barrierGame
	link    *holder
	tape    *tapes.Recorder
	asked   uint32
}

const (
	barrierAt     = 120 // the tick
	barrierWindow = 200 * time.Millisecond
)

func barrierServer(mode lateMode) server.Config {
	cfg := server.Config{Late: server.Late{World: mode.world}}
	if mode.window > 0 {
		cfg.Late.Window = barrierWindow
	}
	return cfg
}

func newBarrierMatch(t *testing.T, mode lateMode) *barrierMatch {
	x := &barrierMatch{Match: simtest.New(5), game: &barrierGame{whole: mode.world, at: barrierAt}, link: &holder{}}
	var err error
	x.tape, err = tapes.New(tapes.Config{})
	require.NoError(t, err)
	cfg := barrierServer(mode)
	cfg.Protocol, cfg.Recorder = x.game.protocol(), x.tape
	x.srv, err = x.Serve(cfg)
	require.NoError(t, err)
	link := sim.Link{Latency: 20 * time.Millisecond}
	for n := range 2 {
		g, seat := &barrierGame{}, simtest.Seat{Up: link, Down: link}
		if n == 0 {
			seat.Wrap = func(e transport.Endpoint) transport.Endpoint { x.link.Endpoint = e; return x.link }
		}
		c, err := x.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) barrierPush {
			return barrierPush{Move: wave(n, v).Move, Fire: v.Tick%5 == 0}
		})}, seat)
		require.NoError(t, err)
		x.clients, x.games = append(x.clients, c), append(x.games, g)
		x.RunFor(200 * time.Millisecond)
	}
	return x
}

// until runs the match up to the end of a tick. The second player sends requests meanwhile.
func (x *barrierMatch) until(t *testing.T, tick foretick.Tick) {
	for was := x.srv.Tick(); x.srv.Tick() < tick; {
		x.RunFor(time.Second / 240)
		if now := x.srv.Tick(); now != was && now%7 == 0 && x.clients[1].View().State == client.Playing && now < barrierAt-7 {
			x.asked++
			require.NoError(t, x.games[1].ask.Send(x.clients[1], barrierAsk{x.asked}))
		}
	}
}

// barrier is something after which no earlier tick runs again.
type barrier struct {
	name  string
	in    func(x *barrierMatch, f *foretick.ServerFrame) error // the barrier, called by a system
	out   func(x *barrierMatch) error                          // the barrier, called between Steps
	lost  int                                                  // the player that the barrier removes: 1 for the first; 0: none; −1: all
	level bool                                                 // the barrier begins a new level
}

func barriers() []barrier {
	level := func(x *barrierMatch) error { return x.srv.NextLevel([]byte("next"), x.game.build) }
	shutdown := func(x *barrierMatch) error { return x.srv.Shutdown("over", 3*time.Second) }
	closes := func(x *barrierMatch) error { return x.srv.Close("over") }
	restarts := func(x *barrierMatch) error { return x.srv.CloseForRestart("over") }
	system := func(call func(*barrierMatch) error) func(*barrierMatch, *foretick.ServerFrame) error {
		return func(x *barrierMatch, _ *foretick.ServerFrame) error { return call(x) }
	}
	return []barrier{
		{name: "NextLevel between Steps", out: level, level: true},
		{name: "NextLevel by a system", in: system(level), level: true},
		{name: "Shutdown between Steps", out: shutdown, lost: -1},
		{name: "Shutdown by a system", in: system(shutdown), lost: -1},
		{name: "Close between Steps", out: closes, lost: -1},
		{name: "Close by a system", in: system(closes), lost: -1},
		{name: "CloseForRestart between Steps", out: restarts, lost: -1},
		{name: "CloseForRestart by a system", in: system(restarts), lost: -1},
		{name: "the end of a drain", lost: -1, out: func(x *barrierMatch) error {
			x.srv.Drain("out of service")
			for _, c := range x.clients {
				c.Close()
			}
			return nil
		}},
		{name: "a kick by a system", lost: 1, in: func(x *barrierMatch, f *foretick.ServerFrame) error {
			f.Kick(1, transport.FirstUserCode, "out")
			return nil
		}},
		{name: "a kick between Steps", lost: 1, out: func(x *barrierMatch) error {
			x.srv.Frame().Kick(1, transport.FirstUserCode, "out")
			return nil
		}},
		{name: "a leave", lost: 1, out: func(x *barrierMatch) error {
			x.clients[0].Close()
			return nil
		}},
		{name: "a kick and a level by a system", lost: 1, level: true, in: func(x *barrierMatch, f *foretick.ServerFrame) error {
			f.Kick(1, transport.FirstUserCode, "out")
			return level(x)
		}},
	}
}

// Every output that a tick decided comes exactly once, whatever ends the tick's wait for late
// inputs: events for OnServer and OnFinal, events that their handlers raise, messages, replies,
// kicks, and entities that appear and vanish. A replay of the tape gives the same outputs.
func TestOutputsAtBarriers(t *testing.T) {
	for _, mode := range lateModes {
		for _, b := range barriers() {
			t.Run(mode.name+"/"+b.name, func(t *testing.T) {
				x := newBarrierMatch(t, mode)
				x.until(t, 60)
				x.link.holds = true
				x.until(t, 67)
				x.link.release(t)
				x.until(t, barrierAt-7)
				x.link.holds = true
				if b.in != nil {
					x.game.end = func(f *foretick.ServerFrame) { require.NoError(t, b.in(x, f)) }
				}
				x.until(t, barrierAt)
				if b.out != nil {
					require.NoError(t, b.out(x))
				}
				last := x.srv.Tick()
				if b.lost >= 0 {
					x.until(t, barrierAt+4)
					if b.lost == 0 {
						x.link.release(t)
					}
					x.until(t, barrierAt+40)
					last = x.srv.Tick()
					x.checkEntities(t, b)
					require.NoError(t, x.srv.Close("over"))
				} else if x.clients[0].View().State == client.Playing {
					x.link.release(t) // acknowledgements
				}
				x.RunFor(5 * time.Second)
				x.checkEvents(t)
				x.checkWords(t, b, last)
				x.checkTape(t, mode, b)
				if again := x.srv.Stats().InputsRerun; mode.window > 0 {
					require.Greater(t, again, uint64(0), "or this test shows nothing")
				}
			})
		}
	}
}

// checkEvents compares the events that the ticks decided with those that were handled.
func (x *barrierMatch) checkEvents(t *testing.T) {
	g, n := x.game, 0
	for k, yes := range g.decided {
		want := 0
		if yes {
			want = 1
			n++
		}
		require.Equal(t, want, g.handled[k], "OnServer of %v", k)
		require.Equal(t, want, g.final[k], "OnFinal of %v", k)
		require.Equal(t, want, g.nexts[k], "OnFinal of what the OnFinal of %v raised", k)
	}
	require.Len(t, g.final, n)
	require.Len(t, g.nexts, n)
	require.Len(t, g.gone, 2)
	require.Len(t, g.lefts, 2, "what OnLeave raised")
	for k, times := range g.lefts {
		require.Equal(t, 1, times, "%v", k)
	}
	require.Greater(t, n, barrierAt/2)
	require.Zero(t, x.srv.Stats().EventsNested)
}

// checkWords compares the messages that were sent with those that clients received.
func (x *barrierMatch) checkWords(t *testing.T, b barrier, last foretick.Tick) {
	for i, g := range x.games {
		for w, n := range g.heard {
			require.Equal(t, 1, n, "player %d heard %v", i+1, w)
		}
		if b.name == "the end of a drain" || b.name == "a leave" && i == 0 {
			continue // this client receives nothing more
		}
		end := last
		if b.lost == i+1 {
			end = barrierAt // the last tick of which the removed player got a packet
		}
		for tick := foretick.Tick(30); tick <= end; tick++ {
			require.Equal(t, 1, g.heard[barrierWord{wordOfTick, ecs.Nobody, tick}], "player %d: message of tick %d", i+1, tick)
		}
		if b.lost == i+1 {
			continue // only the others get messages about events that become final later
		}
		for k := range x.game.final {
			if k.Tick >= 30 {
				require.Equal(t, 1, g.heard[barrierWord{wordOfFinal, k.By, k.Tick}], "player %d: message of the OnFinal of %v", i+1, k)
			}
		}
	}
	if b.name == "the end of a drain" {
		return
	}
	require.Greater(t, x.asked, uint32(10))
	for n := uint32(1); n <= x.asked; n++ {
		require.Equal(t, 1, x.games[1].heard[barrierWord{wordOfAnswer, 2, n}], "answer %d", n)
	}
}

// checkEntities compares the entities that appeared on the second client with those that exist.
func (x *barrierMatch) checkEntities(t *testing.T, b barrier) {
	g, bodies, want := x.games[1], 0, 2
	for _, n := range g.alive {
		bodies += n
	}
	if b.lost > 0 {
		want = 1
		var gone *transport.DisconnectError
		if b.name != "a leave" {
			require.ErrorAs(t, x.clients[0].View().Err, &gone)
			require.Equal(t, transport.FirstUserCode, gone.Code)
		}
	}
	require.Zero(t, g.twice, "appeared or vanished out of turn")
	require.Equal(t, want, bodies)
	made := 2
	if b.level {
		made += want
	}
	require.Len(t, g.alive, made)
}

// checkTape replays the match's tape, and compares the calls of handlers with those of the match.
func (x *barrierMatch) checkTape(t *testing.T, mode lateMode, b barrier) {
	var file bytes.Buffer
	_, err := x.tape.WriteTo(&file)
	require.NoError(t, err)
	tape, err := tapes.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	again := &barrierMatch{game: &barrierGame{whole: mode.world, at: barrierAt}}
	g := again.game
	if b.in != nil {
		g.end = func(f *foretick.ServerFrame) { require.NoError(t, b.in(again, f)) }
	}
	_, err = tapes.Play(tape, tapes.Game{
		New: func(cfg server.Config) (*server.Server, error) {
			cfg.Protocol = g.protocol()
			srv, err := server.New(cfg)
			again.srv = srv
			return srv, err
		},
		Level: func([]byte) func(*foretick.ServerFrame) { return g.build },
	})
	require.NoError(t, err)
	require.Equal(t, x.game.final, g.final)
	require.Equal(t, x.game.handled, g.handled)
	require.Equal(t, x.game.nexts, g.nexts)
	require.ElementsMatch(t, slices.Clone(x.game.gone), g.gone)
}

// Calls that OnFinal handlers make while the match or a level ends are done once or refused.
func TestHandlersAskAtBarriers(t *testing.T) {
	for _, b := range barriers()[:8] {
		t.Run(b.name, func(t *testing.T) {
			x, asked, levels := newBarrierMatch(t, lateModes[2]), 0, 0
			if b.in != nil {
				x.game.end = func(f *foretick.ServerFrame) { require.NoError(t, b.in(x, f)) }
			}
			x.game.reacts = func(f *foretick.ServerFrame) {
				if f.Tick < barrierAt || asked > 0 {
					return
				}
				asked++
				err := x.srv.NextLevel([]byte("another"), func(f *foretick.ServerFrame) { levels++; x.game.build(f) })
				if b.level {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, transport.ErrClosed)
				require.ErrorIs(t, x.srv.Close("again"), transport.ErrClosed)
				require.ErrorIs(t, x.srv.Shutdown("again", time.Second), transport.ErrClosed)
				f.Kick(2, transport.FirstUserCode, "out")
			}
			x.until(t, barrierAt-7)
			x.link.holds = true
			x.until(t, barrierAt)
			if b.out != nil {
				require.NoError(t, b.out(x))
			}
			require.Equal(t, 1, asked)
			x.link.release(t)
			x.RunFor(5 * time.Second)
			if !b.level {
				require.ErrorIs(t, x.srv.Close("again"), transport.ErrClosed)
				require.EqualValues(t, barrierAt, x.srv.Tick())
				return
			}
			require.Equal(t, 1, levels)
			require.NoError(t, x.srv.Close("over"))
			x.checkEvents(t)
		})
	}
}
