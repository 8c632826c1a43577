package cause

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/prediction"
)

const (
	// Window is the number of ticks for which a cause is repeated, and for which an event may be in notes. It
	// is longer than any client can go without a snapshot and still compare.
	Window = 250
	// MaxRaised is the most events of a note.
	MaxRaised = 64
	// MaxRun is the longest run of ticks without the client's own command that a note can hold.
	MaxRun = 1<<12 - 1

	howBits       = 3       // bits of the cause of a stand-in
	earlierBit    = 1 << 15 // set in run and cause if an earlier run follows
	standInWindow = 16      // ticks for which a stand-in is sent
)

// ErrNote is returned for a note that is malformed.
var ErrNote = errors.New("foretick: malformed note")

// Note travels with a snapshot and says what may be wrong with the prediction that the snapshot will be
// compared with. It is left out when there is nothing to say.
type Note struct {
	// Substituted is 1 plus the ticks since a tick ran without the client's own command. 0 means that none did.
	Substituted uint32
	// Run is how many ticks in a row before that one ran without the client's own command, too.
	Run     uint32
	How     prediction.StandIn
	Earlier EarlierRun
	// Effect is 1 plus the ticks since a server system wrote predicted state. 0 means that none did.
	Effect uint32
	// System is the number of the cause of Effect: a system's index plus 1. 0 means that no system did it.
	System uint32
	// Pushed is 1 plus the ticks since another player's run of a shared system wrote predicted state. 0 means
	// that none did.
	Pushed    uint32
	By        uint32 // By is the other player of Pushed. 0 means that it is not known.
	Concealed Concealed
	// StandIn is the packed command that the server ran in place of the client's. It is sent for 16 ticks.
	StandIn []byte
	Raised  []Raised
}

// Concealed says in which ticks entities were hidden from the player that shared systems may read on the
// server. 0 means that there is nothing to say. 2n−1 means all ticks since the one n−1 ticks before the
// snapshot's. 2n means that the tick n−1 ticks before the snapshot's was the last one.
type Concealed uint32

// concealedSince and concealedUntil return what a note says of a tick that is so many ticks ago.
func concealedSince(ticks uint32) Concealed { return Concealed(2*min(ticks, Window-1) + 1) }
func concealedUntil(ticks uint32) Concealed { return Concealed(2*ticks + 2) }

// split returns how long ago the tick is, and whether entities still are hidden.
func (c Concealed) split() (ticks uint32, still bool) { return uint32(c-1) / 2, c%2 == 1 }

// EarlierRun is a run of ticks without the client's own command, which ended before the
// newest run began. Without it a newest run that equals the client's own commands would
// hide the run that changed something. Several such runs are sent as one.
type EarlierRun struct {
	// Gap is the ticks from its last tick to the first of the newest run. 0 means that there is no earlier run.
	Gap uint32
	Run uint32 // Run is how many ticks the run has before its last one.
	How prediction.StandIn
}

// Raised is an event that an entity of the player's raised on the server.
type Raised struct {
	Age   uint32 // Age is how many ticks before the snapshot's the event was raised.
	Event uint32 // Event is the index of the event.
}

// Append appends the note as it travels to dst.
func (n *Note) Append(dst []byte) []byte {
	run := n.Run<<howBits | uint32(n.How)
	if n.Earlier.Gap != 0 {
		run |= earlierBit
	}
	for i, c := range [...]struct{ age, more uint32 }{{n.Substituted, run}, {n.Effect, n.System}, {n.Pushed, n.By}} {
		dst = binary.AppendUvarint(dst, uint64(c.age))
		if c.age != 0 {
			dst = binary.AppendUvarint(dst, uint64(c.more))
			if i == 0 && n.Earlier.Gap != 0 {
				dst = binary.AppendUvarint(dst, uint64(n.Earlier.Gap))
				dst = binary.AppendUvarint(dst, uint64(n.Earlier.Run<<howBits|uint32(n.Earlier.How)))
			}
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n.Concealed))
	if n.HasStandIn() {
		dst = append(dst, n.StandIn...)
	}
	for _, e := range n.Raised {
		dst = binary.AppendUvarint(dst, uint64(e.Age))
		dst = binary.AppendUvarint(dst, uint64(e.Event))
	}
	return dst
}

// earlier returns the last tick of the earlier run, by the note of the snapshot of t.
func (n *Note) earlier(t Tick) Tick { return t - (n.Substituted - 1) - n.Run - n.Earlier.Gap }

// EarlierTick returns the last tick of the earlier run, by the note of the snapshot of t. ok is false if the
// note has no earlier run.
func (n *Note) EarlierTick(t Tick) (last Tick, ok bool) { return n.earlier(t), n.Earlier.Gap != 0 }

func splitRun(x uint32) (prediction.StandIn, uint32) {
	return prediction.StandIn(x & (1<<howBits - 1)), x >> howBits
}

// HasStandIn reports whether the note holds the command that a tick ran with.
func (n *Note) HasStandIn() bool { return n.Substituted != 0 && n.Substituted-1 < standInWindow }

// Parse reads what Append wrote, into n's memory. size is that of a packed command.
// The error is [ErrNote].
func (n *Note) Parse(b []byte, size int) error {
	*n = Note{StandIn: n.StandIn[:0], Raised: n.Raised[:0]}
	next := func() (uint32, bool) {
		x, k := binary.Uvarint(b)
		if k <= 0 || x > 1<<16 {
			return 0, false
		}
		b = b[k:]
		return uint32(x), true
	}
	for i, c := range [...]struct{ age, more *uint32 }{{&n.Substituted, &n.Run}, {&n.Effect, &n.System}, {&n.Pushed, &n.By}} {
		var ok bool
		if *c.age, ok = next(); !ok {
			return ErrNote
		}
		if *c.age == 0 {
			continue
		}
		if *c.more, ok = next(); !ok {
			return ErrNote
		}
		if i == 0 && n.Run&earlierBit != 0 {
			gap, ok := next()
			run, ok2 := next()
			if !ok || !ok2 || gap == 0 || run&^(earlierBit-1) != 0 {
				return ErrNote
			}
			n.Earlier.Gap = gap
			n.Earlier.How, n.Earlier.Run = splitRun(run)
		}
	}
	n.How, n.Run = splitRun(n.Run &^ earlierBit)
	concealed, ok := next()
	if !ok || concealed > 2*Window {
		return ErrNote
	}
	n.Concealed = Concealed(concealed)
	if n.HasStandIn() {
		if len(b) < size {
			return ErrNote
		}
		n.StandIn, b = append(n.StandIn, b[:size]...), b[size:]
	}
	for len(b) > 0 {
		age, ok := next()
		event, ok2 := next()
		if !ok || !ok2 || age >= Window || len(n.Raised) == MaxRaised {
			return ErrNote
		}
		n.Raised = append(n.Raised, Raised{age, event})
	}
	return nil
}
