package ecs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxCycles    = 32      // that an error lists
	maxCycleWork = 100_000 // steps of the search from one system: cycles can be as many as 2ⁿ
)

// cycles searches for the cycles among the systems of one stage, each once: from its
// first system on, in order of Add.
type cycles struct {
	out   [][]edge // by system: the edges that lead to others that wait
	start int
	path  []edge
	on    []bool // the path
	home  []bool // those from which a way leads back to the start
	found [][]edge
	work  int
	cut   bool // there may be more
}

// cycleErrors names each cycle among the systems that wait for one another, with why
// each of its systems precedes the next.
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
		errs = append(errs, errors.New("there are more cycles: these first"))
	}
	return errors.Join(errs...)
}

// findHome finds the systems behind the start from which a way leads back to it. What
// comes before the start has had its turn.
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

// from goes on from a system of the path.
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

// split is the errors that are joined in one.
func split(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}
