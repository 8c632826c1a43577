package rollback

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/settled"
)

// script is a match as the relay settled it, with players that join and leave.
type script struct {
	ticks []settled.Tick
	// made has the commands that player 1 made itself. Where the relay did not have one in time, the settled one
	// is another.
	made [][]byte
}

func newScript(m *simulation, seed uint64, ticks int) *script {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &script{}
	players := map[foretick.PlayerID]*random{}
	for t := range ticks {
		st := settled.Tick{Tick: foretick.Tick(t + 1)}
		for p := foretick.PlayerID(1); p <= 4; p++ {
			switch {
			case players[p] == nil && (t < 3 && p <= 2 || rng.IntN(100) == 0):
				players[p] = &random{Rand: rng}
				st.Changes = append(st.Changes, settled.RosterChange{Player: p, Joined: true, Person: rng.Uint64()})
			case players[p] != nil && p > 1 && rng.IntN(300) == 0:
				delete(players, p)
				st.Changes = append(st.Changes, settled.RosterChange{Player: p})
			}
			if r := players[p]; r != nil {
				c := r.next()
				b := make([]byte, m.inputs.size)
				m.inputs.pack(unsafe.Pointer(&c), b)
				in := settled.Input{Player: p, Command: b}
				if p == 1 {
					s.made = append(s.made, b)
					if rng.IntN(20) == 0 {
						in.Command, in.StandIn = make([]byte, m.inputs.size), true
					}
				}
				st.Inputs = append(st.Inputs, in)
			}
		}
		s.ticks = append(s.ticks, st)
	}
	return s
}

// bytesAt returns the world at the end of a tick that the history has.
func bytesAt(t testing.TB, m *simulation, tick foretick.Tick) []byte {
	t.Helper()
	if tick != m.newest {
		m.history.Restore(m.slotOf(tick))
	}
	b, err := ecs.Engine(m.world).AppendWorld(nil)
	require.NoError(t, err)
	if tick != m.newest {
		m.history.Restore(m.slotOf(m.newest))
	}
	return b
}

// straight runs a script in order, and returns the worlds of all ticks.
func (s *script) straight(t testing.TB, g *fighters, m *simulation) (worlds [][]byte) {
	for i := range s.ticks {
		m.settle(&s.ticks[i])
		worlds = append(worlds, bytesAt(t, m, m.newest))
	}
	return worlds
}

// TestRollbackEqualsStraightRun: whatever a simulation predicted, and however late the settled ticks come, each
// settled tick has the world that it has where they come in order. Events are confirmed or cancelled, and those of
// OnFinal come once, in the same order. Restoring without ForgetFinal, or comparing the inputs of the own player
// alone, fails it.
func TestRollbackEqualsStraightRun(t *testing.T) {
	cancelled, finals, seeds := 0, 0, uint64(costtest.Count(12, 400))
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			var truth, guess fighters
			order := truth.simulation(t, 0)
			s := newScript(order, seed, 400)
			worlds := s.straight(t, &truth, order)
			m := guess.simulation(t, []int{1, 3, 8, 32}[seed%4])
			m.inputs.own.player = 1
			for i, b := range s.made {
				if i < commandsKept-1 {
					m.inputs.own.keep(s.ticks[i].Tick, b)
				}
			}
			for i := 0; i < len(s.ticks); {
				for range rng.IntN(4) {
					if i == len(s.ticks) {
						break
					}
					m.settle(&s.ticks[i])
					if !slices.Equal(worlds[i], bytesAt(t, m, s.ticks[i].Tick)) {
						t.Fatalf("tick %d differs", s.ticks[i].Tick)
					}
					i++
				}
				m.advance(m.newest + foretick.Tick(rng.IntN(6)))
			}
			require.Equal(t, truth.finals, guess.finals)
			require.Equal(t, truth.heard.confirmed, guess.heard.confirmed)
			require.Greater(t, m.counts.rollbacks, uint64(10))
			finals += len(guess.finals) // few in a match whose players hardly meet
			cancelled += guess.heard.cancelled
			open := guess.heard.predicted - guess.heard.confirmed - guess.heard.cancelled
			require.GreaterOrEqual(t, open, 0)
			for range m.window { // with nothing ahead, no event is open
				m.settle(&settled.Tick{Tick: m.settled + 1, Inputs: s.ticks[len(s.ticks)-1].Inputs})
			}
			require.Equal(t, m.settled, m.newest)
			require.Equal(t, guess.heard.predicted, guess.heard.confirmed+guess.heard.cancelled)
		})
	}
	require.Greater(t, cancelled, 10)
	require.Greater(t, finals, 10*int(seeds))
}

// TestRollbackAtTheWindowsEnd: a wrong guess of the oldest tick is undone when the whole window ran ahead of it.
// With a slot less in the history, the tick before it would be lost.
func TestRollbackAtTheWindowsEnd(t *testing.T) {
	for _, window := range []int{1, 2, 8, 32} {
		var truth, guess fighters
		order := truth.simulation(t, 0)
		s := newScript(order, 7, 200)
		worlds := s.straight(t, &truth, order)
		m := guess.simulation(t, window)
		for i := range s.ticks {
			m.advance(m.settled + 100)
			require.Equal(t, m.settled+foretick.Tick(window), m.newest)
			m.settle(&s.ticks[i])
			require.Equal(t, worlds[i], bytesAt(t, m, s.ticks[i].Tick), "window %d, tick %d", window, s.ticks[i].Tick)
		}
		require.Equal(t, uint64(window), m.counts.deepest)
	}
}

// TestSumsWaitUntilSettled: a sum is that of a tick that is settled, not of the tick as it was predicted.
func TestSumsWaitUntilSettled(t *testing.T) {
	var truth, guess fighters
	order := truth.simulation(t, 0)
	s := newScript(order, 3, 400)
	s.straight(t, &truth, order)
	m := guess.simulation(t, 8)
	for i := range s.ticks {
		m.advance(m.settled + 8)
		m.settle(&s.ticks[i])
	}
	require.Positive(t, m.counts.rollbacks)
	require.Len(t, order.sums.waiting, 6)
	require.Equal(t, order.sums.waiting, m.sums.waiting)
}

// TestAloneDoesNotGrow: a peer whose inputs are all known, as one that plays alone, keeps nothing of the past, and
// its ticks allocate nothing.
func TestAloneDoesNotGrow(t *testing.T) {
	costtest.Allocations(t)
	var g fighters
	m := g.simulation(t, 8)
	m.inputs.own.player = 1
	rng, idle := random{Rand: rand.New(rand.NewPCG(4, 4))}, make([]byte, m.inputs.size)
	s := settled.Tick{Inputs: []settled.Input{{Player: 1}}}
	c, packed := new(control), make([]byte, m.inputs.size)
	tick := func() {
		s.Tick, s.Changes = m.settled+1, s.Changes[:0]
		if s.Tick == 1 {
			s.Changes = append(s.Changes, settled.RosterChange{Player: 1, Joined: true})
		}
		*c = rng.next()
		m.inputs.pack(unsafe.Pointer(c), packed)
		m.inputs.own.keep(s.Tick+2, packed)
		if s.Inputs[0].Command = m.inputs.own.find(s.Tick); s.Inputs[0].Command == nil {
			s.Inputs[0].Command = idle
		}
		m.settle(&s)
		m.advance(m.settled + 2)
		g.finals = g.finals[:0]
		for _, ok := m.sums.next(); ok; _, ok = m.sums.next() {
		}
	}
	for range 600 {
		tick()
	}
	size := len(bytesAt(t, m, m.newest))
	require.Zero(t, testing.AllocsPerRun(600, tick))
	require.Zero(t, m.counts.rollbacks)
	require.Greater(t, g.presses(m.world, 1), 100)
	require.LessOrEqual(t, len(bytesAt(t, m, m.newest)), 2*size)
	for _, q := range m.frames.Queues {
		require.LessOrEqual(t, q.WaitingEvents(), 8)
	}
}
