package late

// extraTicks is how many ticks of the world may run again in a tick, on average over a
// second: with LateWorld one late command runs them all again, so what players may have of
// their own does not bound what they cost together.
const extraTicks = 2

// budget is what all players' late commands may cost together with LateWorld. A late
// command costs the ticks that run again for it alone: none, if an older one of the same tick
// makes them run. Each player with late commands is sure of an equal share, and so is one
// more who has none yet: so who withholds inputs leaves room for the others.
type budget struct {
	costs []int   // costs has the ticks that ran again in each tick of the last second.
	at    int     // at is the place of the present tick in costs.
	sum   int     // sum is the sum of costs.
	share float64 // share is what each player is sure of in a second.
}

func newBudget(tickRate int) budget {
	return budget{costs: make([]int, tickRate), share: float64(extraTicks * tickRate)}
}

// affords reports whether ticks may run again for a player, and counts them. taken is what the
// player took in about the last second.
func (b *budget) affords(ticks int, taken *float64) bool {
	if ticks <= 0 {
		return true
	}
	most := float64(extraTicks * len(b.costs))
	if *taken+float64(ticks) > b.share {
		most -= b.share
	}
	if float64(b.sum+ticks) > most {
		return false
	}
	b.costs[b.at] += ticks
	b.sum += ticks
	*taken += float64(ticks)
	return true
}

// next begins the next tick.
func (b *budget) next(players []*Player) {
	b.at = (b.at + 1) % len(b.costs)
	b.sum -= b.costs[b.at]
	b.costs[b.at] = 0
	n := 1
	for _, p := range players {
		if p.entered {
			if p.taken -= p.taken / float64(len(b.costs)); p.taken >= 1 {
				n++
			}
		}
	}
	b.share = float64(extraTicks*len(b.costs)) / float64(n)
}
