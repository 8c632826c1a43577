package snapshot

// Profile counts where the bits of snapshots go, by component and field. Give one
// to [SenderConfig].Profile, of one sender or of several that do not append at the
// same time; it belongs to one goroutine. Counting makes each record be coded a
// second time; without a Profile nothing is counted, and nothing paid.
type Profile struct {
	reg    *Registry
	fields [][]uint64 // 1/256 bit, by component and field
	shares []uint64   // of the components' own flags
	counts []uint64   // changed components
	shape  uint64     // of what precedes the components of records
	total  uint64     // bytes of whole snapshots
	mark   uint64
}

// ProfileLine is one line of a [Profile].
type ProfileLine struct {
	Component string  // "" for what belongs to no component
	Field     string  // "" for whether the component changed, and for what belongs to none
	Bytes     float64 // that it took
	Changes   uint64  // how often the component was sent with a change
}

// NewProfile returns an empty profile for the snapshots of a registry that is
// complete.
func NewProfile(r *Registry) *Profile {
	p := &Profile{reg: r, shares: make([]uint64, len(r.comps)), counts: make([]uint64, len(r.comps))}
	for _, c := range r.comps {
		p.fields = append(p.fields, make([]uint64, len(c.leaves)))
	}
	return p
}

// Lines lists what was counted: for each component its own flags and its fields,
// then, without a name, what snapshots hold besides: ticks, wire ids, component
// sets, removals, what is postponed. Together they are all bytes of all snapshots.
func (p *Profile) Lines() []ProfileLine {
	var out []ProfileLine
	rest := float64(p.total)
	add := func(comp, field string, units, changes uint64) {
		l := ProfileLine{comp, field, float64(units) / 2048, changes}
		rest -= l.Bytes
		out = append(out, l)
	}
	for i, c := range p.reg.comps {
		add(c.name, "", p.shares[i], p.counts[i])
		for f := range c.leaves {
			add(c.name, c.nameOf(f).name, p.fields[i][f], p.counts[i])
		}
	}
	return append(out, ProfileLine{Bytes: rest})
}

// Bytes is the size of all snapshots counted.
func (p *Profile) Bytes() uint64 { return p.total }

// since returns what was coded since the last call, in 1/256 bit.
func (p *Profile) since(c *coder) uint64 {
	now := uint64(c.w.Len())*256 + uint64(groupsCost(c.f.groups)) + uint64(intervalCost(c.f.width, 31))
	d := now - min(now, p.mark) // of a group that ends little may be gained
	p.mark = now
	return d
}

// profile codes a chosen record once more, counting.
func (s *Sender) profile(c *candidate) {
	p, keep, again := s.cfg.Profile, s.code, *c
	s.code = coder{tab: keep.tab, scale: keep.scale, prof: p, f: grouper{groups: s.again.f.groups}}
	s.code.f.reset()
	s.code.w.Reset(s.again.w.Bytes()[:0])
	p.mark = 0
	p.since(&s.code) // an empty group counts 1
	s.encode(&again)
	p.since(&s.code)
	s.again, s.code = s.code, keep
}
