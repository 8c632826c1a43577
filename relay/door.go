package relay

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// takeHello decides about a guest that sent a hello. It returns why the guest cannot be let in, if it
// cannot. A peer that wants to watch before there is a match waits.
func (r *Relay) takeHello(now time.Duration, g *guest, h netcode.Hello) (code transport.Code, reason string) {
	d, err := settled.ReadDeclaration(h.Data)
	switch draining := r.draining.Load(); {
	case h.Version != netcode.Version:
		return transport.Mismatch, "the relay has another version of Foretick: build the relay and all peers with the same"
	case err != nil || d.Rate > standard.MaxTickRate:
		return transport.Malformed, "the hello is no peer's of a rollback match"
	case h.Role > netcode.RoleObserve:
		return transport.Refused, fmt.Sprintf("this relay does not know role %d: it takes players (0) and observers (1)", h.Role)
	case r.match == nil && h.Role == netcode.RoleObserve:
		if reason := r.crowded(g); reason != "" {
			return transport.Full, reason
		}
		g.observes, g.heard = true, now
		return 0, ""
	case r.match == nil && draining == nil:
		if settled.LongestTick(&d.Rules, r.cfg.Players) > settled.MostTick {
			return transport.Mismatch, fmt.Sprintf("a command of %d bytes is too long for a match of %d players: all inputs of a tick must fit into a packet", d.Size, r.cfg.Players)
		}
		r.match = newMatch(&r.cfg, h.Protocol, d.Rules, now, r.drop)
	case r.match == nil:
		return transport.Refused, *draining
	}
	m := r.match
	if text := m.refuses(h.Protocol, &d.Rules); text != "" {
		return transport.Mismatch, text
	}
	var w settled.Welcome
	if h.Role == netcode.RoleObserve {
		if reason := r.crowded(g); reason != "" {
			return transport.Full, reason
		}
		g.observes = true
		w = m.admit(g, &d)
	} else if w, code, reason = r.seat(g, &h, &d); reason != "" {
		return code, reason
	}
	g.conn.Admit()
	r.cfg.Logger.Info("a peer came", "peer", g.peer, "player", g.player, "observes", g.observes, "resumed", w.Resumed, "world", w.World)
	_ = g.conn.SendReliable(w.Next, settled.KindWelcome, w.Append(nil)) // the first message of a connection has room
	return 0, ""
}

// crowded returns why a guest cannot observe, if it cannot.
func (r *Relay) crowded(g *guest) string {
	if most := max(r.cfg.MaxObservers, 0); !g.observes && r.guests.observers() >= most {
		return fmt.Sprintf("no more observers are let in: relay.Config.MaxObservers is %d", most)
	}
	return ""
}

// seat gives a guest its earlier place, or a free one.
func (r *Relay) seat(g *guest, h *netcode.Hello, d *settled.Declaration) (w settled.Welcome, code transport.Code, reason string) {
	m, token := r.match, h.Resume
	player := m.places.of(token)
	if resumed := player != 0 && token != [16]byte{}; resumed {
		pl := m.places.at(player)
		if old := pl.guest; old != nil {
			pl.guest = nil // otherwise the place would go with its connection
			r.drop(old, transport.Replaced, "the player connected again")
		}
		m.places.seat(pl, g, &m.rules)
		r.counted.Resumed++
	} else {
		if draining := r.draining.Load(); draining != nil {
			return w, transport.Refused, *draining
		}
		r.cfg.draw(token[:])
		if player = m.places.take(g, token, &m.rules); player == 0 {
			return w, transport.Full, fmt.Sprintf("the match is full: relay.Config.Players is %d", r.cfg.Players)
		}
		d.Match = 0 // a world of a place that is gone may be another match's
	}
	g.player, g.observes = player, false // it may have waited to observe
	w = m.admit(g, d)
	w.Player, w.Token, w.Resumed = player, token, token == h.Resume
	return w, 0, ""
}
