package foretick

import (
	"math"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// seen answers Frame.Rewind for a player.
func (s *Server) seen(by PlayerID) HitView {
	p := s.viewer(by)
	if p == nil || !s.recorded {
		return HitView{}
	}
	out := HitView{valid: true, server: s, by: p, Claimed: p.claim}
	if s.cfg.NoLagCompensation {
		out.Used = lagcomp.Claim{Tick: s.frame.Tick - 1}
		out.past = s.history.At(out.Used.Tick, 0)
		out.whole = keys{a: out.Used.Tick, b: out.Used.Tick + 1}
		out.filter = s.filter(p, out.Used.Tick)
		return out
	}
	out.Used, out.Reason = p.allowed(s.frame.Tick)
	s.rewound(p, &out)
	return out
}

// viewer is the player whose view is asked for. Who does not play has none, and would
// miss for ever without a word.
func (s *Server) viewer(by PlayerID) *player {
	p := s.player(by)
	if p != nil {
		return p
	}
	s.stats.ViewsOfNobody++
	if _, ok := s.logs.allow("view of nobody", s.now); ok {
		s.cfg.Logger.Warn("Frame.Rewind or RewindBehind was asked for who does not play: every query misses; use Frame.Present", "player", by, "tick", s.frame.Tick)
	}
	return nil
}

// present answers Frame.Present.
func (s *Server) present() HitView {
	if !s.recorded {
		return HitView{}
	}
	out := HitView{valid: true, server: s, Used: lagcomp.Claim{Tick: s.newest()}}
	out.Claimed, out.whole = out.Used, keys{a: out.Used.Tick, b: out.Used.Tick + 1}
	out.past = s.history.At(out.Used.Tick, 0)
	return out
}

// seenBehind answers Frame.RewindBehind.
func (s *Server) seenBehind(by PlayerID, ticks float32) HitView {
	p := s.viewer(by)
	if p == nil || !s.recorded {
		return HitView{}
	}
	if !(ticks >= 0) {
		ticks = 0
	}
	ticks = min(ticks, float32(s.lag.MaxRewind.Seconds()*float64(s.p.tickRate)))
	out := HitView{valid: true, server: s, by: p, Claimed: p.claim}
	if s.cfg.NoLagCompensation {
		ticks = 1
	}
	out.past = s.history.Delayed(s.frame.Tick, ticks)
	out.Used.Tick, out.Used.Fraction = out.past.Time()
	out.whole = keys{a: out.Used.Tick, b: out.Used.Tick + 1, f: out.Used.Fraction}
	out.filter = s.filter(p, out.Used.Tick)
	if p.behind != 0 && !s.cfg.NoLagCompensation {
		out.ahead = s.aheadAt(p, s.frame.Tick, out.Used)
		out.filter.Keys = p.aparts.lend(s, p, out.whole, out.ahead).of
	}
	return out
}

// filter leaves out what the player owns, what is hidden from it, and what it did
// not know yet in the tick that a view rests on.
func (s *Server) filter(p *player, t Tick) lagcomp.Filter {
	if len(p.sights) == 0 {
		p.sights = make([]sight, s.p.tickRate+2) // those of views within the longest rewind differ
		for i := range p.sights {
			at := &p.sights[i]
			at.visible = func(id lagcomp.ID) bool { return s.shownTo(p, ecs.Entity(id), at.tick) }
		}
	}
	at := &p.sights[t%Tick(len(p.sights))]
	at.tick = t
	return lagcomp.Filter{ExcludeOwner: uint32(p.owner), Visible: at.visible}
}

// sight is what a player knew in a tick.
type sight struct {
	tick    Tick
	visible func(lagcomp.ID) bool
}

// shownTo tells whether a player may hit an entity in a view that rests on the
// snapshot of a tick: it knew the entity then, and does still. One that is gone
// altogether stays in the past as what it was there: something that stops a shot,
// and is no hit.
func (s *Server) shownTo(p *player, e ecs.Entity, t Tick) bool {
	if p.hides[e] {
		return false
	}
	id := s.p.identity.Find(s.world, e)
	if id == nil {
		return true
	}
	if p.sender == nil {
		return false
	}
	_, since, ok := p.sender.Shown(snapshot.NetID(id.Net))
	if s.aheadNow(p, e) {
		t = p.basis // it is shown as soon as it is known
	}
	return ok && int32(t-since) >= 0
}

// SetVisible hides an entity from a player, or shows it again, from the next
// snapshot on. What is hidden is not sent; at once, that player's shots cannot hit
// it any more, and once it is shown again, not at a moment before the snapshot that
// shows it. Everything is visible until told otherwise. False on a client, and for a
// player or an entity that is not there.
func (f *Frame) SetVisible(player PlayerID, e ecs.Entity, visible bool) bool {
	if f.server == nil {
		return false
	}
	s := f.server
	p, id := s.player(player), s.p.identity.Find(f.World, e)
	if p == nil || id == nil {
		return false
	}
	if p.hides[e] == !visible {
		return true
	}
	if p.hides == nil {
		p.hides = map[ecs.Entity]bool{}
	}
	if len(p.hides) > 2*f.World.Len()+16 {
		for old := range p.hides {
			if !f.World.Alive(old) {
				delete(p.hides, old)
			}
		}
	}
	if p.hides[e] = true; visible {
		delete(p.hides, e)
	}
	if p.sender != nil {
		p.sender.SetVisible(snapshot.NetID(id.Net), visible)
	}
	return true
}

// rehide tells a new connection's sender what is hidden from the player.
func (s *Server) rehide(p *player) {
	for e := range p.hides {
		if id := s.p.identity.Find(s.world, e); id != nil {
			p.sender.SetVisible(snapshot.NetID(id.Net), false)
		}
	}
}

// RemeasureLatency measures a player's round trip and drawing delay anew for five
// seconds, and counts growth from there. Call it where nothing can be gained, such
// as between rounds, for players whose network has become slower by more than
// [ServerConfig].RewindGrowth allows: until then their claims are clamped and
// counted. False for a player that is not there.
func (s *Server) RemeasureLatency(player PlayerID) bool {
	p := s.player(player)
	if p == nil || p.judge == nil {
		return false
	}
	p.judge.RemeasureLatency()
	p.drawing = drawing{}
	return true
}

// rewound fills in the past at a moment, as this player's client drew it: each
// entity between the two snapshots around it that the client had when it made the
// command, and that held what the entity was.
func (s *Server) rewound(p *player, out *HitView) {
	k, ok := p.keys(out.Used, 0, 0)
	if !ok {
		k = keys{a: out.Used.Tick, b: out.Used.Tick + 1, f: out.Used.Fraction}
	}
	out.past, out.whole, out.filter = s.history.Between(k.a, k.b, k.f), k, s.filter(p, k.a)
	late := p.deliveries.late != 0 && int32(out.Used.Tick-p.deliveries.late) < int32(reach(s.p.tickRate))
	oldest, _ := s.history.Oldest()
	switch newest := s.newest(); {
	case p.behind != 0:
		out.ahead = s.aheadAt(p, p.gave, out.Used)
		if int32(newest-k.a) <= 0 {
			out.whole.a, out.whole.f = newest, 0
		}
		out.whole.b = min(k.b, newest)
	case k.f == 0 && !late && int32(k.a-oldest) >= 0 || int32(newest-k.b) < 0:
		return
	}
	if late {
		out.player = p
	}
	if past, ok := s.between(p, out, out.whole); ok {
		out.past, out.filter.Life = past, s.living
	}
}

// keys are two ticks and how far between them a picture lies, and the one before
// them, 0 if there is none near.
type keys struct {
	a, b, before Tick
	f            float32
}

// keys answers the delivered ticks around a claim, for an entity of a wire id
// that is shown since a tick, or for any; false when there was none before it.
func (p *player) keys(c lagcomp.Claim, w snapshot.WireID, since Tick) (keys, bool) {
	a, b, ok := p.deliveries.around(c.Tick, p.every, p.arrived, w, since)
	switch {
	case !ok:
		return keys{}, false
	case b == a:
		return keys{a: a, b: a + 1}, true // the newest that it had: the picture stood still
	}
	o := p.deliveries.before(a, p.every, p.arrived, w, since)
	return keys{a, b, o, (float32(c.Tick-a) + c.Fraction) / float32(b-a)}, true
}

// bent tells whether an entity's picture between two ticks also rests on the one
// before them: its client had it by then.
func (s *Server) bent(p *player, e ecs.Entity, before Tick) bool {
	id := s.p.identity.Find(s.world, e)
	if before == 0 || id == nil || p.sender == nil {
		return before != 0
	}
	_, since, ok := p.sender.Shown(snapshot.NetID(id.Net))
	return !ok || int32(before-since) >= 0
}

// keysOf is keys for one entity; those of the whole picture where nothing is
// known of it, and false when it was not on the screen.
func (s *Server) keysOf(p *player, c lagcomp.Claim, e ecs.Entity, whole keys) (keys, bool) {
	id := s.p.identity.Find(s.world, e)
	if id == nil || p.sender == nil {
		return whole, true
	}
	w, since, ok := p.sender.Shown(snapshot.NetID(id.Net))
	if !ok {
		return whole, true
	}
	return p.keys(c, w, since)
}

// newest is the newest tick recorded.
func (s *Server) newest() Tick {
	t, _ := s.history.Newest()
	return t
}

// deliveries remembers which snapshots a client received, and when the server
// learned it.
type deliveries struct {
	ring []delivery
	told snapshot.Late // scratch
	late Tick          // the newest that had put something off
}

type delivery struct {
	tick Tick
	at   int64          // when the acknowledgement came, 1/256 tick
	late *snapshot.Late // what it had put off; nil: nothing, as nearly always
}

// begin forgets everything. The ring holds what a rewind may reach and what a
// command may have waited.
func (d *deliveries) begin(rate int) {
	if len(d.ring) == 0 {
		d.ring = make([]delivery, reach(rate))
	}
	clear(d.ring)
	d.late = 0
}

// note takes a delivered snapshot.
func (d *deliveries) note(sent *snapshot.Sent, every uint32, at int64) {
	e := d.slot(sent.Tick(), every)
	e.tick, e.at = sent.Tick(), at
	if sent.Late(&d.told); d.told.Any() {
		d.late = max(d.late, e.tick)
		if e.late == nil {
			e.late = &snapshot.Late{}
		}
	}
	if e.late != nil {
		*e.late, d.told = d.told, *e.late // swapped, so that both keep their memory
	}
}

func (d *deliveries) slot(t Tick, every uint32) *delivery {
	return &d.ring[t/every%Tick(len(d.ring))]
}

// has tells whether the client had the snapshot of a tick by a moment, and it
// said what the entity of a wire id was, if that is not 0.
func (d *deliveries) has(t Tick, every uint32, by int64, w snapshot.WireID) bool {
	e := d.slot(t, every)
	return t != 0 && e.tick == t && e.at <= by && (w == 0 || e.late == nil || !e.late.Has(w))
}

// around answers the delivered ticks at or before t, but not before since, and
// after it, as known by a moment; those that held an entity, if w is not 0. They
// are the same when there was none after it; ok is false when there was none
// before.
func (d *deliveries) around(t Tick, every uint32, by int64, w snapshot.WireID, since Tick) (a, b Tick, ok bool) {
	if len(d.ring) == 0 {
		return 0, 0, false
	}
	first := t - t%every
	a = first
	for n := 0; !d.has(a, every, by, w); n++ {
		if n == len(d.ring) || a < every || a < since {
			return 0, 0, false
		}
		a -= every
	}
	if a < since {
		return 0, 0, false
	}
	b = first + every
	for range d.ring {
		if d.has(b, every, by, w) {
			return a, b, true
		}
		b += every
	}
	return a, a, true
}

// before answers the newest delivered tick before one, as known by a moment, that
// held an entity, if w is not 0; 0 when there is none near. See [snapshot.Ghost.Before].
func (d *deliveries) before(t Tick, every uint32, by int64, w snapshot.WireID, since Tick) Tick {
	for u := t; u > every && u-every >= since && t-(u-every) <= snapshot.HermiteSpan; {
		if u -= every; d.has(u, every, by, w) {
			return u
		}
	}
	return 0
}

// moment is a server time in 1/256 tick, rounded as a command's earliness is.
func moment(ticks float64) int64 {
	whole := math.Floor(ticks)
	return int64(whole)*256 + int64(math.Round((ticks-whole)*256))
}

// drawing learns how far behind its newest snapshot a client draws the others.
// Like the round trip it is believed while the connection is young; what was
// learned by then bounds it afterwards. On top comes what ServerConfig.RewindGrowth
// allows, of which the round trip's own growth is a part. Nothing gates that growth:
// whatever the server measures of losses or of acknowledgements, a client can make
// look worse.
type drawing struct {
	ticks   int // measured so far
	settled bool
	sum     time.Duration // of this second's measurements
	summed  int
	least   time.Duration // mean of a second so far
	most    time.Duration // once settled: what is believed
	luck    time.Duration // and what is lent on top to a claim that asks for little more
	total   lagcomp.Trend // once settled: of late, with what the round trip has grown
	grown   time.Duration // by how much round trip and drawing together have grown since
	jitter  time.Duration
	dwell   time.Duration // mean wait of a command in the buffer
	waits   int
	lately  [4]time.Duration // the newest waits
}

// drawingTime is for how many seconds of commands it is learned; what comes in
// the first ones holds the start's spare.
const (
	drawingTime  = 5
	drawingStart = 2
)

// waited takes how long a command waited in the server's buffer and answers how
// long one may be taken to have: the mean of late, or its own wait where that is
// quite another. The path's jitter makes one command wait longer than the next,
// and one whose first packet was lost hardly at all; none of them was made at
// another time for that, or looked further back. But none waits longer than the
// newest ones have, nor, with two of its packets lost, by more than two ticks less
// than the others: else a client could send early all but what it shoots with.
func (d *drawing) waited(own, jitter time.Duration, s *Server) time.Duration {
	if d.jitter > 0 {
		jitter = min(jitter, d.jitter)
	}
	d.waits++
	d.dwell += (own - d.dwell) / time.Duration(min(d.waits, s.p.tickRate))
	d.lately[d.waits%len(d.lately)] = own
	if own > d.dwell+s.interval*3/2+2*jitter {
		return own
	}
	return min(d.dwell, slices.Max(d.lately[:]), own+2*s.interval+2*jitter)
}

// observe takes what a command's claim lies behind now beyond what the round
// trip and the wait in the buffer explain.
func (d *drawing) observe(behind time.Duration, p *player, s *Server) {
	if d.settled {
		d.grow(d.total.Add(p.slower()+behind, s.interval, d.least+s.growth)-d.least, s)
		return
	}
	d.ticks++
	if d.ticks <= drawingStart*s.p.tickRate {
		return
	}
	d.jitter = max(d.jitter, p.conn.Jitter())
	if d.sum, d.summed = d.sum+behind, d.summed+1; d.summed >= s.p.tickRate {
		mean := d.sum / time.Duration(d.summed)
		if d.ticks <= (drawingStart+1)*s.p.tickRate || mean < d.least {
			d.least = mean
		}
		d.sum, d.summed = 0, 0
	}
	if d.ticks == drawingTime*s.p.tickRate {
		d.settle(p, s)
	}
}

// grow takes by how much a client's claims lie further back than what settled.
func (d *drawing) grow(by time.Duration, s *Server) {
	step := lagcomp.DefaultGrowthRate / time.Duration(s.p.tickRate)
	d.grown = max(0, min(by, d.grown+step))
}

// lossy is one in how many packets that are lost makes bad luck on a path common.
const lossy = 25

// settle decides what is believed from now on: the quietest second's mean, since
// one in which the client remembered several losses would have them added twice.
// What luck may add is lent: some of a tick, more where many packets are lost or
// come unevenly, and the time to the next snapshot where they are rarer than ticks.
func (d *drawing) settle(p *player, s *Server) {
	d.settled, d.most = true, max(d.least-s.interval/2, 0)
	d.total.Set(d.least)
	d.luck = s.interval * 2 / 5
	switch {
	case p.lost > 0 && p.every > 1:
		d.luck = s.interval*9/10 + time.Duration(p.every-1)*s.interval
	case p.lost*lossy > p.decided:
		d.luck = s.interval * 3 / 5
	case p.lost == 0 && d.jitter > s.interval*3/4:
		d.luck = s.interval * 9 / 10
	}
}

// unexplained is what a claim lies behind now beyond the round trip and the wait
// in the buffer: what the client holds back to interpolate, as it says.
func (p *player) unexplained(s *Server) time.Duration {
	behind := float64(p.claim.Behind(s.frame.Tick)) * float64(s.interval)
	return max(0, time.Duration(behind)-p.judge.RTT()-p.measured.Dwell)
}

// slower is how much the round trip that is believed has grown since it settled.
func (p *player) slower() time.Duration { return max(0, p.judge.Grown()) }

// bound is how far behind its newest snapshot a client whose claim is by so much
// unexplained may draw the others, less the tick that the judge allows on top.
// Bad luck takes an honest client hardly further than what is lent; a claim that
// lies another snapshot beyond is none's, and is left with what is believed.
func (d *drawing) bound(behind time.Duration, p *player, s *Server) time.Duration {
	if !d.settled {
		return time.Duration(p.every)*s.interval*4 + 4*p.conn.Jitter()
	}
	most := d.most + max(0, d.grown-p.slower())
	if behind <= most+d.luck+time.Duration(p.every+1)*s.interval {
		return most + d.luck
	}
	return most
}
