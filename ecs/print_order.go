package ecs

import "fmt"

// tie is a pair of systems of a stage that touch the same component or singleton, at
// least one of them writing, and whose order no declaration determines: they run in
// the order of Add.
type tie struct {
	first, second int // first and second are the places in the stage.
	what          string
	both          bool // both is true if both systems write what they share.
}

// line returns the tie as one line.
func (t tie) line(first, second string) string {
	if t.both {
		return fmt.Sprintf("%s and %s both write %s: they run in the order of Add", first, second, t.what)
	}
	return fmt.Sprintf("%s and %s touch %s, and one writes it: they run in the order of Add", first, second, t.what)
}

// inStage returns the systems of a stage in running order, the constraints between them, and the ties, which
// only Add orders. If the constraints have errors, as they may before Build, it returns the systems alone.
func (s *Schedule[C]) inStage(name string) (in []*system[C], edges []edge, ties []tie) {
	for _, sys := range s.systems {
		if sys.stage == name {
			in = append(in, sys)
		}
	}
	edges, err := stageEdges(in, s.types, s.inOrder)
	if err != nil {
		return in, nil, nil // Build has reported it
	}
	before := reach(len(in), edges)
	for i, a := range in {
		for j := i + 1; j < len(in); j++ {
			b := in[j]
			if a.render != b.render || before[i*len(in)+j] || before[j*len(in)+i] {
				continue
			}
			if what, both := shares(a, b, s.types); what != "" {
				ties = append(ties, tie{i, j, what, both})
			}
		}
	}
	return in, edges, ties
}

// reach reports which of n systems lead to which, over any number of edges.
func reach(n int, edges []edge) []bool {
	to := make([]bool, n*n)
	for _, e := range edges {
		to[e.from*n+e.to] = true
	}
	for k := range n {
		for i := range n {
			if to[i*n+k] {
				for j := range n {
					to[i*n+j] = to[i*n+j] || to[k*n+j]
				}
			}
		}
	}
	return to
}

// shares names the component that two systems touch and one of them writes, or returns
// "".
func shares[C any](a, b *system[C], t *Types) (what string, both bool) {
	for _, by := range []struct {
		a, b *accessSets
		name func(ID) string
	}{
		{&a.sets, &b.sets, func(id ID) string { return t.slots[int(id)+1].name }},
		{&a.singles, &b.singles, func(id ID) string { return t.singles[id].name }},
	} {
		if m := and(by.a.wrote(), by.b.wrote()); m != (Mask{}) {
			return by.name(m.IDs()[0]), true
		}
		if m := and(by.a.wrote(), by.b.touched()).Or(and(by.b.wrote(), by.a.touched())); m != (Mask{}) {
			return by.name(m.IDs()[0]), false
		}
	}
	return "", false
}
