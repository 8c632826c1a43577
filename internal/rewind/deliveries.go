package rewind

import (
	"math"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// deliveries records the snapshots that a client received, and when the server learned it.
type deliveries struct {
	ring []delivery
	left snapshot.Lates // left has the entities that each snapshot in ring left out.
	late Tick           // late is the newest snapshot that had left something out.
}

type delivery struct {
	tick Tick
	at   int64 // at is when the acknowledgement came, in 1/256 tick.
}

// resetDeliveries forgets everything. The ring covers the longest rewind and the longest wait of a
// command.
func (d *deliveries) resetDeliveries(rate int) {
	if len(d.ring) == 0 {
		d.ring, d.left = make([]delivery, reach(rate)), snapshot.NewLates(reach(rate))
	}
	clear(d.ring)
	d.left.Reset()
	d.late = 0
}

// noteDelivered records a delivered snapshot.
func (d *deliveries) noteDelivered(sent *snapshot.Sent, every uint32, at int64) {
	d.putWhole(delivery{sent.Tick(), at}, every)
	if d.left.Note(d.slotOf(sent.Tick(), every), sent) {
		d.late = max(d.late, sent.Tick())
	}
}

// putWhole records the delivery of a snapshot that left nothing out.
func (d *deliveries) putWhole(e delivery, every uint32) {
	i := d.slotOf(e.tick, every)
	d.ring[i] = e
	d.left.Forget(i)
}

// mixed reports whether a view at a tick may use snapshots that had left entities out. Then
// each entity is drawn between its own pair of ticks.
func (d *deliveries) mixed(t Tick, rate int) bool {
	return d.late != 0 && int32(t-d.late) < int32(reach(rate))
}

func (d *deliveries) slotOf(t Tick, every uint32) int {
	return int(t / every % Tick(len(d.ring)))
}

// hadBy reports whether the client had the snapshot of a tick by a moment. If w is not 0,
// that snapshot must also have the state of the entity with this wire id.
func (d *deliveries) hadBy(t Tick, every uint32, by int64, w schema.WireID) bool {
	i := d.slotOf(t, every)
	e := &d.ring[i]
	return t != 0 && e.tick == t && e.at <= by && (w == 0 || !d.left.Has(i, w))
}

// deliveredAround returns the delivered ticks around t, as known by a moment: the one at or before
// t, but not before since, and the one after. If w is not 0, both held that entity. They
// are equal if there was none after t. ok is false if there was none before.
func (d *deliveries) deliveredAround(t Tick, every uint32, by int64, w schema.WireID, since Tick) (a, b Tick, ok bool) {
	if len(d.ring) == 0 {
		return 0, 0, false
	}
	first := t - t%every
	a = first
	for n := 0; !d.hadBy(a, every, by, w); n++ {
		if n == len(d.ring) || a < every || a < since {
			return 0, 0, false
		}
		a -= every
	}
	if a < since {
		return 0, 0, false
	}
	b = first + every
	for range d.ring {
		if d.hadBy(b, every, by, w) {
			return a, b, true
		}
		b += every
	}
	return a, a, true
}

// before returns the newest delivered tick before one, as known by a moment. If w is not 0,
// it held that entity. It returns 0 if there is none near. See [snapshot.Ghost.Before].
func (d *deliveries) before(t Tick, every uint32, by int64, w schema.WireID, since Tick) Tick {
	for u := t; u > every && u-every >= since && t-(u-every) <= schema.HermiteSpan; {
		if u -= every; d.hadBy(u, every, by, w) {
			return u
		}
	}
	return 0
}

// newestDelivered returns the newest delivered tick, up to one, as known by a moment, 0 if there is
// none.
func (d *deliveries) newestDelivered(t Tick, every uint32, by int64) Tick {
	t -= t % every
	for range d.ring {
		if t == 0 || d.hadBy(t, every, by, 0) {
			return t
		}
		t -= every
	}
	return 0
}

// moment returns a server time in 1/256 tick, rounded like a command's earliness.
func moment(ticks float64) int64 {
	whole := math.Floor(ticks)
	return int64(whole)*256 + int64(math.Round((ticks-whole)*256))
}
