package rollback

import (
	"math"

	"github.com/foretick/foretick"
)

// delay is the input delay: how many ticks the world is behind the newest command. Commands are made at a steady
// pace, whatever the delay. It only decides when the world reaches their tick, so none is left out. It changes by a
// tick at a time. Growing by one holds the world for a tick, so it grows once in 8 ticks at most.
type delay struct {
	hand   int     // hand is the delay that the game chose. 0 means that it is measured.
	above  float64 // above is how many ticks the world may be ahead of settled ticks before input is delayed.
	window float64
	rate   int

	ticks   int     // ticks is the delay now.
	mean    float64 // mean is how many ticks the commands are ahead of the settled ticks when these arrive, on average.
	worst   float64 // worst is the most that it was lately.
	known   bool
	changed foretick.Tick // changed is the command's tick at which ticks last changed.
	low     foretick.Tick // low is the command's tick since which a shorter delay would do.
}

// begin begins another match, whose ticks may lie before those of the last one.
func (d *delay) begin() {
	d.changed, d.low, d.known = 0, 0, false
}

// settled notes how many ticks the newest command was ahead of the newest settled tick when that arrived.
func (d *delay) settled(ahead int) {
	v := float64(ahead)
	if !d.known {
		d.known, d.mean, d.worst = true, v, v
		return
	}
	d.mean += (v - d.mean) / 32
	d.worst = max(v, d.worst-(d.worst-d.mean)/float64(2*d.rate))
}

// wanted returns the delay that fits the path.
func (d *delay) wanted() float64 {
	if d.hand > 0 {
		return float64(d.hand)
	}
	// Without the second part, the world would stand still each time that the path gets worse.
	return min(max(d.mean-d.above, d.worst-d.window, 0), mostDelay)
}

// follow changes the delay towards what is wanted, and returns it. t is the tick of the newest command.
func (d *delay) follow(t foretick.Tick) int {
	wanted := d.wanted()
	switch {
	case !d.known && d.hand == 0:
	case d.changed == 0: // the match begins, and little is known of the path: a tick too much goes soon
		if d.ticks, d.changed = int(math.Ceil(wanted)), t; d.ticks > 0 && d.hand == 0 {
			d.ticks++
		}
	case wanted > float64(d.ticks)+0.5 && int32(t-d.changed) >= growEvery:
		d.ticks++
		d.changed, d.low = t, 0
	case wanted > float64(d.ticks)-1:
		d.low = 0
	case d.low == 0:
		d.low = t
	case d.hand > 0 && int32(t-d.changed) >= growEvery, int32(t-d.low) >= int32(d.rate/2):
		d.ticks--
		d.changed, d.low = t, 0
	}
	return d.ticks
}

// growEvery is how many ticks lie between two changes by a tick at least.
const growEvery = 8
