package simtest

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport/sim"
)

// Player is one end of a game under test: its protocol, built anew for each
// call, and the scripted input of the player who has it.
type Player struct {
	Protocol *foretick.Protocol
	Sample   foretick.Sampler
	// Begin, when set, is given the server that this end became, before its first
	// Step: to furnish the world (foretick.Server.Frame), and to keep for what the
	// game does with it, such as the next level. Clients' ends are not asked.
	Begin func(s *foretick.Server)
	// Act, when set, is called after each of a client's pictures in a [Plan] or a
	// [Storm], unless the match rests: it sends what a player would ask
	// ([foretick.Request.Send], which may refuse).
	Act func(c *foretick.Client)
	// Rest, when set, is told when a [Plan]'s match is to come to rest, and when
	// it goes on: commands are zero while it rests, and whatever else this end
	// of the game does by itself (spawn, heal, send) is to stop.
	Rest func(resting bool)
}

// SyncConfig sets SyncTest up. The zero value is ready to use.
type SyncConfig struct {
	// Ticks to play, up to 60 000. 0 means 120; negative is an error.
	Ticks int
	// Back is how many ticks are run again after each. 0 means 8; negative runs
	// nothing again. Less than the clients' History.
	Back int
	// Players that take part, up to 64. 0 means 2; negative is an error.
	Players int
	// Seed of the match. 0 is a seed like any other.
	Seed uint64
}

// SyncTest finds code in a game's shared systems that does not come out the same
// on both ends or when it runs again, as prediction needs it to: chance, clocks,
// the order of maps, state outside of components, values that a client does not
// have. It plays a short match of the game over a perfect network; every client
// runs the newest ticks again after each tick, and what it shows is held against
// the server's state in the end. newPlayer makes one end; it is called once for
// the server and once for each player.
//
// Every fault is reported with tb.Errorf, which names tick, component, field
// and, where it is known, the system; the test of a sound game passes silently.
// A match in which nothing was predicted or compared fails, and so does one in
// which a handler panics. A build with the tag foretick_debug also reports shared
// systems that write singletons, and what a player owns and only the server moves.
func SyncTest(tb testing.TB, newPlayer func() Player, cfg SyncConfig) {
	tb.Helper()
	faults, err := FindDesyncs(newPlayer, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range faults {
		tb.Errorf("synctest: %s", f)
	}
}

// FindDesyncs is SyncTest without a test: it returns the faults in words, each
// component's first of a kind alone. The error is the game's own: a protocol
// that does not start.
func FindDesyncs(newPlayer func() Player, cfg SyncConfig) ([]string, error) {
	if newPlayer == nil {
		return nil, errors.New("simtest: newPlayer is nil: it makes one end of your game")
	}
	if err := cfg.check(); err != nil {
		return nil, err
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
	server := newPlayer()
	if server.Protocol == nil {
		return nil, fmt.Errorf("simtest: newPlayer gave no Protocol")
	}
	logger := slog.New(cautious{func(text string) { r.add(text, text) }})
	if err := m.serve(server, foretick.ServerConfig{Protocol: server.Protocol, Logger: logger}); err != nil {
		return nil, err
	}
	link := sim.Link{Latency: 40 * time.Millisecond}
	for range cfg.Players {
		p := newPlayer()
		c, err := m.Join(foretick.ClientConfig{
			Protocol: p.Protocol, Sample: p.Sample, SyncTest: cfg.Back,
			OnDesync: r.diverged, OnMisprediction: r.mispredicted,
		}, Seat{Up: link, Down: link})
		if err != nil {
			return nil, err
		}
		r.clients = append(r.clients, c)
	}
	m.Run(2*time.Second + time.Duration(cfg.Ticks)*time.Second/time.Duration(server.Protocol.TickRate()))
	if err := m.Err(); err != nil {
		r.add("match", err.Error()) // and the rest may follow from it
		return r.faults, nil
	}
	r.finish()
	return r.faults, nil
}

// check reports every fault at once.
func (c SyncConfig) check() error {
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
	clients []*foretick.Client
	seen    map[string]bool
	faults  []string
}

func (r *syncTester) add(key, fault string) {
	if !r.seen[key] {
		r.seen[key] = true
		r.faults = append(r.faults, fault)
	}
}

func (r *syncTester) diverged(d foretick.Desync) {
	r.add(fmt.Sprint(d.Kind, d.Component), d.String())
}

// mispredicted reports what only a fault can cause on a perfect network. What the
// server or another player did, a value of another player's that is newer on the
// server, and the commands before the first one arrived, are no faults.
func (r *syncTester) mispredicted(m prediction.Misprediction) {
	if m.Cause == prediction.Code || m.Cause == prediction.Untracked && m.Player == 0 {
		r.add(m.Cause.String()+m.Component, m.String())
	}
}

func (r *syncTester) finish() {
	for _, c := range r.clients {
		st := c.Stats()
		if c.View().State != foretick.Playing {
			r.add("state", fmt.Sprintf("a client ended %v: %v", c.View().State, c.View().Err))
		}
		if st.PredictedTicks == 0 || st.Compared == 0 {
			r.add("idle", fmt.Sprintf("nothing was tested: %d ticks predicted, %d compared; does a player own an entity with a predicted component?", st.PredictedTicks, st.Compared))
		}
	}
}
