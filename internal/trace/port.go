package trace

import (
	"slices"
	"sync"
	"sync/atomic"
)

// State is how far a trace has come.
type State uint8

// The states.
const (
	Off   State = iota // nobody looks at the trace
	Asked              // somebody looks, but this end does not record yet
	Armed              // this end records
	No                 // the trace was refused: see Port.Status
)

// String returns off, asked, armed or refused.
func (s State) String() string {
	switch s {
	case Off:
		return "off"
	case Asked:
		return "asked"
	case Armed:
		return "armed"
	}
	return "refused"
}

// Port arms the trace of one player on one end, and holds what both ends recorded. Any
// goroutine may use it.
type Port struct {
	Layout *Layout
	// Client and Server hold the records of both ends.
	Client, Server Ring

	wake   *atomic.Bool // wake is the flag that wakes the end.
	looked atomic.Bool  // looked is true if Look was called since the end last polled.

	mu       sync.Mutex
	entities []uint64 // entities are looked at, by the end's own handles. Empty means the player's own.
	stop     bool
	renamed  bool // renamed is true if entities are new.
	state    State
	why      string
}

// NewPort returns the port of an end, whose wake it sets when there is something to do.
func NewPort(l *Layout, wake *atomic.Bool) *Port { return &Port{Layout: l, wake: wake} }

// Look arms the trace, or keeps it armed. entities are handles of this end's world, at most
// [MaxEntities]; none: the player's own.
func (p *Port) Look(entities []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entities = entities[:min(len(entities), MaxEntities)]
	if !slices.Equal(entities, p.entities) {
		p.entities, p.renamed = slices.Clone(entities), true
	}
	if p.stop = false; p.state == Off || p.state == No {
		p.state, p.why = Asked, ""
	}
	p.looked.Store(true)
	p.wake.Store(true)
}

// Unlook ends the trace with the next tick.
func (p *Port) Unlook() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop = p.state != Off && p.state != No; p.stop {
		p.wake.Store(true)
	}
}

// Status returns the state, and why a trace was refused or ended.
func (p *Port) Status() (State, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.why
}

// Told is what Poll returns.
type Told struct {
	State    State
	Looked   bool // Looked is true if Look was called since the last Poll.
	Stop     bool
	Entities []uint64 // Entities must not be written to.
	Renamed  bool     // Renamed is true if Entities changed since the last Poll.
}

// Poll returns what was asked of the port since the last call.
func (p *Port) Poll() Told {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := Told{p.state, p.looked.Swap(false), p.stop, p.entities, p.renamed}
	p.stop, p.renamed = false, false
	return t
}

// Set sets the state.
func (p *Port) Set(s State, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.why = s, why
}

// Keep keeps an armed trace armed.
func (p *Port) Keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == Asked || p.state == Armed {
		p.looked.Store(true)
	}
}
