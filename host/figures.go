package host

import (
	"cmp"
	"context"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/foretick/foretick/stats"
)

const (
	mostKinds  = 32
	otherKinds = "other"
)

// roll lists the running matches, and holds the figures of matches that have ended. It is published as
// one value: a reader counts every match once, and no goroutine waits for a reader.
type roll struct {
	matches []*match
	kinds   []stats.Kind // sorted by name; Sum covers matches that have ended
}

// kindOf returns the figures of a kind in r, which it adds if it is missing and there is room.
func (r *roll) kindOf(name string) *stats.Kind {
	order := func(k stats.Kind, name string) int { return cmp.Compare(k.Name, name) }
	i, found := slices.BinarySearchFunc(r.kinds, name, order)
	if !found && len(r.kinds) >= mostKinds {
		name = otherKinds
		i, found = slices.BinarySearchFunc(r.kinds, name, order)
	}
	if !found {
		r.kinds = slices.Insert(r.kinds, i, stats.Kind{Name: name})
	}
	return &r.kinds[i]
}

// enroll notes that a match began. The host is locked.
func (h *Host) enroll(m *match) {
	k := h.ended.kindOf(m.kind)
	m.kind = k.Name
	k.Begun++
	h.call()
}

// strike notes that a match ended: its counters stay in the sums. The host is locked.
func (h *Host) strike(m *match) {
	if m.figures(&h.scratch) {
		h.ended.kindOf(m.kind).Sum.AddCounters(&h.scratch)
	}
	h.call()
}

// call publishes the roll. The host is locked.
func (h *Host) call() {
	to := h.roll.Draft()
	to.matches = to.matches[:0]
	for _, m := range h.matches {
		to.matches = append(to.matches, m)
	}
	copyKinds(&to.kinds, h.ended.kinds)
	h.roll.Publish()
	h.roll.Forget(func(old *roll) { clear(old.matches[:cap(old.matches)]) }) // servers that have ended
}

// copyKinds copies kinds into the memory of dst.
func copyKinds(dst *[]stats.Kind, from []stats.Kind) {
	for len(*dst) < len(from) {
		*dst = append(*dst, stats.Kind{})
	}
	*dst = (*dst)[:len(from)]
	for i := range from {
		to := &(*dst)[i]
		systems := to.Sum
		systems.Copy(&from[i].Sum)
		*to = from[i]
		to.Sum = systems
	}
}

// figures sets dst to the figures of a match. It reports false before the server is made.
func (m *match) figures(dst *stats.Server) bool {
	s := m.made.Load()
	if s != nil {
		(*s).Figures(dst)
	}
	return s != nil
}

// Figures sets dst to the figures of all matches by kind. Counters include those of matches that
// have ended, so they never go back. It uses the memory of dst. Any goroutine may call it. No tick
// waits for it.
func (h *Host) Figures(dst *stats.Host) {
	dst.Matches, dst.Endpoint = 0, h.counted.copyTo(dst.Endpoint)
	p := h.roll.Hold()
	if p == nil {
		dst.Kinds = dst.Kinds[:0]
		return
	}
	defer p.Release()
	copyKinds(&dst.Kinds, p.Value.kinds)
	of := roll{kinds: dst.Kinds}
	var one stats.Server
	for _, m := range p.Value.matches {
		k := of.kindOf(m.kind)
		k.Matches++
		dst.Matches++
		if m.figures(&one) {
			k.Sum.Add(&one)
		}
	}
}

// EachMatch calls fn with the figures of each match that runs, sorted by name, until fn returns
// false. one is valid until fn returns. Any goroutine may call it. No tick waits for it, however long
// fn takes.
func (h *Host) EachMatch(fn func(name, kind string, one *stats.Server) bool) {
	p := h.roll.Hold()
	if p == nil {
		return
	}
	matches := slices.Clone(p.Value.matches)
	p.Release()
	slices.SortFunc(matches, func(a, b *match) int { return cmp.Compare(a.name, b.name) })
	var one stats.Server
	for _, m := range matches {
		one.Copy(&stats.Server{})
		m.figures(&one)
		if !fn(m.name, m.kind, &one) {
			return
		}
	}
}

// Clock returns the clock with which the server of a match measures its ticks, unless
// server.Config.Clock is set. It is nil in Step's virtual time.
func (p *port) Clock() func() time.Duration {
	return p.host.clock
}

// labelled returns a context with a match's labels for profiles. With go tool pprof,
// -tagfocus=match=NAME shows one match, and -tagroot=kind divides all time by kind.
func labelled(m *match) context.Context {
	return pprof.WithLabels(context.Background(), pprof.Labels("match", m.name, "kind", m.kind))
}
