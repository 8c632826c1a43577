package ecs

import (
	"errors"
	"fmt"
)

// edge is the reason why one system of a stage runs before another.
type edge struct {
	from, to int
	why      string // a component's name, or "explicit"
}

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
			edges, said[i*n+j] = append(edges, edge{i, j, "explicit"}), true
		}
		for _, name := range s.after {
			j, ok := index[name]
			if !ok {
				errs = append(errs, fmt.Errorf("system %q runs after %q, which is not in the stage", s.name, name))
				continue
			}
			edges, said[j*n+i] = append(edges, edge{j, i, "explicit"}), true
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

// implied returns the name of the component that makes a run before b, or "".
func implied[C any](a, b *system[C], t *Types) string {
	if id, ok := precedes(&a.sets, &b.sets); ok {
		return t.slots[int(id)+1].name
	}
	if id, ok := precedes(&a.singles, &b.singles); ok {
		return t.singles[id].name
	}
	return ""
}

// precedes finds a component that a creates and b touches, or that a writes and
// b only reads.
func precedes(a, b *accessSets) (ID, bool) {
	later := b.touched()
	for i := range later {
		later[i] &^= b.creates[i]
	}
	if m := and(a.creates, later); m != (Mask{}) {
		return m.IDs()[0], true
	}
	wrote := a.wrote()
	only := b.touched()
	for i := range only {
		wrote[i] &^= a.creates[i]
		only[i] &^= b.wrote()[i] | b.creates[i]
	}
	if m := and(wrote, only); m != (Mask{}) {
		return m.IDs()[0], true
	}
	return 0, false
}

func and(a, b Mask) Mask {
	for i := range a {
		a[i] &= b[i]
	}
	return a
}
