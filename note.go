package foretick

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/netcode"
)

// note travels beside a snapshot and says what may have spoilt the prediction
// that it will be compared with. It is left out when there is nothing to say.
type note struct {
	substituted uint32 // ticks since a tick ran without the client's own command, plus 1; 0 none
	effect      uint32 // ticks since a server system wrote predicted state, plus 1; 0 none
	system      uint32 // that system's index plus 1, 0 for what no system did
	raised      []noteEvent
}

// noteEvent is an event that an entity of the player's raised on the server, as
// against what the client predicted.
type noteEvent struct {
	age   uint32 // ticks before the snapshot's
	event uint32 // its index
}

// raisedWindow is for how many ticks after a cause the events are told: as long
// as a correction may concern them.
const raisedWindow = 16

// maxRaised bounds the events of a note.
const maxRaised = 64

// noteWindow is for how many ticks a cause is repeated: longer than any client
// can go without a snapshot and still compare.
const noteWindow = 250

var errNote = errors.New("foretick: malformed note")

func (n note) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(n.substituted))
	dst = binary.AppendUvarint(dst, uint64(n.effect))
	if n.effect != 0 {
		dst = binary.AppendUvarint(dst, uint64(n.system))
	}
	for _, e := range n.raised {
		dst = binary.AppendUvarint(dst, uint64(e.age))
		dst = binary.AppendUvarint(dst, uint64(e.event))
	}
	return dst
}

// parse reads what append wrote, into n's memory.
func (n *note) parse(b []byte) error {
	n.substituted, n.effect, n.system, n.raised = 0, 0, 0, n.raised[:0]
	next := func() (uint32, bool) {
		x, k := binary.Uvarint(b)
		if k <= 0 || x > 1<<16 {
			return 0, false
		}
		b = b[k:]
		return uint32(x), true
	}
	for i, v := range []*uint32{&n.substituted, &n.effect, &n.system} {
		if i == 2 && n.effect == 0 {
			break
		}
		x, ok := next()
		if !ok {
			return errNote
		}
		*v = x
	}
	for len(b) > 0 {
		age, ok := next()
		event, ok2 := next()
		if !ok || !ok2 || age > raisedWindow || len(n.raised) == maxRaised {
			return errNote
		}
		n.raised = append(n.raised, noteEvent{age, event})
	}
	return nil
}

// age is how long ago t was at now, plus 1; 0 when it was never or too long ago.
func age(t, now Tick) uint32 {
	if t == 0 || now-t >= noteWindow {
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

// raisedSince lists the events of the last ticks and forgets the older.
func (p *player) raisedSince(now Tick) []noteEvent {
	p.told = p.told[:0]
	for _, e := range p.raised {
		if len(p.told) < maxRaised && now-e.tick <= raisedWindow {
			p.told = append(p.told, noteEvent{now - e.tick, e.event})
		}
	}
	return p.told
}

// forgetRaised drops what no note will tell any more.
func (p *player) forgetRaised(now Tick) {
	live := p.raised[:0]
	for _, e := range p.raised {
		if now-e.tick <= raisedWindow {
			live = append(live, e)
		}
	}
	p.raised = live
}

// note writes the player's note into a packet.
func (s *Server) note(p *player, pk *netcode.Packet) {
	p.forgetRaised(s.frame.Tick)
	n := note{substituted: age(p.substituted, s.frame.Tick), effect: age(p.effect, s.frame.Tick)}
	if n.substituted == 0 && n.effect == 0 {
		return
	}
	n.system = uint32(p.effectBy)
	if n.substituted-1 < raisedWindow || n.effect-1 < raisedWindow {
		n.raised = p.raisedSince(s.frame.Tick)
	}
	s.scratch = n.append(s.scratch[:0])
	pk.Message(messageNote, s.scratch)
}
