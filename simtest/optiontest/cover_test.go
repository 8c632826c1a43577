package optiontest

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// pair is two options, in the order of their names.
type pair [2]string

func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// options lists all options in order.
func options() []string { return slices.Sorted(maps.Keys(catalogue)) }

// add turns an option on, and the options that it needs.
func (s set) add(name string) {
	if s[name] || catalogue[name].always {
		return
	}
	s[name] = true
	for _, need := range catalogue[name].needs {
		s.add(need)
	}
}

// setOf returns the set with these options and those that they need. LateShare gets Late.World if
// Late cannot be combined with the others.
func setOf(names ...string) set {
	s := set{}
	for _, name := range names {
		s.add(name)
	}
	if s["server.Config.Late.Share"] && !s.late() {
		if s["server.Config.Late.Window"] = true; !s.fits() {
			delete(s, "server.Config.Late.Window")
			s["server.Config.Late.World"] = true
		}
	}
	return s
}

// all lists all options of a match with the set, in order.
func (s set) all() (names []string) {
	for _, name := range options() {
		if s.has(name) {
			names = append(names, name)
		}
	}
	return names
}

// drawn lists the options of the set without those that every match has.
func (s set) drawn() []string { return slices.Sorted(maps.Keys(s)) }

// fits reports whether no table refuses two options of the set.
func (s set) fits() bool {
	for p := range refusals {
		if s[p[0]] && s[p[1]] {
			return false
		}
	}
	return !s["server.Config.Late.Window"] || !s["server.Config.Late.World"]
}

// world is a pair whose second option includes the first.
var world = pair{"server.Config.Late.Window", "server.Config.Late.World"}

// meetings splits all pairs into those that can be played and those that are refused: a pair that
// a table has, or that needs such a pair.
func meetings() (open map[pair]bool, refused []pair) {
	open = map[pair]bool{}
	names := options()
	for i, a := range names {
		for _, b := range names[i+1:] {
			p := pairOf(a, b)
			switch _, listed := refusals[p]; {
			case p == world:
			case listed || !setOf(a, b).fits():
				refused = append(refused, p)
			default:
				open[p] = true
			}
		}
	}
	return open, refused
}

// cover returns sets such that each pair that is not refused is in one of them.
func cover(seed uint64, most int) (sets []set) {
	r := rand.New(rand.NewPCG(seed, 35))
	names := options()
	open, _ := meetings()
	for len(open) > 0 {
		first := slices.MinFunc(slices.Collect(maps.Keys(open)), func(a, b pair) int { return slices.Compare(a[:], b[:]) })
		s := setOf(first[0], first[1])
		for _, k := range r.Perm(len(names)) {
			if len(s) >= most {
				break
			}
			more := setOf(append(s.all(), names[k])...)
			if more.fits() && gains(open, s, names[k]) {
				s = more
			}
		}
		all := s.all()
		for i, a := range all {
			for _, b := range all[i+1:] {
				delete(open, pairOf(a, b))
			}
		}
		sets = append(sets, s)
	}
	return sets
}

// gains reports whether adding an option to the set gives a pair that is still open.
func gains(open map[pair]bool, s set, name string) bool {
	for _, other := range s.all() {
		if open[pairOf(name, other)] {
			return true
		}
	}
	return false
}
