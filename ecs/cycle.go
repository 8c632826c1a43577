package ecs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxCycles    = 1000    // most cycles that are counted in one group of systems
	maxCycleWork = 100_000 // steps of the count from one system: there can be 2ⁿ cycles
)

// cycles searches for the cycles among the systems of one stage.
type cycles struct {
	out   [][]edge // out has, for each system, an edge to each waiting system that it must precede.
	group []int    // group has, for each system, the first of the systems that it forms cycles with, or −1.

	// The fields below are the state of a count: see countFrom.
	start int
	on    []bool // on has the systems on the path.
	count int
	work  int
	cut   bool // cut is true if the count stopped early, so that there may be more cycles.
}

// cycleErrors returns an error for each group of waiting systems that form cycles. It has
// the group's shortest cycle, with the reasons for each step, and how many more there are:
// most of them are the same fault seen from another system.
func cycleErrors[C any](in []*system[C], edges []edge, done []bool) error {
	c := cycles{out: make([][]edge, len(in)), on: make([]bool, len(in))}
	for _, e := range edges {
		if !done[e.from] && !done[e.to] && !slices.ContainsFunc(c.out[e.from], func(o edge) bool { return o.to == e.to }) {
			c.out[e.from] = append(c.out[e.from], e)
		}
	}
	c.findGroups()
	var errs []error
	for first := range in {
		if c.group[first] != first {
			continue
		}
		var b strings.Builder
		path := c.shortest(first)
		for _, e := range path {
			fmt.Fprintf(&b, "%s →(%s) ", in[e.from].name, e.why)
		}
		errs = append(errs, fmt.Errorf("cycle: %s%s%s: %s", b.String(), in[path[0].from].name, c.moreCycles(first), cycleFix(in, path)))
	}
	return errors.Join(errs...)
}

// cycleFix names the ways out of a cycle.
func cycleFix[C any](in []*system[C], path []edge) string {
	if i := slices.IndexFunc(path, func(e edge) bool { return e.why != explicit }); i >= 0 {
		return fmt.Sprintf("say which comes first, as by ecs.After(%q) on %q, or call InOrder to run the systems in the order that they are declared", in[path[i].to].name, in[path[i].from].name)
	}
	return "take away one Before or After"
}

// findGroups finds the systems that reach one another.
func (c *cycles) findGroups() {
	n := len(c.out)
	reach := make([]bool, n*n)
	for from, out := range c.out {
		for _, e := range out {
			reach[from*n+e.to] = true
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i*n+j] = reach[i*n+j] || reach[i*n+k] && reach[k*n+j]
			}
		}
	}
	c.group = make([]int, n)
	for i := range n {
		c.group[i] = -1
		for j := range i + 1 {
			if reach[i*n+j] && reach[j*n+i] {
				c.group[i] = j
				break
			}
		}
	}
}

// shortest returns the shortest cycle of a group. Among several, it is the one whose first
// system was added first.
func (c *cycles) shortest(group int) (best []edge) {
	for start := range c.out {
		if c.group[start] != group {
			continue
		}
		paths := [][]edge{nil}
		seen := make([]bool, len(c.out))
		for len(paths) > 0 && (best == nil || len(paths[0])+1 < len(best)) {
			path, at := paths[0], start
			if paths = paths[1:]; len(path) > 0 {
				at = path[len(path)-1].to
			}
			for _, e := range c.out[at] {
				if e.to == start && (best == nil || len(path)+1 < len(best)) {
					best = append(slices.Clone(path), e)
				}
				if c.group[e.to] == group && !seen[e.to] {
					seen[e.to] = true
					paths = append(paths, append(slices.Clone(path), e))
				}
			}
		}
	}
	return best
}

// moreCycles says how many cycles a group has besides the one that is printed.
func (c *cycles) moreCycles(group int) string {
	c.count, c.cut = 0, false
	for c.start = range c.out {
		if c.group[c.start] == group {
			c.work = 0
			c.countFrom(c.start, group)
		}
	}
	switch n := c.count - 1; {
	case c.cut:
		return fmt.Sprintf(" (and more than %d more cycles among these and other systems)", max(n, 1))
	case n == 1:
		return " (and 1 more cycle among these and other systems)"
	case n > 1:
		return fmt.Sprintf(" (and %d more cycles among these and other systems)", n)
	}
	return ""
}

// countFrom counts the cycles through the start whose path has reached the system at. The cycles through
// systems before the start are counted already.
func (c *cycles) countFrom(at, group int) {
	c.on[at] = true
	defer func() { c.on[at] = false }()
	for _, e := range c.out[at] {
		if c.work++; c.work > maxCycleWork || c.count > maxCycles {
			c.cut = true
			return
		}
		switch {
		case e.to == c.start:
			c.count++
		case e.to > c.start && c.group[e.to] == group && !c.on[e.to]:
			c.countFrom(e.to, group)
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
