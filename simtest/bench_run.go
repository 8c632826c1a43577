package simtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
)

// benchJoin is how long clients have to join before Bench measures.
const benchJoin = 2 * time.Second

// benchRun plays one match of [Bench].
type benchRun struct {
	BenchConfig
	newPlayer func() Player
	sum       *benchCounts // sums over all matches
	m         *Match
}

// play plays a match and adds what it cost to sum.
func (r *benchRun) play(seed uint64) error {
	if err := r.beginMatch(seed); err != nil {
		return err
	}
	r.m.trace = nil // hashing all packets and states takes time
	r.m.AroundServer, r.m.aroundClient = r.sum.server.time, r.sum.client.time
	r.addCounters(-1)
	r.m.RunFor(time.Duration(r.Seconds) * time.Second)
	r.addCounters(+1)
	r.sum.seconds += float64(r.Seconds * r.Players)
	return r.err()
}

// beginMatch starts a match and plays until all clients have joined.
func (r *benchRun) beginMatch(seed uint64) error {
	r.m = New(seed)
	if err := r.joinClients(); err != nil {
		return err
	}
	r.m.RunFor(benchJoin)
	return r.m.Err()
}

// joinClients starts the server and lets all clients join.
func (r *benchRun) joinClients() error {
	p := r.newPlayer()
	if p.Protocol == nil {
		return errors.New("newPlayer returned no Protocol")
	}
	cfg := server.Config{Protocol: p.Protocol, MaxClients: max(64, r.Players)}
	if r.Server != nil {
		r.Server(&cfg)
	}
	cfg.Profile = true
	if err := r.m.serveEnd(p, cfg); err != nil {
		return err
	}
	for range r.Players {
		p, seat := r.newPlayer(), Seat{Up: r.Link, Down: r.Link}
		var c *client.Client
		if p.Act != nil {
			seat.After = func(client.View) { p.Act(c) }
		}
		var err error
		if c, err = r.m.Join(client.Config{Protocol: p.Protocol, Sample: p.Sample}, seat); err != nil {
			return err
		}
	}
	return nil
}

// err returns the reason why the match measures nothing, or nil.
func (r *benchRun) err() error {
	switch clients := r.m.Clients(nil); {
	case r.m.Err() != nil:
		return r.m.Err()
	case len(clients) < r.Players:
		return fmt.Errorf("only %d of %d clients stayed in the match: let server.Config.MaxClients have room for BenchConfig.Players, and Player.Act and the game keep all of them", len(clients), r.Players)
	case !r.m.played:
		return errUnplayed
	default:
		for i, c := range clients {
			if v := c.View(); v.State != client.Playing {
				return fmt.Errorf("client %d of %d does not play at the end of the match, it is %v: %s; let the game keep all players and BenchConfig.Link hold a connection", i+1, r.Players, v.State, fmt.Sprint(v.Err))
			}
		}
		return nil
	}
}

// addCounters adds sign times the current counters to sum. sign is −1 at the beginning of the
// measurement, and 1 at its end.
func (r *benchRun) addCounters(sign float64) {
	if r.m.Err() != nil {
		return
	}
	s, sum := r.m.Server(), r.sum
	srv := s.Stats()
	sum.ticks += sign * float64(srv.Ticks)
	sum.down += sign * float64(srv.BytesOut)
	sum.up += sign * float64(srv.BytesIn)
	for _, c := range r.m.Clients(nil) {
		st := c.Stats()
		sum.corrections += sign * float64(st.Mispredictions)
		for cause, n := range st.ByCause.All() {
			sum.causes[cause] += sign * float64(n)
		}
	}
	for _, l := range s.Traffic() {
		if !l.Up {
			sum.addBytes(l, sign)
		}
	}
}

// addBytes adds sign times the bytes of l to the part with the same name.
func (s *benchCounts) addBytes(l stats.Traffic, sign float64) {
	for i := range s.parts {
		if p := &s.parts[i]; p.component == l.Component && p.what == l.What {
			p.bytes += sign * l.Bytes
			return
		}
	}
	s.parts = append(s.parts, benchPart{l.Component, l.What, sign * l.Bytes})
}
