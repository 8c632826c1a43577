package foretick

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/prediction"
)

// note travels beside a snapshot and says what may have spoilt the prediction
// that it will be compared with. It is left out when there is nothing to say.
type note struct {
	substituted uint32 // ticks since a tick ran without the client's own command, plus 1; 0 none
	run         uint32 // how many ticks before that one in a row did so, too
	how         prediction.StandIn
	effect      uint32 // ticks since a server system wrote predicted state, plus 1; 0 none
	system      uint32 // the number of the cause: a system's index plus 1, 0 for what no system did
	pushed      uint32 // ticks since another player's run of a shared system wrote predicted state, plus 1; 0 none
	by          uint32 // that player; 0: not known
	standIn     []byte // what that tick ran with, packed; for standInWindow ticks
	raised      []noteEvent
}

// noteEvent is an event that an entity of the player's raised on the server, as
// against what the client predicted.
type noteEvent struct {
	age   uint32 // ticks before the snapshot's
	event uint32 // its index
}

// howBits is how many bits the reason of a stand-in takes, and maxRun the longest run
// that is told.
const (
	howBits = 3
	maxRun  = 1<<12 - 1
)

// standInWindow is for how many ticks a stand-in is sent.
const standInWindow = 16

// maxRaised bounds the events of a note.
const maxRaised = 64

// noteWindow is for how many ticks a cause is repeated, and how old the events that
// go with it may be: longer than any client can go without a snapshot and still
// compare.
const noteWindow = 250

var errNote = errors.New("foretick: malformed note")

func (n note) append(dst []byte) []byte {
	for _, c := range [...]struct{ age, more uint32 }{{n.substituted, n.run<<howBits | uint32(n.how)}, {n.effect, n.system}, {n.pushed, n.by}} {
		dst = binary.AppendUvarint(dst, uint64(c.age))
		if c.age != 0 {
			dst = binary.AppendUvarint(dst, uint64(c.more))
		}
	}
	if n.hasStandIn() {
		dst = append(dst, n.standIn...)
	}
	for _, e := range n.raised {
		dst = binary.AppendUvarint(dst, uint64(e.age))
		dst = binary.AppendUvarint(dst, uint64(e.event))
	}
	return dst
}

// hasStandIn tells whether the note holds the command that a tick ran with.
func (n *note) hasStandIn() bool { return n.substituted != 0 && n.substituted-1 < standInWindow }

// parse reads what append wrote, into n's memory; size is that of a packed
// command.
func (n *note) parse(b []byte, size int) error {
	n.standIn = n.standIn[:0]
	*n = note{standIn: n.standIn, raised: n.raised[:0]}
	next := func() (uint32, bool) {
		x, k := binary.Uvarint(b)
		if k <= 0 || x > 1<<16 {
			return 0, false
		}
		b = b[k:]
		return uint32(x), true
	}
	for _, c := range [...]struct{ age, more *uint32 }{{&n.substituted, &n.run}, {&n.effect, &n.system}, {&n.pushed, &n.by}} {
		var ok bool
		if *c.age, ok = next(); !ok {
			return errNote
		}
		if *c.age == 0 {
			continue
		}
		if *c.more, ok = next(); !ok {
			return errNote
		}
	}
	n.how, n.run = prediction.StandIn(n.run&(1<<howBits-1)), n.run>>howBits
	if n.hasStandIn() {
		if len(b) < size {
			return errNote
		}
		n.standIn, b = append(n.standIn, b[:size]...), b[size:]
	}
	for len(b) > 0 {
		age, ok := next()
		event, ok2 := next()
		if !ok || !ok2 || age >= noteWindow || len(n.raised) == maxRaised {
			return errNote
		}
		n.raised = append(n.raised, noteEvent{age, event})
	}
	return nil
}

// causes are the newest of what the notes of a connection said. A cause is told until
// a snapshot of its tick has arrived; what that had to put off is compared later.
type causes struct {
	substituted Tick // in which another command ran than the client's; 0: none
	run         uint32
	how         prediction.StandIn
	effect      Tick
	system      uint32
	pushed      Tick
	by          PlayerID

	counted Tick // the newest tick of a stall that was counted
}

func (d *causes) take(n *note, t Tick) {
	if n.effect != 0 {
		d.effect, d.system = t-(n.effect-1), n.system
	}
	if n.pushed != 0 {
		d.pushed, d.by = t-(n.pushed-1), PlayerID(n.by)
	}
}

// replaced takes in what a note says of the client's commands.
func (d *causes) replaced(n *note, t Tick) {
	d.substituted, d.run, d.how = t-(n.substituted-1), n.run, n.how
}

// age is how long ago t was at now, plus 1; 0 when it was never or too long ago,
// or when the client is known to have a snapshot of that tick or a later one: it
// has then been told, and agrees with the server up to there.
func age(t, now, acked Tick) uint32 {
	if t == 0 || now-t >= noteWindow || acked != 0 && int32(t-acked) <= 0 {
		return 0
	}
	return now - t + 1
}

// raise notes an event of the player's entities.
func (p *player) raise(t Tick, event int) {
	if p.state != playing {
		return // nobody is told, so nothing would ever be forgotten
	}
	p.raised = append(p.raised, raisedEvent{t, uint32(event)})
}

// raisedSince lists the oldest of the events that the client may still wait for.
func (p *player) raisedSince(now Tick) []noteEvent {
	p.told = p.told[:0]
	for _, e := range p.raised[:min(len(p.raised), maxRaised)] {
		p.told = append(p.told, noteEvent{now - e.tick, e.event})
	}
	return p.told
}

// forgetRaised drops what no note will tell any more: what is old, and what the
// client settled with a snapshot that it has.
func (p *player) forgetRaised(now Tick) {
	live := p.raised[:0]
	for _, e := range p.raised {
		if now-e.tick < noteWindow && (p.acked == 0 || int32(e.tick-p.acked) > 0) {
			live = append(live, e)
		}
	}
	p.raised = live
}

// note makes the player's note for the packet that is being built. It is written with
// the snapshot, and goes beyond the rate if that does.
func (s *Server) note(p *player) {
	p.noteBody = p.noteBody[:0]
	p.forgetRaised(s.frame.Tick)
	n := note{substituted: age(p.substituted, s.frame.Tick, p.acked), effect: age(p.effect, s.frame.Tick, p.acked)}
	n.pushed = age(p.pushed, s.frame.Tick, p.acked)
	calm := n.substituted == 0 && n.effect == 0 && n.pushed == 0
	if calm && s.p.predictRemote == nil {
		return
	}
	if n.substituted != 0 {
		n.run, n.how = min(p.substituted-p.standFrom, maxRun), p.standHow
	}
	n.system, n.by = uint32(p.effectBy), uint32(p.pushedBy)
	n.standIn, n.raised = p.standIn, p.raisedSince(s.frame.Tick)
	if calm && len(n.raised) == 0 { // else: where others are foreseen, a tick comes out otherwise without a cause here
		return
	}
	p.noteBody = n.append(p.noteBody)
}

// noteSize is the most that the player's note takes of a packet.
func (p *player) noteSize() int {
	if len(p.noteBody) == 0 {
		return 0
	}
	return 3 + len(p.noteBody)
}
