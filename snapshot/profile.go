package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// Profile counts the bits of snapshots by component and field. Set it in
// [SenderConfig].Profile of one sender, or of several that do not append at the same
// time. Then each record is coded a second time. Or set it with [Receiver.SetProfile]:
// then it counts while values are read. It belongs to one goroutine. Without a Profile
// nothing is counted.
type Profile struct {
	schemas *schema.Registry
	fields  [][]uint64 // fields has the size of each field in 1/256 bit, by component.
	shares  []uint64   // shares has the size of each component's own flag in 1/256 bit.
	counts  []uint64   // counts has the number of changes of each component.
	shape   uint64     // shape is the size of what precedes the components of records, in 1/256 bit.
	total   uint64     // total is the size of whole snapshots in bytes.
	mark    uint64
}

// ProfileLine is one line of a [Profile].
type ProfileLine struct {
	Component string  // name of the component; "" for bytes that belong to no component
	Field     string  // name of the field; "" for the flag whether the component changed, and for bytes that belong to no component
	Bytes     float64 // bytes that this part took
	Changes   uint64  // how often the component was sent with a change
}

// NewProfile returns an empty profile for the snapshots of a registry. The registry
// must be complete.
func NewProfile(r *schema.Registry) *Profile {
	p := &Profile{schemas: r, shares: make([]uint64, len(r.Plan().Comps)), counts: make([]uint64, len(r.Plan().Comps))}
	for _, c := range r.Plan().Comps {
		p.fields = append(p.fields, make([]uint64, len(c.Leaves)))
	}
	return p
}

// Lines returns the counts. Each component has a line for its flags and one for each
// field. A last line without names holds the rest: ticks, wire ids, component sets, removals and
// postponed entities. Together they are all bytes of all snapshots.
func (p *Profile) Lines() []ProfileLine {
	var out []ProfileLine
	rest := float64(p.total)
	add := func(comp, field string, units, changes uint64) {
		l := ProfileLine{comp, field, float64(units) / 2048, changes}
		rest -= l.Bytes
		out = append(out, l)
	}
	for i, c := range p.schemas.Schemas {
		add(c.Name(), "", p.shares[i], p.counts[i])
		for f := range c.Plan().Leaves {
			add(c.Name(), c.Field(f).Name, p.fields[i][f], p.counts[i])
		}
	}
	return append(out, ProfileLine{Bytes: rest})
}

// Sums appends the bytes of each line of [Profile.Lines], in the same order.
func (p *Profile) Sums(dst []float64) []float64 {
	rest := float64(p.total)
	for i := range p.fields {
		dst = append(dst, float64(p.shares[i])/2048)
		rest -= dst[len(dst)-1]
		for _, units := range p.fields[i] {
			dst = append(dst, float64(units)/2048)
			rest -= dst[len(dst)-1]
		}
	}
	return append(dst, rest)
}

// Bytes returns the size of all snapshots counted.
func (p *Profile) Bytes() uint64 { return p.total }

// since returns the size coded since the last call, in 1/256 bit.
func (p *Profile) since(c *coder.Encoder) uint64 {
	now := c.Cost()
	d := now - min(now, p.mark) // the cost may fall a little when a group ends
	p.mark = now
	return d
}

// profile codes a chosen record once more, counting.
func (s *Sender) profile(c *candidate) {
	p, keep, again := s.cfg.Profile, s.code, *c
	s.prof = p
	s.code = coder.Encoder{Tables: keep.Tables, Scales: keep.Scales, Flags: coder.Grouper{Groups: s.again.Flags.Groups}}
	s.code.Flags.Reset()
	s.code.Bits.Reset(s.again.Bits.Bytes()[:0])
	p.mark = 0
	p.since(&s.code) // leave out the cost of an empty group
	s.encode(&again)
	p.since(&s.code)
	s.again, s.code, s.prof = s.code, keep, nil
}
