package rewind

import (
	"slices"
	"time"

	"github.com/foretick/foretick/lagcomp"
)

// delay measures the time by which a client draws others later than its newest snapshot.
// Like the round trip, it is accepted while the connection is young. The value measured by
// then limits it afterwards, and may grow by Config.Growth together with the round trip.
// Nothing else limits that growth: a client can worsen every measurement of losses or
// acknowledgements that the server could use. The delay may also be as much as a client has that
// bridges the losses which the server measures, see [loss.Bridge]: at most two snapshots.
type delay struct {
	ticks   int // ticks counts the ticks measured so far.
	settled bool
	sum     time.Duration // sum is the sum of this second's measurements.
	summed  int
	least   time.Duration // least is the least mean of a second so far.
	most    time.Duration // most is the delay that is believed, once settled.
	luck    time.Duration // luck is the allowance that is added to most, unless a claim asks for much more.
	// total follows the delay plus the growth of the round trip, once settled.
	total lagcomp.Trend
	// grown is how much the round trip and the delay together have grown since the delay settled.
	grown  time.Duration
	jitter time.Duration
	dwell  time.Duration // dwell is the mean wait of a command in the buffer.
	waits  int
	lately [4]time.Duration // lately has the newest waits.
}

// A delay is measured over delayTime seconds of commands. The first delayStart of them do
// not count: the client's buffers still hold their initial reserve.
const (
	delayTime  = 5
	delayStart = 2
)

// path holds the server's measurements of the path to a client.
type path struct {
	every   uint32        // every is the number of ticks between two snapshots.
	jitter  time.Duration // jitter is the jitter of the connection.
	slower  time.Duration // slower is how much the believed round trip has grown since it settled.
	loss    float64       // loss is the share of packets to the client that were lost lately.
	bridged int           // bridged is how many lost snapshots in a row a client with this loss bridges.
}

// clock is the length of a tick, as ticks a second and as a duration.
type clock struct {
	rate     int
	interval time.Duration
}

// waited takes the time that a command waited in the server's buffer. It returns the time
// that is assumed: the recent mean, or the command's own wait if that is very different.
// Jitter makes one command wait longer than the next, and one whose first packet was lost
// hardly waits at all. None of them was made at another time because of that.
//
// The result is at most the longest of the newest waits. It exceeds the command's own wait
// by two ticks and the jitter at most, as after two lost packets. Otherwise a client could
// send all commands early except its shots.
func (d *delay) waited(own, jitter time.Duration, c clock) time.Duration {
	if d.jitter > 0 {
		jitter = min(jitter, d.jitter)
	}
	d.waits++
	d.dwell += (own - d.dwell) / time.Duration(min(d.waits, c.rate))
	d.lately[d.waits%len(d.lately)] = own
	if own > d.dwell+c.interval*3/2+2*jitter {
		return own
	}
	return min(d.dwell, slices.Max(d.lately[:]), own+2*c.interval+2*jitter)
}

// addMeasurement takes the time between a command's claim and now that the round trip and the wait
// in the buffer do not explain.
func (d *delay) addMeasurement(behind, growth time.Duration, p path, c clock) {
	if d.settled {
		by := d.total.Add(p.slower+behind, c.interval, d.least+growth) - d.least
		d.grown = max(0, min(by, d.grown+lagcomp.DefaultGrowthRate/time.Duration(c.rate)))
		return
	}
	d.ticks++
	if d.ticks <= delayStart*c.rate {
		return
	}
	d.jitter = max(d.jitter, p.jitter)
	if d.sum, d.summed = d.sum+behind, d.summed+1; d.summed >= c.rate {
		mean := d.sum / time.Duration(d.summed)
		if d.ticks <= (delayStart+1)*c.rate || mean < d.least {
			d.least = mean
		}
		d.sum, d.summed = 0, 0
	}
	if d.ticks == delayTime*c.rate {
		d.fixAccepted(p, c)
	}
}

// lossy bounds packet loss: if more than one packet in this many is lost, bad luck is common on the path.
const lossy = 25

// fixAccepted fixes the accepted delay: the mean of the quietest second. A second with several
// losses would count them twice. An allowance for bad luck is added: part of a tick, more
// on a path with much loss or jitter, and the time to the next snapshot if those are rarer
// than ticks.
func (d *delay) fixAccepted(p path, c clock) {
	d.settled, d.most = true, max(d.least-c.interval/2, 0)
	d.total.Set(d.least)
	d.luck = c.interval * 2 / 5
	switch {
	case p.loss > 0 && p.every > 1:
		d.luck = c.interval*9/10 + time.Duration(p.every-1)*c.interval
	case p.loss*lossy > 1:
		d.luck = c.interval * 3 / 5
	case p.loss == 0 && d.jitter > c.interval*3/4:
		d.luck = c.interval * 9 / 10
	}
}

// bound returns the accepted delay of a client whose claim is unexplained by behind, less
// the tick that the judge allows on top. Bad luck hardly takes an honest client beyond the
// added allowance. A claim that is another snapshot further back is not bad luck, and gets
// only the accepted delay.
func (d *delay) bound(behind time.Duration, p path, c clock) time.Duration {
	if !d.settled {
		return time.Duration(p.every)*c.interval*4 + 4*p.jitter
	}
	most := d.most + max(0, d.grown-p.slower)
	if p.bridged > 0 { // the client measures the same losses and draws later for them, and its buffer covers jitter
		most = max(most, time.Duration((1+p.bridged)*int(p.every))*c.interval+d.jitter*5/4-c.interval/2)
	}
	if behind <= most+d.luck+time.Duration(p.every+1)*c.interval {
		return most + d.luck
	}
	return most
}
