// Package settledtest has ticks and rules for the tests of those who settle ticks or read them.
package settledtest

import (
	"math/rand/v2"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
)

// Rules are those of a command of 12, 4, 1 and 7 bits.
var Rules = settled.Rules{Rate: 60, Window: 8, Size: 3, Tags: 7, Fields: []settled.Field{12, 4, 1 | settled.FieldOnce, 5 | settled.FieldOnce}}

// Places is how many places the match of Ticks has.
const Places = 10

// Ticks are three ticks of a match of ten places: two players join, one plays, one is stood in for,
// one leaves.
func Ticks() []settled.Tick {
	return []settled.Tick{
		{Tick: 41, Changes: []settled.RosterChange{{Player: 1, Joined: true, Person: 0x1122334455667788}, {Player: 10, Joined: true, Person: 9}},
			Inputs: []settled.Input{{Player: 1, Command: []byte{0x34, 0x12, 0}}, {Player: 10, Command: make([]byte, 3), StandIn: true}}},
		{Tick: 42, Inputs: []settled.Input{{Player: 1, Command: []byte{0x34, 0x12, 0}}, {Player: 10, Command: make([]byte, 3), StandIn: true}}},
		{Tick: 43, Changes: []settled.RosterChange{{Player: 1}}, Inputs: []settled.Input{{Player: 10, Command: []byte{0, 0, 0x15}}}},
	}
}

// Standing returns the standing before Ticks.
func Standing() *settled.Standing {
	s := settled.NewStanding(&Rules, Places)
	s.Tick = 40
	return s
}

// Random returns a tick that may follow a standing.
func Random(r *rand.Rand, s *settled.Standing) settled.Tick {
	t := settled.Tick{Tick: s.Tick + 1}
	for p := ecs.Owner(1); int(p) <= s.Places; p++ {
		in := s.Has(p)
		if r.IntN(20) == 0 {
			c := settled.RosterChange{Player: p, Joined: !in}
			if in = !in; in {
				c.Person = r.Uint64()
			}
			t.Changes = append(t.Changes, c)
		}
		if !in {
			continue
		}
		command := make([]byte, s.Size)
		if copy(command, s.Command(p)); r.IntN(3) == 0 {
			command[r.IntN(s.Size)] ^= 1 << r.IntN(8)
		}
		t.Inputs = append(t.Inputs, settled.Input{Player: p, Command: command, StandIn: r.IntN(5) == 0})
	}
	return t
}
