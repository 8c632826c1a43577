package relay

import (
	"fmt"
	"slices"
	"time"

	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// match is what a relay has from the hello of the first player until the last one has left.
type match struct {
	protocol uint64 // protocol is the hash of what all peers play.
	rules    settled.Rules
	id       uint64 // id tells matches apart. It is never 0.
	clock    matchClock
	places   *places
	settling *settling
	sums     sums
	worlds   worlds
}

// newMatch begins a match for a peer's hello, which came at now. drop ends a guest's connection.
func newMatch(cfg *Config, protocol uint64, r settled.Rules, now time.Duration, drop func(*guest, transport.Code, string)) *match {
	m := &match{protocol: protocol, rules: r, clock: matchClock{origin: now, rate: float64(r.Rate)}}
	var id [8]byte
	cfg.draw(id[:])
	m.id = settled.LE.Uint64(id[:]) | 1 // 0 is no match
	s := settled.NewStanding(&r, cfg.Players)
	m.places = newPlaces(cfg, s, r.Rate)
	wait := max(cfg.Wait, 0)
	if cfg.Wait == 0 {
		if wait = time.Duration(r.Window) * time.Second / time.Duration(r.Rate); r.Window == 0 {
			wait = lockstepWait
		}
	}
	m.settling = &settling{clock: &m.clock, places: m.places, standing: s, wait: wait.Seconds() * m.clock.rate, ring: make([][]byte, int(cfg.History.Seconds()*m.clock.rate))}
	m.sums = sums{places: m.places}
	m.worlds = worlds{places: m.places, settling: m.settling, sums: &m.sums, rate: r.Rate, most: uint32(cfg.MaxWorld), drop: drop}
	m.worlds.hurry = max(1, min(hurryPieces, cfg.SendRate/4*int(hurryPatience/time.Second)/settled.MaxPiece))
	m.worlds.sendable = uint64(cfg.SendRate) * uint64(cfg.History/time.Millisecond) / 1000
	return m
}

// over reports whether nobody plays any more, and nobody is about to.
func (m *match) over() bool {
	return !slices.ContainsFunc(m.places.all, func(pl place) bool { return pl.taken })
}

// lost reports whether players wait for a world, and nobody has it any more or may come back with it.
func (m *match) lost() bool {
	return !slices.ContainsFunc(m.places.all, func(pl place) bool { return pl.taken && (pl.guest == nil || pl.guest.state != waiting) })
}

// refuses returns why a peer cannot be in the match, if it cannot.
func (m *match) refuses(protocol uint64, r *settled.Rules) string {
	own := &m.rules
	switch {
	case r.Rate != own.Rate:
		return fmt.Sprintf("the match has %d ticks a second, not %d: build all peers from the same source", own.Rate, r.Rate)
	case r.Window != own.Window:
		return fmt.Sprintf("the match has a window of %d ticks, not %d: give all peers the same rollback.Config.Window", own.Window, r.Window)
	case r.Size != own.Size || !slices.Equal(r.Fields, own.Fields):
		return "the match has another command: build all peers from the same source"
	case r.Tags != own.Tags:
		return "the match has other tags: give all peers the same rollback.Config.Tags"
	case protocol != m.protocol: // last, because it has the rate and the command
		return "the protocol differs from that of the match: build all peers from the same source"
	}
	return ""
}

// admit makes a guest, whose declaration fits the match, follow it or wait for a world. It returns the
// welcome, but for the player and the token.
func (m *match) admit(g *guest, d *settled.Declaration) settled.Welcome {
	w := settled.Welcome{Places: uint8(len(m.places.all)), Match: m.id}
	g.holds, g.showed = 0, false
	if d.Match == m.id && m.settling.follows(d.Holds) {
		g.holds = d.Holds
	}
	if w.Next = g.holds + 1; m.settling.follows(g.holds) {
		g.state = following
	} else {
		w.World, w.Next = true, m.settling.newest+1
		m.worlds.await(g)
	}
	return w
}

// settleTicks settles what is due, and reports whether that was anything.
func (m *match) settleTicks(now time.Duration) (any bool) {
	for m.settling.isDue(now) {
		t := m.settling.settle()
		any = true
		if settled.IsSumTick(t.Tick, m.rules.Rate) {
			m.sums.begin(t, now)
		}
		m.worlds.settled(t.Tick)
	}
	return any
}

// step makes what the time changes: who is silent leaves, sums are decided, worlds go on.
func (m *match) step(now, timeout time.Duration) {
	for i := range m.places.all {
		pl := &m.places.all[i]
		if !pl.taken || pl.leaves || now-pl.heard <= timeout {
			continue
		}
		if g := pl.guest; g != nil {
			m.worlds.drop(g, transport.Timeout, "nothing was received")
		}
		if pl.taken {
			m.places.leave(pl)
		}
	}
	m.sums.step(now)
	m.worlds.step(now)
}

// forget takes in that a guest is gone. goes is true if its player does not come back.
func (m *match) forget(g *guest, goes bool) {
	m.worlds.forget(g)
	if g.player == 0 {
		return
	}
	if pl := m.places.at(g.player); pl.guest == g {
		pl.guest, pl.absent = nil, true
		if goes || !pl.joined {
			m.places.leave(pl)
		}
	}
}

// takePresence takes in which settled ticks a guest has.
func (m *match) takePresence(g *guest, p settled.Presence) error {
	if p.None || g.state != following {
		return nil
	}
	if netcode.Newer(p.Settled, m.settling.newest) {
		return netcode.ErrMalformed
	}
	if !netcode.Newer(g.holds, p.Settled) {
		g.holds, g.showed = p.Settled, true
		if m.places.caughtUp(g, m.settling.newest) {
			g.outrun, g.world = 0, 0
		}
	}
	return nil
}

// passClue passes a clue on to the player that it is for. Only players whose worlds differ may send some.
func (m *match) passClue(g *guest, body []byte) error {
	c, err := settled.ReadClue(body)
	if err != nil || int(c.Player) > len(m.places.all) {
		return netcode.ErrMalformed
	}
	from, to := m.places.at(g.player), m.places.at(c.Player)
	if from.clues == 0 || to.clues == 0 || to.guest == nil {
		return nil // it is late, or the other player is gone
	}
	from.clues--
	c.Player = g.player
	_ = to.guest.conn.SendReliable(m.settling.newest, settled.KindClue, c.Append(nil)) // without it, the search ends by itself
	return nil
}

// appendSettled appends a body of settled.MessageSettled for a guest, of up to limit bytes. A guest whose next
// tick is gone waits for a world from then on.
func (m *match) appendSettled(dst []byte, g *guest, now time.Duration, limit int) []byte {
	if g.state == following && !m.settling.follows(g.holds) {
		if g.world > 0 {
			g.outrun++
		}
		m.worlds.await(g)
	}
	at := m.clock.ticks(now)
	h := settled.Head{Clock: netcode.Tick(at), Fraction: uint8((at - float64(netcode.Tick(at))) * 256)}
	if h.First = h.Clock; g.state == following {
		h.First = g.nextToSend()
	}
	if g.player != 0 {
		pl := m.places.at(g.player)
		h.Early, h.HasEarly, h.Taken = pl.early, pl.hasEarly, pl.buffer.Ack()
		pl.early, pl.hasEarly = 0, false
	}
	head := h.Append(dst)
	if g.state != following {
		return head
	}
	body, n := m.settling.write(head, h.First, len(dst)+limit)
	body[len(head)-1] = byte(n)
	g.noteSent(n, m.settling.newest)
	return body
}
