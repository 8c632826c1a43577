package ecs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxCycles    = 32      // listed in an error
	maxCycleWork = 100_000 // steps of the search from one system: there can be 2ⁿ cycles
)

// cycles searches for the cycles among the systems of one stage. It reports
// each cycle once, starting at its first system in order of Add.
type cycles struct {
	out   [][]edge // by system: the edges to other waiting systems
	start int
	path  []edge
	on    []bool // is on the path
	home  []bool // can reach the start
	found [][]edge
	work  int
	cut   bool // there may be more
}

// cycleErrors names each cycle among the waiting systems, with the reason for
// each step.
func cycleErrors[C any](in []*system[C], edges []edge, done []bool) error {
	c := cycles{out: make([][]edge, len(in)), on: make([]bool, len(in))}
	for _, e := range edges {
		if !done[e.from] && !done[e.to] && !slices.ContainsFunc(c.out[e.from], func(o edge) bool { return o.to == e.to }) {
			c.out[e.from] = append(c.out[e.from], e)
		}
	}
	for c.start = range in {
		c.work = 0
		c.findHome(len(in))
		c.from(c.start)
	}
	slices.SortStableFunc(c.found, func(a, b []edge) int { return len(a) - len(b) })
	var errs []error
	for _, path := range c.found {
		var b strings.Builder
		for _, e := range path {
			fmt.Fprintf(&b, "%s →(%s) ", in[e.from].name, e.why)
		}
		errs = append(errs, fmt.Errorf("cycle: %s%s: say which comes first with Before or After", b.String(), in[path[0].from].name))
	}
	if c.cut {
		errs = append(errs, errors.New("there are more cycles; fix these first"))
	}
	return errors.Join(errs...)
}

// findHome finds the systems after the start that can reach it. Systems before
// the start are done.
func (c *cycles) findHome(n int) {
	c.home = make([]bool, n)
	for again := true; again; {
		again = false
		for from := c.start + 1; from < n; from++ {
			if !c.home[from] && slices.ContainsFunc(c.out[from], func(e edge) bool { return e.to == c.start || c.home[e.to] }) {
				c.home[from], again = true, true
			}
		}
	}
}

// from continues the path from a system.
func (c *cycles) from(at int) {
	c.on[at] = true
	defer func() { c.on[at] = false }()
	for _, e := range c.out[at] {
		if c.work++; c.work > maxCycleWork || len(c.found) == maxCycles {
			c.cut = c.cut || c.home[e.to] || e.to == c.start
			return
		}
		switch {
		case e.to == c.start:
			c.found = append(c.found, append(slices.Clone(c.path), e))
		case c.home[e.to] && !c.on[e.to]:
			c.path = append(c.path, e)
			c.from(e.to)
			c.path = c.path[:len(c.path)-1]
		}
	}
}

// split returns the errors joined in err.
func split(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}
