package rollback

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// Peer plays a match that a [relay.Relay] keeps in step. It runs the whole world of the game, ahead of the inputs that
// are known, and rolls back where it guessed wrongly. Make one with [New] and call Step once for each rendered
// frame. A Peer is not safe for concurrent use.
type Peer struct {
	cfg  Config
	p    *compiled
	link link

	inbox   inbox
	sim     *simulation
	match   uint64 // match is the match that the world is of. 0 means none.
	pace    pace
	own     own
	joining joining
	serving serving
	record  record
	outside outside
	search  *search
	// searched is what was told of worlds that differ. Those that go on to differ are not told again.
	searched searched
	joined   bool // joined is true if the own player is in the match, as of the newest settled tick.

	view     View
	start    time.Time
	now      time.Duration
	begun    bool
	stepping bool
	closed   bool
	stats    Stats
	events   [64]transport.Event
	packed   []byte
}

// New makes a peer, which greets the relay with its first Steps. The error lists every fault of the configuration
// and all that the protocol declares and only a server can do. On an error the Transport stays the caller's.
func New(cfg Config) (*Peer, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := &Peer{cfg: cfg, p: compiledOf(cfg.Protocol)}
	p.link = newLink(&p.cfg, p.p)
	p.own = newOwn(p.p, cfg.Sample)
	p.packed = make([]byte, p.p.CommandSize())
	p.joining.most = cfg.MaxWorld
	p.record.rules, p.record.most = &p.link.rules, mostRecord
	p.pace.even, p.pace.behind = cfg.Window == 0 || cfg.Observe, foretick.Tick(cfg.Behind)
	p.pace.delay = delay{hand: cfg.Delay, above: cfg.DelayAbove.Seconds() * float64(p.p.TickRate), window: float64(cfg.Window), rate: p.p.TickRate}
	if cfg.DelayAbove < 0 {
		p.pace.delay.above = settled.MaxWindow + mostDelay
	}
	p.newWorld()
	return p, nil
}

// newWorld makes an empty world.
func (p *Peer) newWorld() {
	window := p.cfg.Window
	if p.cfg.Observe {
		window = 0
	}
	p.sim = newSimulation(p.p, p.cfg.Tags, window)
	p.view.World = p.sim.world
	p.outside = newOutside(p.sim)
}

// Step receives what the relay sent, runs the ticks that are due at now, sends the player's commands, and returns
// the View to draw. Call it once per rendered frame. now must not go back. A time of more than 30 s between two Steps
// does not count. It panics with [foretick.UsageError] in a function that Step calls.
func (p *Peer) Step(now time.Time) View {
	if p.stepping {
		misuse.Panicf("foretick: Peer.Step in a function that Step calls: a system, a handler or a Sampler must not call it")
	}
	p.stepping = true
	defer func() { p.stepping = false }()
	if !p.begun {
		p.begun, p.start = true, now
	}
	since := p.now
	p.now = guard.Elapsed(&p.start, p.now, now)
	p.link.now = p.now
	before := p.sim.counts
	if p.view.Waiting = p.view.Waiting && p.link.err == nil; p.link.err == nil {
		p.outside.look()
		p.receive()
		p.link.redial()
		made := p.play(p.now - since)
		p.outside.keep()
		p.draw(p.now - since)
		p.searchOn()
		p.send(made)
	}
	p.look(before)
	return p.view
}

// View returns the result of the last Step.
func (p *Peer) View() View { return p.view }

// ResumeToken returns what brings the player back to its place in another process: see [Config.ResumeToken]. It is
// nil for a spectator, and before the relay has answered, unless Config.ResumeToken gave one. The slice is a copy. The
// token is a secret: anyone with it can take the place.
func (p *Peer) ResumeToken() []byte {
	w := p.link.welcome
	switch {
	case w == nil:
		return slices.Clone(p.cfg.ResumeToken)
	case w.Player == ecs.Nobody:
		return nil
	}
	return slices.Clone(w.Token[:])
}

// SetDelay sets the input delay, as Config.Delay does: in ticks, or 0 to let Config.DelayAbove decide. The delay
// changes by a tick at a time, and no press is lost. In lockstep it has no effect. It returns an error for less than 0
// and more than 30 ticks.
func (p *Peer) SetDelay(ticks int) error {
	if ticks < 0 || ticks > mostDelay {
		return errors.New("foretick: Peer.SetDelay: use 0 to 30 ticks")
	}
	p.pace.delay.hand = ticks
	return nil
}

// Close leaves the match and closes the transport. A second Close returns [transport.ErrClosed].
func (p *Peer) Close() error {
	if p.closed {
		return transport.ErrClosed
	}
	p.closed = true
	err := p.link.close()
	p.look(p.sim.counts)
	return err
}

// receive takes everything that the transport received.
func (p *Peer) receive() {
	for n := len(p.events); n == len(p.events) && p.link.err == nil; {
		n = p.link.endpoint.Recv(p.events[:])
		for i := range p.events[:n] {
			if p.link.handle(&p.events[i]) {
				p.readPacket()
			}
		}
	}
	p.link.watch()
}

// readPacket reads the messages of a packet. The relay is trusted to be of the same build. So a message that
// cannot be read ends the connection, and the match goes on with the next one.
func (p *Peer) readPacket() {
	var errs error
	l := &p.link
	l.takeFates()
	for m, ok := l.conn.NextMessage(); ok; m, ok = l.conn.NextMessage() {
		if m.Type == settled.MessageSettled {
			errs = errors.Join(errs, p.takeSettled(m.Body))
		}
	}
	for r, ok := l.nextReliable(); ok; r, ok = l.nextReliable() {
		errs = errors.Join(errs, p.takeReliable(r.Kind, r.Payload))
	}
	if errs == nil || !l.up {
		return
	}
	if large := (*tooLarge)(nil); errors.As(errs, &large) {
		l.drop(transport.Overflow, large.reason)
	} else {
		l.counts.malformed++
		p.match = 0 // begin with a world of another peer
		l.drop(transport.Malformed, "a message of the relay could not be read: build the relay and all peers with the same version of Foretick")
	}
}

func (p *Peer) takeReliable(kind uint8, body []byte) error {
	switch kind {
	case settled.KindWelcome:
		w, err := p.link.takeWelcome(body)
		if err != nil {
			return err
		}
		return p.enter(w)
	case settled.KindDiffer:
		d, err := settled.ReadDiffer(body)
		if err == nil {
			p.differ(d)
		}
		return err
	case settled.KindClue:
		c, err := settled.ReadClue(body)
		if err == nil && p.search != nil {
			p.search.hear(&c)
		}
		return err
	case settled.KindAsk:
		a, err := settled.ReadAsk(body)
		if err == nil {
			p.serving.ask(a)
			if m := p.record.at(a.Tick); m != nil && p.match != 0 {
				p.serving.offer(m.tick, m.world)
			}
		}
		return err
	case settled.KindPiece:
		restart, err := p.joining.take(body)
		if restart { // the relay no longer has the ticks that come next
			p.match = 0
		}
		return err
	case settled.KindWorld:
		return p.takeWorld(body)
	}
	return netcode.ErrMalformed
}

// enter begins with what a welcome says: an empty world, the own one, or one that comes.
func (p *Peer) enter(w *settled.Welcome) error {
	p.pace.clock = netcode.NewClock(p.cfg.clockConfig(p.p))
	p.pace.time = netcode.Time{}
	p.own.made = 0
	p.sim.inputs.own.player = w.Player
	p.joining.begin(w.World)
	p.serving = serving{}
	switch {
	case w.World:
		p.match = 0
		p.pace.delay.begin()
	case w.Match == p.match && w.Next == p.inbox.newest()+1: // goes on with the world that it has
	case w.Next == 1:
		if old := p.sim; old.ran != 0 {
			old.events.cancel(&old.frame)
			p.newWorld()
			p.sim.inputs.own.player, p.sim.counts, p.sim.sums.taken = w.Player, old.counts, old.sums.taken
		}
		p.pace.delay.begin()
		p.match = w.Match
		p.sim.start(1)
		p.begin(settled.NewStanding(&p.link.rules, int(w.Places)), p.sim.bytes())
	default:
		return netcode.ErrMalformed
	}
	return nil
}

// takeWorld begins with the world that has come.
func (p *Peer) takeWorld(body []byte) error {
	world, v, whole, err := p.joining.finish(body)
	if err != nil {
		return err
	}
	s := settled.NewStanding(&p.link.rules, int(p.link.welcome.Places))
	if err := s.ReadWhole(v.Tick, whole); err != nil {
		return err
	}
	switch err := p.sim.startFrom(world, v.Tick, p.cfg.MaxEntities); {
	case errors.Is(err, ecs.ErrTooMany):
		return &tooLarge{fmt.Sprintf("the match's world has too many entities: raise rollback.Config.MaxEntities, which is %d", p.cfg.MaxEntities)}
	case err != nil:
		return err
	}
	p.match = p.link.welcome.Match
	p.begin(s, world)
	p.stats.Worlds++
	return nil
}

// begin begins to take ticks after a standing's, with the world of that tick, whose bytes it keeps.
func (p *Peer) begin(s *settled.Standing, world []byte) {
	p.record.begin(s, world)
	p.inbox.begin(s, p.cfg.Behind)
	p.search, p.searched = nil, searched{at: p.searched.at}
	w := p.link.welcome
	p.joined = w.Player != ecs.Nobody && s.Has(w.Player) && s.Persons[w.Player-1] == settled.PersonOf(w.Token)
}

// takeSettled takes a message with settled ticks.
func (p *Peer) takeSettled(body []byte) error {
	h, ticks, err := settled.ReadSettled(body)
	if err != nil || !p.link.let {
		return err
	}
	if p.match != 0 {
		if err := p.inbox.take(&h, ticks); err != nil {
			return err
		}
		p.pace.hear(&p.link, &h, p.inbox.newest())
	} else {
		p.pace.hear(&p.link, &h, h.Clock)
	}
	p.link.acknowledge(&h)
	return nil
}

// mostCatchUp is the most settled ticks that a Step runs, besides those for which it was due since the Step before. A peer
// that is farther behind catches up over several.
const mostCatchUp = 64

// play runs the ticks that are due. since is the time since the Step before. It reports whether it made commands.
func (p *Peer) play(since time.Duration) (made bool) {
	p.view.Waiting = false
	if p.pace.clock == nil {
		return false
	}
	p.pace.advance(p.now)
	p.settle(since)
	t := p.pace.time
	if !t.Started || p.match == 0 || !p.link.let {
		return false
	}
	if !p.cfg.Observe {
		p.own.read(p.view)
		for k := range t.Commands {
			made = p.makeCommand(t.Command-foretick.Tick(t.Commands-1-k), t.Commands-1-k) || made
		}
	}
	if !p.pace.even {
		p.predict(p.pace.target)
	}
	return made
}

func (p *Peer) makeCommand(t foretick.Tick, further int) bool {
	if !p.own.makeCommand(t, further, &p.sim.inputs, p.packed) {
		return false
	}
	p.link.sender.Push(netcode.Command{Tick: t, Render: t, Data: p.packed})
	return true
}

// settle settles the ticks that were received. since is the time since the Step before.
func (p *Peer) settle(since time.Duration) {
	if p.match == 0 {
		return
	}
	until := p.inbox.newest()
	if p.pace.time.Started {
		until = p.pace.settles(until)
		p.view.Waiting = p.pace.waits(p.inbox.newest())
	} else if p.pace.even {
		return
	}
	for range mostCatchUp + int(since.Seconds()*float64(p.p.TickRate)) {
		if int32(until-p.sim.settled) <= 0 {
			break
		}
		s := p.inbox.next()
		p.noteOwn(s)
		p.sim.quiet = int32(p.pace.heard-s.Tick) > int32(p.p.TickRate)+int32(p.cfg.Behind)+settled.MaxWindow
		taken := p.sim.sums.taken
		p.sim.settle(s)
		p.record.add(s)
		if p.sim.sums.taken != taken {
			p.record.addSum(p.sim.sums.newest, p.sim.sums.world)
			p.serving.offer(p.sim.sums.newest.Tick, p.sim.sums.world)
		}
	}
}

// noteOwn takes in whether the own player joins or leaves in a tick, and counts an input of its own that the relay did
// not have in time. Before it joins, its place may have been another player's.
func (p *Peer) noteOwn(s *settled.Tick) {
	own := p.link.player()
	for _, c := range s.Changes {
		if c.Player == own {
			p.joined = c.Joined && c.Person == settled.PersonOf(p.link.welcome.Token)
		}
	}
	for _, in := range s.Inputs {
		if p.joined && in.Player == own && in.StandIn {
			p.stats.StandIns++
		}
	}
}

// predict runs the ticks up to t ahead of the settled ones.
func (p *Peer) predict(t foretick.Tick) {
	if int32(t-p.sim.settled) > int32(p.cfg.Window) && p.view.State == Playing {
		p.view.Waiting = true
	}
	p.sim.advance(t)
}

// draw runs the render systems. since is the time since the Step before.
func (p *Peer) draw(since time.Duration) {
	if p.match == 0 {
		return
	}
	f := &p.sim.frame
	tick := f.DT
	f.DT = float32(since.Seconds())
	p.p.Schedule.ExecuteRender(p.sim.world, f)
	f.DT = tick
}

// send sends what is due: sums, pieces of the world, commands.
func (p *Peer) send(commands bool) {
	has := settled.Presence{None: p.match == 0}
	holds := foretick.Tick(0)
	if p.match != 0 {
		holds = p.inbox.newest()
		has.Settled = holds
	}
	if p.link.let {
		for s, ok := p.sim.sums.next(); ok; s, ok = p.sim.sums.next() {
			if !p.cfg.Observe {
				_ = p.link.conn.SendReliable(s.Tick, settled.KindSum, s.Append(nil)) // a relay that takes none is silent, too
			}
		}
		p.serving.send(p.link.conn)
	}
	p.link.sendPacket(commands, has, p.match, holds)
	p.link.endpoint.Flush()
}
