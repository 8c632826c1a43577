package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// received is what a Receiver counts of a snapshot. A snapshot that is refused is not counted.
type received struct {
	prof  *Profile // prof is nil if nothing is counted.
	mark  uint64
	comp  int // comp is the component at hand.
	parts []receivedPart
}

// receivedPart is the size of a field, or of a component's flag.
type receivedPart struct {
	comp, field int32  // field is flagSame or flagChanged for the component's flag.
	units       uint64 // units is the size in 1/256 bit.
}

const (
	flagSame    = -1
	flagChanged = -2
)

// SetProfile makes the receiver count the snapshots that it applies in a profile from the
// next Read on; nil counts none. The profile must be of the receiver's registry. The counts
// equal those of the sender's profile for the same snapshots. Snapshots that are ignored or
// refused are not counted.
func (r *Receiver) SetProfile(p *Profile) {
	r.counted.prof = p
	r.in.Count(p != nil)
}

// since returns the size read since the last call.
func (c *received) since(in *coder.Decoder) uint64 {
	now := in.Cost()
	d := now - min(now, c.mark)
	c.mark = now
	return d
}

// noteComponent notes the size of the flag that says whether a component changed.
func (c *received) noteComponent(in *coder.Decoder, comp int, changed bool) {
	field := int32(flagSame)
	if changed {
		field = flagChanged
	}
	c.parts = append(c.parts, receivedPart{int32(comp), field, c.since(in)})
}

// charged notes the size of a field.
func (r *Receiver) charged(c *quantise.Plan, k *coder.Code) {
	n := &r.counted
	n.parts = append(n.parts, receivedPart{int32(n.comp), int32(c.FieldOf(k.Word)), n.since(&r.in)})
}

// addSnapshot counts an applied snapshot of size bytes.
func (c *received) addSnapshot(size int) {
	p := c.prof
	p.total += uint64(size)
	for _, part := range c.parts {
		if part.field >= 0 {
			p.fields[part.comp][part.field] += part.units
			continue
		}
		p.shares[part.comp] += part.units
		if part.field == flagChanged {
			p.counts[part.comp]++
		}
	}
}
