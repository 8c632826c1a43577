package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/snapshot"
)

// serverHooks are called for what passes a server, in order.
type serverHooks struct {
	message  []func(probe.MessageSent)
	request  []func(probe.RequestTaken)
	panicked []func(probe.Panicked)
	call     []func(name string)
	system   []func(probe.SystemRun)

	settled []func(probe.Settled)
	now     probe.Settled // what the network decided in the running tick, if settled has any
}

// settle begins the record of a tick, for those who replay it. The commands are taken.
func (s *Server) settle() {
	if len(s.hooks.settled) == 0 {
		return
	}
	now := &s.hooks.now
	now.Tick = s.sim.frame.Tick
	for _, p := range s.sessions.players {
		if p.session.state < playing {
			continue
		}
		in := probe.SettledInput{Player: p.owner, Offset: p.inputs.offset, Shown: s.shownTo(p)}
		if c := s.p.Command; c != nil {
			in.Command = append(in.Command, unsafe.Slice((*byte)(p.inputs.command), c.Size)...)
		}
		now.Inputs = append(now.Inputs, in)
	}
}

// shownTo lists the entities that a player's client knows.
func (s *Server) shownTo(p *player) (all []probe.Shown) {
	for _, rows := range s.sim.entities.All(s.sim.world) {
		for _, id := range s.p.identity.Slice(rows) {
			if wire, since, ok := p.Shown(snapshot.NetID(id.Net)); ok {
				all = append(all, probe.Shown{Net: id.Net, Wire: wire, Since: since})
			}
		}
	}
	return all
}

// settled completes the record: views were judged where the game asked for them.
func (s *Server) settled() {
	if len(s.hooks.settled) == 0 {
		return
	}
	now := &s.hooks.now
	for i := range now.Inputs {
		if p := s.sessions.player(now.Inputs[i].Player); p != nil {
			now.Inputs[i].View, now.Inputs[i].Every = p.shooter.Settled(), p.outbox.every
		}
	}
	for _, fn := range s.hooks.settled {
		fn(*now)
	}
	*now = probe.Settled{}
}

func (h *serverHooks) left(players []PlayerID) {
	if len(h.settled) > 0 {
		h.now.Left = append(h.now.Left, players...)
	}
}

func (h *serverHooks) joined(player PlayerID) {
	if len(h.settled) > 0 {
		h.now.Joined = append(h.now.Joined, player)
	}
}

func (h *serverHooks) moved(m move) {
	if len(h.settled) > 0 {
		h.now.Moves = append(h.now.Moves, probe.Moved{Player: m.p.owner, Back: m.back})
	}
}

func (h *serverHooks) asked(player PlayerID, kind uint8, payload []byte) {
	if len(h.settled) > 0 {
		h.now.Requests = append(h.now.Requests, probe.RequestTaken{By: player, Kind: kind, Payload: slices.Clone(payload)})
	}
}
