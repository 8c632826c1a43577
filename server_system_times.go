package foretick

import (
	"slices"
	"time"

	"github.com/foretick/foretick/figures"
)

// systemTimes times the systems of one server. It costs two readings of the clock a
// system and tick, and is always on.
type systemTimes struct {
	clock func() time.Duration // nil: durations stay 0
	began time.Duration
	at    []int32          // by system: its place below, or −1 for one that only clients run
	each  []figures.System // in the order of running
}

func newSystemTimes(p *compiled, clock func() time.Duration, tags []string) systemTimes {
	t := systemTimes{clock: clock}
	for _, sys := range p.schedule.Systems() {
		if sys.Render || !runsOn(sys.Tags, tags) {
			t.at = append(t.at, -1)
			continue
		}
		t.at = append(t.at, int32(len(t.each)))
		t.each = append(t.each, figures.System{Name: sys.Name})
	}
	return t
}

// runsOn reports whether a server with tags of the game's own runs a system with some.
func runsOn(tags, own []string) bool {
	for _, tag := range tags {
		if tag != TagServer && !slices.Contains(own, tag) {
			return false
		}
	}
	return true
}

func (t *systemTimes) before() {
	if t.clock != nil {
		t.began = t.clock()
	}
}

func (t *systemTimes) after(system int) {
	if t.at[system] < 0 { // in Server.Draw
		return
	}
	e := &t.each[t.at[system]]
	e.Runs++
	if t.clock != nil {
		e.Last = t.clock() - t.began
		e.Total += e.Last
		e.Max = max(e.Max, e.Last)
	}
}
