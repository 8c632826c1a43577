package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// playerTrace is an armed trace of a player, on the server. That of a set aside has no client.
type playerTrace struct {
	s        *Server
	p        *player
	port     *trace.Port
	recorder *trace.Recorder
	request  trace.Request
	nobody   bool   // the operator asked for entities that the player does not own
	shape    uint64 // of the player's part when its entities were listed

	client   time.Duration // until when the player's client looks; 0: it does not
	operator time.Duration // … and the server's own program
	watched  bool          // which looked at all

	sender    trace.Sender    // of the server's records, to the client
	assembler trace.Assembler // of the client's
	asked     time.Duration   // when the client was last asked for its records
	heard     time.Duration   // when one of them last came
}

// Net names a reference as the player's client does, 0 for what it cannot see. It implements
// schema.Refs.
func (t *playerTrace) Net(entity uint64) uint32 {
	e := ecs.Entity(entity)
	id := t.s.p.identity.Find(t.s.sim.world, e)
	if id == nil || t.p.interest.hides[e] {
		return 0
	}
	name, _ := t.named(e, id)
	return name
}

// Entity is never called.
func (t *playerTrace) Entity(uint32) uint64 { return 0 }

// named returns the name of an entity on the player's connection, 0 for one that the client
// does not know, and what the player receives of it.
func (t *playerTrace) named(e ecs.Entity, id *networkID) (name uint32, audience schema.Audience) {
	own, net := t.s.sim.world.Owner(e) == t.p.owner, snapshot.NetID(id.Net)
	var wire schema.WireID
	shown := false
	switch {
	case t.p.local != nil:
		if wire, _, shown = t.p.local.knows(net); own {
			audience = schema.ToOwner
		}
	case t.p.outbox.sender != nil:
		wire, shown = t.p.outbox.sender.Wire(net)
		audience = t.p.outbox.sender.Audience(net)
	}
	if own && id.origin != 0 && id.maker == uint16(t.p.owner) {
		if !shown {
			audience = schema.ToOwner // the client spawned it, and gets no more than its own
		}
		return id.origin, audience
	}
	if shown {
		return uint32(wire), audience
	}
	return 0, 0
}

// may reports whether the player may trace an entity: it owns it, predicts it and receives it.
func (t *playerTrace) may(e ecs.Entity) bool {
	return t.s.sim.world.Owner(e) == t.p.owner && !t.p.interest.hides[e] && !t.s.sim.clientOnly(e)
}

// list adds the player's entities that are asked for and not in the record yet.
func (t *playerTrace) list() {
	s := t.s
	t.shape = s.sim.world.Structure(t.p.owner)
	if t.nobody {
		return
	}
	var c candidates
	for _, rows := range s.sim.entities.Owned(s.sim.world, t.p.owner) {
		ids := s.p.identity.Slice(rows)
		for i := range ids {
			id, e := &ids[i], rows.Entity(i)
			if s.p.Prefabs[id.Prefab].Interpolated && !id.ahead || !t.may(e) {
				continue
			}
			if name, audience := t.named(e, id); name != 0 && t.request.Wants(name) {
				c.offer(candidate{e, name, int(id.Prefab), audience})
			}
		}
	}
	c.add(t.recorder)
}

// begin begins the record of the tick that is about to run.
func (t *playerTrace) begin(tick Tick) {
	t.recorder.Begin(tick)
	t.list()
	t.take(trace.Start())
}

// take records the player's entities at a step.
func (t *playerTrace) take(step int) {
	t.recorder.At(step)
	if step != trace.Start() && t.s.sim.world.Structure(t.p.owner) != t.shape {
		t.list()
	}
	for i := range t.recorder.Entities() {
		switch e := ecs.Entity(t.recorder.Handle(i)); {
		case e == 0:
		case !t.may(e):
			t.recorder.Gone(i)
		default:
			t.s.p.record(t.s.sim.world, t.recorder, i, t, step == trace.Start())
		}
	}
}

// rename takes the entities that the server's program asks for.
func (t *playerTrace) rename(handles []uint64) {
	t.request, t.nobody = trace.Request{}, len(handles) > 0
	for _, h := range handles {
		id := t.s.p.identity.Find(t.s.sim.world, ecs.Entity(h))
		if id == nil || !t.may(ecs.Entity(h)) {
			continue
		}
		if name, _ := t.named(ecs.Entity(h), id); name != 0 {
			t.request.Names[t.request.N] = name
			t.request.N++
			t.nobody = false
		}
	}
}

// write puts what the trace has to say into the packet that is being built, after its
// snapshot.
func (t *playerTrace) write(now time.Duration) {
	pk, b := t.p.outbox.draft.packet, t.s.senders.scratch[:0]
	if t.operator > now && t.asks(now) && pk.Message(messageTrace, trace.AppendAsk(b, t.request.Names[:t.request.N])) {
		t.asked = now
	}
	if t.client > now {
		if b = t.sender.Append(b, &t.port.Server, pk.Room(), t.s.sim.frame.Tick); len(b) > 0 {
			pk.Message(messageTrace, b)
		}
	}
	t.s.senders.scratch = b[:0]
}

// piece takes a piece of the client's records.
func (t *playerTrace) piece(b []byte) error {
	return t.assembler.Add(b, t.port.Layout, &t.port.Client)
}

// asks reports whether the client is to be asked again for its records.
func (t *playerTrace) asks(now time.Duration) bool {
	every := traceRefresh
	if t.heard <= t.asked {
		every = traceRepeat
	}
	return t.asked == 0 || now-t.asked >= every
}

// loopback reports whether a player's address is this machine's, or no address at all
// because it plays in the server's own process.
func (p *player) loopback() bool { return p.local != nil || isLoopback(p.session.address) }

// playerTracing is what a server keeps of a player's traces.
type playerTracing struct {
	armed   *playerTrace  // nil: it has none
	late    time.Duration // until when its client's records may come; 0: nobody asked for any
	asks    allowance     // of its client's Asks and Stops
	refused byte          // why the last was refused, until the client is told; 0: it was not
	stop    bool          // the client is to be told to stop
}
