package optiontest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

const (
	play = 10 * time.Second // time with faults and inputs
	rest = 4 * time.Second  // time at rest before both ends are compared
)

// bad is the network of a match, in both directions.
var bad = sim.Link{Latency: 50 * ms, Jitter: 70 * ms, Loss: 0.06, Burst: 3, Duplicate: 0.03, Reorder: 0.03}

// set is a set of options that are on together.
type set map[string]bool

func (s set) has(name string) bool { return s[name] || catalogue[name].always }

// late reports whether the server takes late inputs.
func (s set) late() bool { return s["server.Config.Late.Window"] || s["server.Config.Late.World"] }

func (s set) game() *game { return &game{on: s.has, asked: map[string]bool{}} }

// serverConfig sets the options of a server, in place of those of cfg.
func (s set) serverConfig(cfg *server.Config) {
	for name := range s {
		if o := catalogue[name].server; o != nil {
			o(cfg)
		}
	}
}

// table is a match with some options.
type table struct {
	set
	m       *simtest.Match
	rec     *flight.Recorder
	game    *game
	games   []*game // the clients' ends
	players []*client.Client
	watcher *client.Client
	desyncs []string
	secrets *campaign.Secrets
}

// begin makes the server of a match.
func (s set) begin(seed uint64) (*table, error) {
	t := &table{set: s, m: simtest.New(seed), game: s.game(), secrets: &campaign.Secrets{}}
	t.m.Watch(&simtest.Agreement{}, &simtest.Limits{}, &simtest.Causes{}, t.secrets)
	if !s["client.Config.ResumeToken"] { // after a reconnect, a new process gets messages again that the dead one did not acknowledge
		t.m.Watch(&simtest.Delivery{}, &simtest.Requests{})
	}
	var err error
	if t.rec, err = flight.New(flight.Config{}); err != nil {
		return nil, err
	}
	cfg := server.Config{Protocol: t.game.protocol(), Recorder: t.rec}
	s.serverConfig(&cfg)
	srv, err := t.m.Serve(cfg)
	if err != nil {
		return nil, err
	}
	t.game.fill(srv.Frame())
	if s.late() {
		return t, campaign.SyncTestServer(srv, 1, t.desync)
	}
	return t, nil
}

func (t *table) desync(d simtest.Desync) { t.desyncs = append(t.desyncs, d.String()) }

// clientConfig returns a client's configuration, without the named options.
func (t *table) clientConfig(g *game, n int, without ...string) client.Config {
	cfg := client.Config{Protocol: g.protocol(), Sample: g.sampler(n)}
	skip := set{}
	for _, name := range without {
		skip[name] = true
	}
	for name := range t.set {
		if o := catalogue[name].client; o != nil && !skip[name] {
			o(&cfg)
		}
	}
	if t.set["client.Config.Random"] {
		cfg.Random = rand.NewChaCha8([32]byte{byte(n), 3})
	}
	if t.set["client.Config.Redial"] {
		cfg.Redial = func() (transport.Endpoint, error) { return t.m.Dial(bad, bad), nil }
	}
	return cfg
}

// join adds a player. The last of three always predicts, so that there are corrections.
func (t *table) join(n int, token []byte) (*client.Client, error) {
	g := t.set.game()
	without := []string{"client.Config.Observe"}
	if n == 2 {
		without = append(without, "client.Config.NoPrediction")
	}
	cfg := t.clientConfig(g, n, without...)
	cfg.ResumeToken = token
	again := 2
	if cfg.NoPrediction {
		again = 0
	}
	c, err := t.m.Join(cfg, simtest.Seat{Up: bad, Down: bad, SyncTest: again, OnDesync: t.desync})
	if err == nil {
		g.client = c
		t.games = append(t.games, g)
		t.players = append(t.players, c)
	}
	return c, err
}

// watch adds an observer.
func (t *table) watch(sample bool) (err error) {
	cfg := t.clientConfig(t.set.game(), 9)
	if !sample {
		cfg.Sample = nil
	}
	if t.set["client.Config.ResumeToken"] {
		cfg.ResumeToken = make([]byte, 8)
	}
	t.watcher, err = t.m.Join(cfg, simtest.Seat{Up: bad, Down: bad})
	return err
}

// comeBack ends the first client's process, and starts another one for the same player.
func (t *table) comeBack() error {
	token := t.players[0].ResumeToken()
	t.m.KillClient(t.players[0])
	t.players = t.players[1:]
	_, err := t.join(0, token)
	return err
}

// slow makes all players' inputs arrive later.
func (t *table) slow(by time.Duration) {
	up := bad
	up.Latency += by
	for _, c := range t.players {
		t.m.Link(c, up, bad)
	}
}

// run plays a match to its end and returns what is wrong with it.
func (s set) run(seed uint64) error {
	t, err := s.begin(seed)
	if err != nil {
		return err
	}
	for n := range 3 {
		if _, err := t.join(n, nil); err != nil {
			return err
		}
	}
	if s["client.Config.Observe"] {
		if err := t.watch(false); err != nil {
			return err
		}
	}
	var acts []error
	t.m.Net.At(4*time.Second, func() {
		if s["client.Config.ResumeToken"] {
			acts = append(acts, t.comeBack())
		}
	})
	t.m.Net.At(7*time.Second, func() {
		if s["Protocol.OnLevel"] {
			acts = append(acts, t.m.Server().NextLevel(nil, t.level(t.game, t.m.Server())))
		}
	})
	if s.late() { // by chance, all inputs may be in time in one of hundreds of matches
		t.m.Net.At(8*time.Second, func() { t.slow(120 * ms) })
		t.m.Net.At(8*time.Second+300*ms, func() { t.slow(0) })
	}
	t.m.Run(play)
	calm := sim.Link{Latency: 20 * ms}
	for _, c := range append(t.m.Clients(nil), t.m.Observers(nil)...) {
		t.m.Link(c, calm, calm)
	}
	t.m.Run(play + rest)
	if err := errors.Join(append(acts, t.m.Err())...); err != nil {
		return err
	}
	if err := t.m.Quiet(); err != nil {
		return err
	}
	if err := t.judge(); err != nil {
		return err
	}
	return t.replay()
}

// level returns a build function that makes the same level as the first one, for the current
// players.
func (t *table) level(g *game, srv *server.Server) func(*foretick.ServerFrame) {
	return func(f *foretick.ServerFrame) {
		for _, player := range srv.Players(nil) {
			g.enter(f, player.ID)
		}
		g.fill(f)
	}
}

// judge returns an error if too little happened in a match that ended well.
func (t *table) judge() error {
	if len(t.desyncs) > 0 {
		return fmt.Errorf("%d faults of the sync test: %s", len(t.desyncs), t.desyncs[0])
	}
	if _, err := t.m.Worked(); err != nil {
		return err
	}
	corrected, rerun := uint64(0), uint64(0)
	for _, c := range t.players {
		st := c.Stats()
		corrected += st.Mispredictions
		if n := st.ByCause.Of(prediction.Code); n > 0 {
			return fmt.Errorf("%d corrections are called code", n)
		}
		if of, ok := t.m.Server().PlayerStats(t.m.Server().Player(c.View().Player)); !ok || of.InputsTaken < 100 {
			return fmt.Errorf("player %d: %d inputs were taken", c.View().Player, of.InputsTaken)
		} else {
			rerun += of.InputsRerun
		}
	}
	switch {
	case corrected == 0:
		return errors.New("nothing was corrected")
	case t.late() && rerun == 0:
		return errors.New("no input came late and ran")
	case t.watcher != nil && t.watcher.View().State != client.Playing:
		return fmt.Errorf("the observer is %v: %w", t.watcher.View().State, t.watcher.View().Err)
	case t.set["Protocol.OnLevel"] && !slices.ContainsFunc(t.games, func(g *game) bool { return g.levels > 0 }):
		return errors.New("no level began")
	case t.set["Request.Handle"] && t.game.requests == 0:
		return errors.New("no request came")
	case t.set["Event.OnServer"] && t.game.told == 0, t.set["Event.OnFinal"] && t.game.final == 0:
		return errors.New("no event was handled")
	}
	return nil
}

// replay replays the tape of the match.
func (t *table) replay() error {
	var b bytes.Buffer
	if _, err := t.rec.WriteTo(&b); err != nil {
		return err
	}
	tape, err := flight.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return err
	}
	var g *game
	var srv *server.Server
	res, err := flight.Play(tape, flight.Game{
		New: func(cfg server.Config) (*server.Server, error) {
			from, random := cfg.Transport, cfg.Random
			t.serverConfig(&cfg)
			g = t.set.game()
			cfg.Protocol, cfg.Transport, cfg.Random = g.protocol(), from, random
			var err error
			if srv, err = server.New(cfg); err != nil {
				return nil, err
			}
			g.fill(srv.Frame())
			return srv, nil
		},
		Level: func([]byte) func(*foretick.ServerFrame) {
			return func(f *foretick.ServerFrame) { t.level(g, srv)(f) }
		},
	})
	if err != nil {
		return fmt.Errorf("the tape: %w", err)
	}
	if res.Ticks < 13*t.game.rate() {
		return fmt.Errorf("the tape has %d ticks", res.Ticks)
	}
	return nil
}

// shrink returns a smaller set of options with which the match still fails, and the error.
func (s set) shrink(seed uint64) (set, error) {
	err := s.run(seed)
	for again := true; again; {
		again = false
		for _, name := range s.drawn() {
			var kept []string
			for _, other := range s.drawn() {
				if other != name {
					kept = append(kept, other)
				}
			}
			less := setOf(kept...)
			if wrong := less.run(seed); wrong != nil && len(less) < len(s) {
				s, err, again = less, wrong, true
			}
		}
	}
	return s, err
}
