package foretick

import (
	"math"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// seen answers Frame.Seen for a player.
func (s *Server) seen(by ecs.Owner) Seen {
	p := s.player(by)
	if p == nil || !s.recorded {
		return Seen{}
	}
	out := Seen{valid: true, server: s, filter: s.filter(p), Claimed: p.claim}
	if s.cfg.NoLagCompensation {
		out.Used = lagcomp.Claim{Tick: s.frame.Tick - 1}
		out.past = s.history.At(out.Used.Tick, 0)
		out.base = out.past
		return out
	}
	out.Used, out.Reason = p.allowed(s.frame.Tick)
	s.rewound(p, &out)
	return out
}

// seenBehind answers Frame.SeenBehind.
func (s *Server) seenBehind(by ecs.Owner, ticks float32) Seen {
	p := s.player(by)
	if p == nil || !s.recorded {
		return Seen{}
	}
	if !(ticks >= 0) {
		ticks = 0
	}
	limit := s.lag.MaxRewind
	if limit == 0 {
		limit = lagcomp.DefaultMaxRewind
	}
	ticks = min(ticks, float32(limit.Seconds()*float64(s.p.tickRate)))
	out := Seen{valid: true, server: s, filter: s.filter(p), Claimed: p.claim}
	if s.cfg.NoLagCompensation {
		ticks = 1
	}
	out.past = s.history.Delayed(s.frame.Tick, ticks)
	out.base = out.past
	out.Used.Tick, out.Used.Fraction = out.past.Time()
	return out
}

// filter leaves out what the player owns and what is hidden from it.
func (s *Server) filter(p *player) lagcomp.Filter {
	if p.visible == nil {
		p.visible = func(id lagcomp.ID) bool { return s.shownTo(p, ecs.Entity(id)) }
	}
	return lagcomp.Filter{ExcludeOwner: uint32(p.owner), Visible: p.visible}
}

// shownTo tells whether a player could see an entity at the moment that its
// shot is judged in. One that is gone altogether stays in the past as what it
// was there: something that stops a shot, and is no hit.
func (s *Server) shownTo(p *player, e ecs.Entity) bool {
	if h, ok := p.hides[e]; ok && (h.hidden || int32(p.granted.Tick-h.since) < 0) {
		return false
	}
	id := s.p.identity.Find(s.world, e)
	if id == nil {
		return true
	}
	if p.sender == nil {
		return false
	}
	_, ok := p.sender.Known(snapshot.NetID(id.Net))
	return ok
}

// hide is whether an entity is hidden from a player, and since when not.
type hide struct {
	hidden bool
	since  Tick
}

// SetVisible hides an entity from a player, or shows it again, from the next
// snapshot on: what is hidden is not sent, and cannot be hit by that player's
// shots, at any moment at which it was hidden. Everything is visible until told
// otherwise. False on a client, and for a player or an entity that is not there.
func (f *Frame) SetVisible(who ecs.Owner, e ecs.Entity, visible bool) bool {
	if f.server == nil {
		return false
	}
	s := f.server
	p, id := s.player(who), s.p.identity.Find(f.World, e)
	if p == nil || id == nil {
		return false
	}
	h, known := p.hides[e]
	if h.hidden == !visible && (known || visible) {
		return true
	}
	if p.hides == nil {
		p.hides = map[ecs.Entity]hide{}
	}
	if len(p.hides) > 2*f.World.Len()+16 {
		for old := range p.hides {
			if !f.World.Alive(old) {
				delete(p.hides, old)
			}
		}
	}
	p.hides[e] = hide{hidden: !visible, since: f.Tick}
	if p.sender != nil {
		p.sender.SetVisible(snapshot.NetID(id.Net), visible)
	}
	return true
}

// rehide tells a new connection's sender what is hidden from the player.
func (s *Server) rehide(p *player) {
	for e, h := range p.hides {
		if id := s.p.identity.Find(s.world, e); id != nil && h.hidden {
			p.sender.SetVisible(snapshot.NetID(id.Net), false)
		}
	}
}

// Cut ends an entity's past: no shot reaches back before this tick, and nothing
// is interpolated across it in the past that shots are judged in. For a
// teleport, or another turn in an entity's life that its components do not
// tell; see [Epoch] for one that clients' screens do not interpolate across
// either. False on a client and for an entity that is not there.
func (f *Frame) Cut(e ecs.Entity) bool {
	if f.server == nil || !f.World.Alive(e) {
		return false
	}
	s := f.server
	if s.cuts == nil {
		s.cuts = map[ecs.Entity]uint32{}
	}
	if len(s.cuts) > 2*f.World.Len()+16 {
		for old := range s.cuts {
			if !f.World.Alive(old) {
				delete(s.cuts, old)
			}
		}
	}
	s.cuts[e]++
	return true
}

// Resettle lets a player's round trip and drawing delay be measured anew for
// five seconds. Held-back acknowledgements gain nothing in the middle of play,
// since neither is believed to grow; whose network has become slower for good
// is clamped (and counted) until this is called. For moments in which nothing
// can be gained, such as between rounds. False for a player that is not there.
func (s *Server) Resettle(who ecs.Owner) bool {
	p := s.player(who)
	if p == nil || p.judge == nil {
		return false
	}
	p.judge.Resettle()
	p.drawing = drawing{}
	return true
}

// rewound fills in the past at a moment, as this player's client drew it:
// between the two snapshots around it that the client had when it made the
// command.
func (s *Server) rewound(p *player, out *Seen) {
	c := out.Used
	a, b, ok := p.deliveries.around(c.Tick, p.every, p.arrived)
	switch {
	case !ok:
		a, b = c.Tick, c.Tick+1
	case b == a:
		c.Tick, c.Fraction, b = a, 0, a+1 // the newest that it had: the picture stood still
	}
	f := (float32(c.Tick-a) + c.Fraction) / float32(b-a)
	out.base = s.history.Between(a, b, f)
	out.past = out.base
	if oldest, _ := s.history.Oldest(); f == 0 || int32(s.newest()-b) < 0 || int32(a-oldest) < 0 {
		return
	}
	if past, ok := s.between(&p.view, c, a, b, f); ok {
		out.past, out.filter.Epoch = past, s.living
	}
}

// newest is the newest tick recorded.
func (s *Server) newest() Tick {
	t, _ := s.history.Newest()
	return t
}

// deliveries remembers which snapshots a client received, and when the server
// learned it.
type deliveries struct{ ring []delivery }

type delivery struct {
	tick Tick
	at   int64 // when the acknowledgement came, 1/256 tick
}

// begin forgets everything. The ring holds what a rewind may reach and what a
// command may have waited.
func (d *deliveries) begin(rate int) {
	if len(d.ring) == 0 {
		d.ring = make([]delivery, 3*rate+8)
	}
	clear(d.ring)
}

// note takes a delivered snapshot.
func (d *deliveries) note(t Tick, every uint32, at int64) {
	*d.slot(t, every) = delivery{t, at}
}

func (d *deliveries) slot(t Tick, every uint32) *delivery {
	return &d.ring[int(t/every)%len(d.ring)]
}

func (d *deliveries) has(t Tick, every uint32, by int64) bool {
	e := d.slot(t, every)
	return t != 0 && e.tick == t && e.at <= by
}

// around answers the delivered ticks at or before t and after it, as known by a
// moment. They are the same when there was none after it; ok is false when
// there was none before.
func (d *deliveries) around(t Tick, every uint32, by int64) (a, b Tick, ok bool) {
	if len(d.ring) == 0 {
		return 0, 0, false
	}
	first := t - t%every
	a = first
	for n := 0; !d.has(a, every, by); n++ {
		if n == len(d.ring) || a < every {
			return 0, 0, false
		}
		a -= every
	}
	b = first + every
	for range d.ring {
		if d.has(b, every, by) {
			return a, b, true
		}
		b += every
	}
	return a, a, true
}

// moment is a server time in 1/256 tick, rounded as a command's earliness is.
func moment(ticks float64) int64 {
	whole := math.Floor(ticks)
	return int64(whole)*256 + int64(math.Round((ticks-whole)*256))
}

// drawing learns how far behind its newest snapshot a client draws the others.
// Like the round trip it is believed while the connection is young; what was
// learned by then bounds it afterwards, so that a delay put on in the middle of
// play gains nothing.
type drawing struct {
	ticks   int // measured so far
	settled bool
	recent  [drawingSlots]time.Duration // the most in each half second, the last ones before settling
	most    time.Duration
	jitter  time.Duration
	dwell   time.Duration // mean wait of a command in the buffer
	waits   int
}

const (
	drawingSlots = 3
	drawingTime  = 5 * time.Second
)

// waited takes how long a command waited in the server's buffer and answers how
// long one may be taken to have: the mean of late, or its own wait where that is
// quite another. The path's jitter makes one command wait longer than the next,
// and one whose first packet was lost hardly at all; none of them was made at
// another time for that, or looked further back.
func (d *drawing) waited(own time.Duration, s *Server) time.Duration {
	d.waits = min(d.waits+1, max(s.p.tickRate/2, 1))
	d.dwell += (own - d.dwell) / time.Duration(d.waits)
	if own > d.dwell+s.interval*3/2 {
		return own
	}
	return d.dwell
}

// observe takes what a command's claim lies behind now beyond what the round
// trip and the wait in the buffer explain.
func (d *drawing) observe(behind time.Duration, p *player, s *Server) {
	if d.settled {
		return
	}
	half := max(1, s.p.tickRate/2)
	slot := d.ticks / half % drawingSlots
	if d.ticks%half == 0 {
		d.recent[slot] = 0
	}
	d.recent[slot] = max(d.recent[slot], behind)
	if d.ticks++; time.Duration(d.ticks)*s.interval > drawingTime*2/3 {
		d.jitter = max(d.jitter, p.conn.Jitter())
	}
	if time.Duration(d.ticks)*s.interval < drawingTime {
		return
	}
	d.settled, d.most = true, 0
	for _, r := range d.recent {
		d.most = max(d.most, r)
	}
	d.most += d.jitter
	if p.lostAny {
		d.most += time.Duration(p.every) * s.interval // one more may be lost in a row than so far
	}
}

// unexplained is what a claim lies behind now beyond the round trip and the wait
// in the buffer: what the client holds back to interpolate, as it says.
func (p *player) unexplained(s *Server) time.Duration {
	behind := float64(p.claim.Behind(s.frame.Tick)) * float64(s.interval)
	return max(0, time.Duration(behind)-p.judge.RTT()-p.measured.Dwell)
}

// bound is how far behind its newest snapshot an honest client of this
// connection may draw the others. The judge allows a tick on top, of which what
// was learned needs a quarter.
func (d *drawing) bound(p *player, s *Server) time.Duration {
	jitter := p.conn.Jitter()
	if d.settled {
		jitter = min(jitter, d.jitter)
	}
	most := time.Duration(p.every)*s.interval*4 + 4*jitter
	if d.settled {
		most = min(most, max(d.most-s.interval*3/4, 0))
	}
	return most
}
