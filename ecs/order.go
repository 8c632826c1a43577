package ecs

import (
	"errors"
	"fmt"
	"strings"
)

// edge is the reason why one system of a stage runs before another.
type edge struct {
	from, to int
	why      string // why has the names of components, or is explicit.
}

// explicit is the reason for an edge that Before or After declares.
const explicit = "explicit"

// orderStage sorts the systems of one stage.
func orderStage[C any](in []*system[C], t *Types, inOrder bool) ([]*system[C], error) {
	edges, err := stageEdges(in, t, inOrder)
	if err != nil {
		return nil, err
	}
	waits := make([]int, len(in))
	for _, e := range edges {
		waits[e.to]++
	}
	var out []*system[C]
	done := make([]bool, len(in))
	for len(out) < len(in) {
		next := -1
		for i := range in {
			if !done[i] && waits[i] == 0 {
				next = i
				break
			}
		}
		if next < 0 {
			return nil, cycleErrors(in, edges, done)
		}
		done[next] = true
		out = append(out, in[next])
		for _, e := range edges {
			if e.from == next {
				waits[e.to]--
			}
		}
	}
	return out, nil
}

// stageEdges returns the order constraints of a stage. Before and After come
// first. Unless the systems run in the declared order, the constraints implied
// by accesses follow, where Before and After do not say the opposite.
func stageEdges[C any](in []*system[C], t *Types, inOrder bool) ([]edge, error) {
	index := map[string]int{}
	for i, s := range in {
		index[s.name] = i
	}
	n := len(in)
	said := make([]bool, n*n) // said[a*n+b]: a before b, directly or through others
	var edges []edge
	var errs []error
	for i, s := range in {
		for _, name := range s.before {
			j, ok := index[name]
			if !ok {
				errs = append(errs, fmt.Errorf("system %q runs before %q, which is not in the stage", s.name, name))
				continue
			}
			edges, said[i*n+j] = append(edges, edge{i, j, explicit}), true
		}
		for _, name := range s.after {
			j, ok := index[name]
			if !ok {
				errs = append(errs, fmt.Errorf("system %q runs after %q, which is not in the stage", s.name, name))
				continue
			}
			edges, said[j*n+i] = append(edges, edge{j, i, explicit}), true
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if inOrder {
		return edges, nil
	}
	for k := range n {
		for i := range n {
			if said[i*n+k] {
				for j := range n {
					said[i*n+j] = said[i*n+j] || said[k*n+j]
				}
			}
		}
	}
	for i, a := range in {
		for j, b := range in {
			if i == j || said[j*n+i] || said[i*n+j] {
				continue
			}
			if why := implied(a, b, t); why != "" {
				edges = append(edges, edge{i, j, why})
			}
		}
	}
	return edges, nil
}

// implied returns the names of the components and singletons that make a run before b, or "".
func implied[C any](a, b *system[C], t *Types) string {
	var names []string
	for _, id := range precedes(&a.sets, &b.sets).IDs() {
		names = append(names, t.slots[int(id)+1].name)
	}
	for _, id := range precedes(&a.singles, &b.singles).IDs() {
		names = append(names, t.singles[id].name)
	}
	return strings.Join(names, ", ")
}

// precedes returns the components that a creates and b touches, and those that a writes and
// b only reads.
func precedes(a, b *accessSets) (m Mask) {
	touched, wrote, wrotes := b.touched(), a.wrote(), b.wrote()
	for i := range m {
		created := a.creates[i] & touched[i] &^ b.creates[i]
		read := touched[i] &^ (wrotes[i] | b.creates[i])
		m[i] = created | wrote[i]&^a.creates[i]&read
	}
	return m
}

func and(a, b Mask) Mask {
	for i := range a {
		a[i] &= b[i]
	}
	return a
}
