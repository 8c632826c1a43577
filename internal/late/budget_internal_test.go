package late

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/probe"
)

// Players that withhold inputs, each as much as its budget allows, make no second run more than two
// ticks of the world again for each of its ticks, whichever of them asks first. The late inputs of an
// honest player with a bad network are still accepted.
func TestBudgetIsSharedFairly(t *testing.T) {
	const rate, deep = 30, 6
	for _, thieves := range []int{0, 1, 5} {
		asked, given, refused := 0, 0, 0
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 1))
			b := newBudget(rate)
			var players []*Player
			for range 16 {
				players = append(players, &Player{entered: true})
			}
			honest := players[15]
			var costs []int
			for tick := range 60 * rate {
				from := 0 // how many ticks run again in this one
				ask := func(p *Player, ticks int) bool {
					if !b.affords(ticks-from, &p.taken) {
						return false
					}
					from = max(from, ticks)
					return true
				}
				for _, n := range rng.Perm(16) {
					switch {
					case n < thieves && (tick+n)%probe.LateShare == 0:
						if !ask(players[n], deep) {
							refused++
						}
					case n == 15 && rng.IntN(60) == 0: // commands that the network held back arrive together
						for ticks := 1 + rng.IntN(5); ticks > 0; ticks-- {
							asked++
							if ask(honest, ticks) {
								given++
							}
						}
					}
				}
				costs = append(costs, from)
				b.next(players)
				sum := 0
				for _, c := range costs[max(0, len(costs)-rate):] {
					sum += c
				}
				require.LessOrEqual(t, sum, extraTicks*rate)
			}
		}
		t.Logf("%d withhold: %d of %d late inputs of the honest player ran; %d of theirs were refused", thieves, given, asked, refused)
		require.Greater(t, asked, 1000)
		require.GreaterOrEqual(t, float64(given), 0.95*float64(asked), "%d thieves", thieves)
		if thieves >= 5 {
			require.Greater(t, refused, 1000, "or this test shows nothing")
		}
	}
}
