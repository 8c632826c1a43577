package simtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// director plays a plan: it decides who joins, who leaves and what fails, and
// when.
type director struct {
	panics  uint64 // panics in decoding, on the server and on clients
	plan    Plan
	m       *Match
	out     Outcome
	resting bool
	played  time.Duration // end of the last round of faults
	round   int           // number of the round; actions scheduled in an earlier one are skipped
	rate    int           // ticks a second
	err     error
	lost    lost
	taps    taps
	ends    *extremes // checks Plan.Extremes; nil without it
	rests   map[*client.Client]func(bool)
	kicked  map[*client.Client]bool

	practises  *client.Client // the client that replays its ticks; see Plan.SyncTest
	serverRest func(bool)
}

var errIdle = errors.New("too little happened in the match")

// playRounds plays the plan: rounds with faults, each followed by a rest.
func (d *director) playRounds() error {
	d.rests, d.m.restless = map[*client.Client]func(bool){}, d.plan.Rest < 0
	d.kicked = map[*client.Client]bool{}
	d.watchMatch()
	if err := d.serveMatch(); err != nil {
		return err
	}
	for range d.plan.Clients {
		d.addClient()
	}
	for range d.plan.Observers {
		d.addObserver()
	}
	for left := d.plan.Play; left > 0 && d.err == nil && d.m.Err() == nil; {
		part := left
		if d.plan.Quiet > 0 {
			part = min(part, d.plan.Quiet)
		}
		left -= part
		d.act()
		d.m.Run(d.m.Net.Now() + part)
		d.rest()
	}
	if err := errors.Join(d.err, d.m.Err()); err != nil {
		return err
	}
	return d.worked()
}

// rest ends all faults, lets the match come to rest, and compares it.
func (d *director) rest() {
	if d.m.restless {
		d.peace()
		d.waitForReturns()
		d.back()
		return
	}
	d.setResting(true)
	d.peace()
	d.waitForReturns()
	d.calm()
	if d.m.Err() == nil && d.err == nil {
		d.out.Quiets++
		_ = d.m.Quiet()
	}
	d.setResting(false)
}

// peace ends all faults, and brings back clients that are away.
func (d *director) peace() {
	d.played = d.m.Net.Now()
	d.m.FreezeServer(false)
	d.round++
	if d.m.Server() == nil {
		d.recordError(d.serveMatch())
	}
	for _, st := range d.m.seats {
		d.m.Freeze(st.client, false)
		d.m.Link(st.client, d.plan.Calm, d.plan.Calm)
	}
	for len(d.m.Clients(nil)) < d.plan.Clients && d.err == nil {
		d.addClient()
	}
	for len(d.m.Observers(nil)) < d.plan.Observers && d.err == nil {
		d.addObserver()
	}
}

// back lets a match that never rests play on for a second without faults, and
// fails if any client is not playing.
func (d *director) back() {
	had := map[*seat]uint64{}
	for _, st := range d.m.seats {
		if !st.observes {
			had[st] = st.client.Stats().Snapshots
		}
	}
	d.m.Run(d.m.Net.Now() + time.Second)
	for _, st := range d.m.seats {
		v := st.client.View()
		if !st.observes && (v.State != client.Playing || !d.m.present(st) || st.client.Stats().Snapshots == had[st]) {
			d.recordError(fmt.Errorf("simtest: player %d is %v and not back in the match %v after the last fault", v.Player, v.State, d.m.Net.Now()-d.played))
		}
	}
}

// setResting tells the game's server and clients whether the match rests.
func (d *director) setResting(on bool) {
	d.resting = on
	d.serverRest(on)
	for _, st := range d.m.seats {
		if tell := d.rests[st.client]; tell != nil {
			tell(on)
		}
	}
}

// patience is how long a client that lost its connection may take to come back.
const patience = 20 * time.Second

// waitForReturns waits for clients that reconnect after a loss, which takes as long as
// timeouts do. The time to come to rest starts after that.
func (d *director) waitForReturns() {
	for until := d.m.Net.Now() + patience; d.m.Net.Now() < until && d.m.Err() == nil; {
		back := d.m.Server() != nil
		for _, st := range d.m.seats {
			back = back && (st.observes || st.client.View().State == client.Playing && d.m.present(st))
		}
		if back {
			return
		}
		d.m.Run(d.m.Net.Now() + 100*time.Millisecond)
	}
}

// calm lets the match come to rest. It then waits while reconnect windows of
// departed players expire, since their entities leave the world at that time.
func (d *director) calm() {
	tail := min(d.plan.Rest, time.Second)
	d.m.Run(d.m.Net.Now() + d.plan.Rest - tail)
	for waits := true; waits && d.m.Err() == nil; {
		left := d.m.Server().Stats().Left
		d.m.Run(d.m.Net.Now() + tail)
		waits = d.m.Server().Stats().Left != left
	}
}

// present reports whether the server knows the player of a seat by the seat's
// own connection: after a restart another player may have the number.
func (m *Match) present(st *seat) bool {
	me := st.client.View().Player
	return me != ecs.Nobody && m.Owner(st.endpoint.ID()) == me
}

// act starts a round: every kind of fault gets its own timer.
func (d *director) act() {
	for _, st := range d.m.seats {
		l := d.link()
		d.m.Link(st.client, l, l)
	}
	p := &d.plan
	d.every(p.Change/time.Duration(p.Clients+p.Observers), d.changeLink)
	d.every(p.Stay/time.Duration(p.Clients+p.Observers), d.removeClient)
	d.every(p.ClientKills, d.killClient)
	d.every(p.ServerKills, d.killServer)
	d.every(p.Kicks, d.kick)
	d.every(p.Freezes, d.freeze)
	d.every(p.ServerFreezes, d.freezeServer)
}

// every calls what repeatedly until this round ends, at random intervals with this
// mean.
func (d *director) every(mean time.Duration, what func()) {
	if mean <= 0 {
		return
	}
	round := d.round
	var again func()
	wait := func() { d.m.Net.At(d.m.Net.Now()+mean/2+time.Duration(d.m.rand.Int64N(int64(mean)+1)), again) }
	again = func() {
		if d.round == round {
			what()
			wait()
		}
	}
	wait()
}

// later calls what once, after a time, unless this round has ended by then.
func (d *director) later(after time.Duration, what func()) {
	round := d.round
	d.m.Net.At(d.m.Net.Now()+after, func() {
		if d.round == round {
			what()
		}
	})
}

func (d *director) recordError(err error) {
	if err != nil && d.err == nil {
		d.err = err
	}
}

func (d *director) link() sim.Link { return d.plan.Links[d.m.rand.IntN(len(d.plan.Links))] }

func (d *director) serveMatch() error {
	p := d.plan.New()
	if p.Protocol == nil {
		return fmt.Errorf("simtest: Plan.New returned no Protocol")
	}
	if err := p.Protocol.Err(); err != nil {
		return err
	}
	d.rate = p.Protocol.TickRate()
	cfg := server.Config{Protocol: p.Protocol, MaxClients: max(64, 4*d.plan.Clients)}
	if d.plan.Observers > 0 {
		cfg.Observe, cfg.MaxObservers = d.grant, 16+4*d.plan.Observers
	}
	if d.plan.Server != nil {
		d.plan.Server(&cfg)
	}
	d.serverRest = p.Rest
	if p.Rest == nil {
		d.serverRest = func(bool) {}
	}
	d.serverRest(d.resting)
	return d.m.serveEnd(p, cfg)
}

// addClient adds a client.
func (d *director) addClient() {
	p := d.plan.New()
	cfg := client.Config{Protocol: p.Protocol, Sample: p.Sample}
	var c *client.Client
	again := 0
	if practises := d.plan.SyncTest > 0 && len(d.m.wrongs) > 0 && d.m.seatOf(d.practises) == nil; practises {
		again = d.plan.SyncTest
		defer func() { d.practises = c }()
	}
	l := d.calmOrNot()
	drift := d.plan.Drift * (2*d.m.rand.Float64() - 1)
	after := func(v client.View) {
		switch {
		case v.State >= client.Syncing && v.State < client.Closed && p.Act != nil && !d.resting:
			p.Act(c)
		case v.State != client.Closed:
		case d.kicked[c]:
			d.shownOut(c, v)
		case v.Player == ecs.Nobody && d.plan.ServerKills > 0:
			d.later(d.plan.Absence, d.addClient) // the server died during the join: try again
		default:
			d.recordError(fmt.Errorf("simtest: player %d was dropped at %v: %w", v.Player, d.m.Net.Now(), v.Err))
		}
	}
	var err error
	c, err = d.m.Join(cfg, Seat{Up: l, Down: l, FrameRate: d.plan.FrameRate, Drift: drift, After: after, SyncTest: again})
	d.recordError(err)
	if err == nil {
		probe.OfClient(c).SampleWhile(func() bool { return !d.resting })
		d.listen(c)
	}
	d.out.Joins++
	if p.Rest != nil && err == nil {
		d.rests[c] = p.Rest
		p.Rest(d.resting)
	}
}

// calmOrNot returns the link of a new client: Plan.Calm while the match rests, else a
// random one.
func (d *director) calmOrNot() sim.Link {
	if d.resting {
		return d.plan.Calm
	}
	return d.link()
}

// again replaces a client that is gone, after Plan.Absence.
func (d *director) again(st *seat) {
	if st.observes {
		d.later(d.plan.Absence, d.addObserver)
	} else {
		d.later(d.plan.Absence, d.addClient)
	}
}

// anyone returns a random client.
func (d *director) anyone() *seat {
	if len(d.m.seats) == 0 {
		return nil
	}
	return d.m.seats[d.m.rand.IntN(len(d.m.seats))]
}

func (d *director) changeLink() {
	if st := d.anyone(); st != nil {
		l := d.link()
		d.m.Link(st.client, l, l)
	}
}

func (d *director) removeClient() {
	if st := d.anyone(); st != nil {
		d.addDeparted(st.client)
		d.recordError(d.m.Leave(st.client))
		d.out.Leaves++
		d.again(st)
	}
}

func (d *director) killClient() {
	if st := d.anyone(); st != nil {
		d.addDeparted(st.client)
		d.m.KillClient(st.client)
		d.out.Kills++
		d.again(st)
	}
}

func (d *director) killServer() {
	if d.m.Server() == nil {
		return
	}
	d.closeServer()
	d.m.KillServer()
	d.out.Kills++
	d.later(d.plan.Down, func() {
		if d.m.Server() == nil {
			d.recordError(d.serveMatch())
		}
	})
}

func (d *director) freeze() {
	st := d.anyone()
	if st == nil {
		return
	}
	d.out.Freezes++
	d.m.Freeze(st.client, true)
	d.later(time.Duration(d.m.rand.Int64N(int64(d.plan.Frozen)+1)), func() { d.m.Freeze(st.client, false) })
}

func (d *director) freezeServer() {
	d.out.Freezes++
	d.m.FreezeServer(true)
	d.later(time.Duration(d.m.rand.Int64N(int64(d.plan.Frozen)+1)), func() { d.m.FreezeServer(false) })
}

// addDeparted adds a departing client's counters to the outcome.
func (d *director) addDeparted(c *client.Client) {
	st := c.Stats()
	d.out.Snapshots += st.Snapshots
	d.out.Mended += st.Mispredictions
	d.out.Causes.Add(st.ByCause)
	d.panics += st.CorePanics
	d.lost.client(c)
	delete(d.rests, c)
	delete(d.kicked, c)
}

// closeServer adds a departing server's counters to the outcome.
func (d *director) closeServer() {
	st := d.m.Server().Stats()
	d.lost.server(d.m.Server())
	d.out.Ticks += st.Ticks
	d.out.Packets += st.PacketsOut + st.PacketsIn
	d.panics += st.CorePanics
}

// completeOutcome adds the counters of the clients and the server that still run.
func (d *director) completeOutcome() {
	for _, st := range d.m.seats {
		d.addDeparted(st.client)
	}
	if d.m.Server() != nil {
		d.closeServer()
	}
	d.out.Lost = d.lost.lines()
}
