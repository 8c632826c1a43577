package foretick

import (
	"slices"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// receivedBytes counts the bytes of snapshots by component and field, while an inspector
// asks for it. A server of another build may have components that this build does not know:
// their bytes are with those of no component.
type receivedBytes struct {
	own     *schema.Registry  // of this build: its lines are counted
	spoken  *schema.Registry  // of the profile
	profile *snapshot.Profile // nil: nothing is counted
	to      []int             // by line of the profile, the line of this build
	before  []float64         // of protocols that were spoken before
	now     []float64         // scratch
}

// start begins to count, or ends it.
func (b *receivedBytes) start(on bool, own *schema.Registry, r *snapshot.Receiver) {
	*b = receivedBytes{}
	if !on {
		r.SetProfile(nil)
		return
	}
	b.own = own
	b.before = make([]float64, len(snapshot.NewProfile(own).Lines()))
	b.follow(r)
}

// follow counts what a new receiver reads.
func (b *receivedBytes) follow(r *snapshot.Receiver) {
	if b.own == nil {
		return
	}
	if spoken := r.Registry(); spoken != b.spoken {
		b.before = b.sums(b.before[:0:0])
		b.spoken, b.profile = spoken, snapshot.NewProfile(spoken)
		b.to = linesOf(b.own, b.profile)
	}
	r.SetProfile(b.profile)
}

// linesOf finds the lines of a build for those of a profile.
func linesOf(own *schema.Registry, p *snapshot.Profile) []int {
	lines := snapshot.NewProfile(own).Lines()
	var to []int
	for _, l := range p.Lines() {
		i := slices.IndexFunc(lines, func(x snapshot.ProfileLine) bool { return x.Component == l.Component && x.Field == l.Field })
		if i < 0 {
			i = len(lines) - 1
		}
		to = append(to, i)
	}
	return to
}

// sums appends the bytes of each line of this build.
func (b *receivedBytes) sums(dst []float64) []float64 {
	from := len(dst)
	dst = append(dst, b.before...)
	if b.profile == nil {
		return dst
	}
	b.now = b.profile.Sums(b.now[:0])
	for i, n := range b.now {
		dst[from+b.to[i]] += n
	}
	return dst
}

func (in clientInternals) CountBytes(on bool) {
	c := in.c
	c.ghosts.bytes.start(on, c.cfg.Protocol.compiled.Registry, c.ghosts.receiver)
}

func (in clientInternals) Counted(dst [][2]string) [][2]string {
	return countedLines(in.c.cfg.Protocol.compiled.Registry, dst)
}

func (in clientInternals) CountedBytes(dst []float64) []float64 { return in.c.ghosts.bytes.sums(dst) }

// countedLines appends the components and fields of which bytes are counted.
func countedLines(r *schema.Registry, dst [][2]string) [][2]string {
	for _, l := range snapshot.NewProfile(r).Lines() {
		dst = append(dst, [2]string{l.Component, l.Field})
	}
	return dst
}
