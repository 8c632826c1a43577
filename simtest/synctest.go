package simtest

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// Player is one end of a game under test, the server or a client: its protocol,
// newly built for each call, and the scripted input of its player.
type Player struct {
	Protocol *foretick.Protocol
	Sample   client.Sampler
	// Begin, when set, receives the server that this end became, before its first
	// Step. It can fill the world (server.Server.Frame), and store the server
	// for later use, for example to change the level. It is not called for
	// clients.
	Begin func(s *server.Server)
	// Act, when set, is called after each rendered frame of a client in a [Plan],
	// a [PacketFuzzer] or a [Bench], unless the match rests. It sends a player's requests
	// ([foretick.Request.Send], which may refuse).
	Act func(c *client.Client)
	// Rest, when set, is called when a [Plan]'s match should come to rest, and
	// when it continues. While it rests, commands are zero, and this end of the
	// game must stop everything that it does by itself (spawn, heal, send).
	Rest func(resting bool)
}

// SyncConfig configures SyncTest. The zero value is ready to use.
type SyncConfig struct {
	// Ticks is the number of ticks to play, up to 60 000. 0 means 120; negative
	// is an error.
	Ticks int
	// Back is the number of ticks that are replayed after each tick. 0 means 8;
	// negative replays nothing. It must be less than the clients' History.
	Back int
	// Players is the number of players, up to 64. 0 means 2; negative is an
	// error.
	Players int
	// Seed of the match. 0 is a seed like any other.
	Seed uint64
	// Late is the server's [server.Config].Late. With a Window the server runs its newest ticks
	// again, too, as for a late input. With World whole ticks run again, with all systems.
	Late server.Late
	// Idle allows a match that stands still: see [Plan].
	Idle bool
}

// SyncTest finds code in a game's shared systems whose result differs between the
// ends or between replays, although prediction needs it to be the same. Typical
// causes are random numbers, clocks, the order of maps, state outside of
// components, and values that a client does not have. It plays a short match of
// the game over a perfect network. Every client replays the newest ticks after
// each tick. At the end, each client's view is compared with the server's state.
// newPlayer returns one end; it is called once for the server and once for each
// player.
//
// Every fault is reported with tb.Errorf, which names the tick, the component,
// the field and, if known, the system. The test also fails if nothing happened (see
// SyncConfig.Idle), if nothing was predicted or compared, if a handler panics, and if a
// value is outside of its tag's range or cut. A build with the tag foretick_debug reports
// player-owned entities that only the server moves, too. The log names the fields of the
// command that were never set, those that were only tapped without the tag oneshot, and the
// systems that matched no row.
func SyncTest(tb testing.TB, newPlayer func() Player, cfg SyncConfig) {
	tb.Helper()
	faults, unused, err := findDesyncs(newPlayer, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for _, line := range unused {
		tb.Logf("synctest: %s", line)
	}
	for _, f := range faults {
		tb.Errorf("synctest: %s", f)
	}
}

// FindDesyncs is SyncTest without a test: it returns the faults as text, only the
// first of each kind per component. The error is the game's own: a protocol that
// does not start.
func FindDesyncs(newPlayer func() Player, cfg SyncConfig) ([]string, error) {
	faults, _, err := findDesyncs(newPlayer, cfg)
	return faults, err
}

// findDesyncs also returns the lines of the log about what the match did not use.
func findDesyncs(newPlayer func() Player, cfg SyncConfig) (faults, lines []string, err error) {
	if newPlayer == nil {
		return nil, nil, errors.New("simtest: newPlayer is nil: pass a function that returns one end of your game")
	}
	if err := cfg.checkConfig(); err != nil {
		return nil, nil, err
	}
	if cfg.Ticks == 0 {
		cfg.Ticks = 120
	}
	if cfg.Back == 0 {
		cfg.Back = 8
	}
	if cfg.Players == 0 {
		cfg.Players = 2
	}
	r := syncTester{seen: map[string]bool{}}
	m := New(cfg.Seed)
	srv := newPlayer()
	if srv.Protocol == nil {
		return nil, nil, fmt.Errorf("simtest: newPlayer returned no Protocol")
	}
	logger := slog.New(cautious{func(text string) { r.addFault(text, text) }})
	if err := m.serveEnd(srv, server.Config{Protocol: srv.Protocol, Logger: logger, Late: cfg.Late}); err != nil {
		return nil, nil, err
	}
	if cfg.Late.Window > 0 {
		if err := probe.OfServer(m.Server()).SyncTest(1, func(d probe.Desync) { r.onServer(desyncOf(d)) }); err != nil {
			return nil, nil, err
		}
	}
	link := sim.Link{Latency: 40 * time.Millisecond}
	for range cfg.Players {
		p := newPlayer()
		c, err := m.Join(client.Config{
			Protocol: p.Protocol, Sample: p.Sample, OnMisprediction: r.mispredicted,
		}, Seat{Up: link, Down: link, SyncTest: cfg.Back, OnDesync: r.diverged})
		if err != nil {
			return nil, nil, err
		}
		r.taps.listen(c)
		r.clients = append(r.clients, c)
	}
	m.Run(2*time.Second + time.Duration(cfg.Ticks)*time.Second/time.Duration(srv.Protocol.TickRate()))
	if err := m.Err(); err != nil {
		r.addFault("match", err.Error()) // other faults may follow from it
		return r.faults, nil, nil
	}
	if !m.played {
		r.addFault("nobody", errUnplayed.Error())
	} else if still := m.still(); still != nil && !cfg.Idle {
		r.addFault("still", still.Error())
	}
	r.finishServer(m.Server())
	return r.faults, unusedLines(unused(m.activity.Command), unused(m.activity.Systems), r.taps.names()), nil
}

// checkConfig reports every fault at once.
func (c SyncConfig) checkConfig() error {
	var errs []error
	check := func(name string, v, least, most, byDefault int) {
		if v < least || v > most {
			errs = append(errs, fmt.Errorf("simtest: SyncConfig.%s is %d: use up to %d, or 0 for %d", name, v, most, byDefault))
		}
	}
	check("Ticks", c.Ticks, 0, 60_000, 120)
	check("Back", c.Back, math.MinInt, 1024, 8)
	check("Players", c.Players, 0, 64, 2)
	return errors.Join(errs...)
}

type syncTester struct {
	clients []*client.Client
	taps    taps
	seen    map[string]bool
	faults  []string
}

func (r *syncTester) addFault(key, fault string) {
	if !r.seen[key] {
		r.seen[key] = true
		r.faults = append(r.faults, fault)
	}
}

func (r *syncTester) diverged(d Desync) {
	r.addFault(fmt.Sprint(d.Kind, d.Component), d.String())
}

func (r *syncTester) onServer(d Desync) {
	r.addFault(fmt.Sprint("server", d.Kind, d.Component), "on the server: "+d.String())
}

// mispredicted reports a misprediction that only a fault can cause on a perfect
// network. Allowed are effects of the server or another player, another player's
// values that are newer on the server, and commands before the first one arrived.
func (r *syncTester) mispredicted(m prediction.Misprediction) {
	if m.Cause == prediction.Code || m.Cause == prediction.Untracked && !m.OfOther {
		r.addFault(m.Cause.String()+m.Component, m.String())
	}
}

func (r *syncTester) finishServer(s *server.Server) {
	var l lost
	l.server(s)
	for _, c := range r.clients {
		st := c.Stats()
		l.client(c)
		if c.View().State != client.Playing {
			r.addFault("state", fmt.Sprintf("a client ended %v: %v", c.View().State, c.View().Err))
		}
		if st.PredictedTicks == 0 || st.Compared == 0 {
			r.addFault("idle", fmt.Sprintf("nothing was tested: %d ticks predicted, %d compared; does a player own an entity with a predicted component?", st.PredictedTicks, st.Compared))
		}
	}
	for _, line := range l.lines() {
		r.addFault(line, line)
	}
}
