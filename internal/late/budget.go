package late

// extraTicks is how many ticks of the whole world may run again for each tick, on average over a
// second. With Late.World one late command makes the whole world run again, so a limit for each player
// does not bound the cost of all players together.
const extraTicks = 2

// budget limits what all players' late commands cost together with Late.World. A late command costs the
// ticks that run again for it alone. It costs nothing if an older late command of the same tick already
// makes them run. Each player with recent late commands has an equal share reserved, and one share
// stays free for a player who had none yet. So a player who withholds its inputs leaves room for the
// others.
type budget struct {
	costs []int   // costs has the ticks that ran again in each tick of the last second.
	at    int     // at is the place of the present tick in costs.
	sum   int     // sum is the sum of costs.
	share float64 // share is how many ticks are reserved for each player in a second.
}

func newBudget(tickRate int) budget {
	return budget{costs: make([]int, tickRate), share: float64(extraTicks * tickRate)}
}

// affords reports whether the budget allows so many ticks to run again for a player, and if so counts
// them. taken is how many ran again for the player in about the last second.
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

// next advances the budget to the next tick and computes the share again.
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
