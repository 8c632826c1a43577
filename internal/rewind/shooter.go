package rewind

import (
	"time"

	"github.com/foretick/foretick/internal/loss"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// Shooter judges one player's shots. It knows the snapshots that the player's client has,
// the delay with which it draws, and the moment that its newest command claims. The zero
// Shooter counts packets and judges nothing. Join starts a player.
type Shooter struct {
	past   *Past
	screen Screen
	owner  uint32
	judge  *lagcomp.Judge

	measured lagcomp.Measured
	delay    delay
	losses   *loss.Window // losses has the packets to the client that were lost. It is nil before Join.
	bridge   loss.Bridge

	deliveries deliveries
	acked      Tick // acked is the newest snapshot tick that the client has.
	// known is when the packet whose acknowledgements are processed arrived, in 1/256 tick.
	known int64

	claim   lagcomp.Claim // claim is the claim of the newest command.
	arrived int64         // arrived is when the newest command came, in 1/256 tick.
	// offset is the time from the command back to the entities drawn ahead, in 1/OffsetSteps
	// tick. 0 means that there are none.
	offset int64
	gave   Tick // gave is the tick of the newest command.
	// basis is the newest snapshot that the client had when the player gave that command.
	basis Tick

	verdict Verdict // verdict is the judgement of the newest claim.
	// late is true if the claim is that of a late command. Forget then brings back what is in kept.
	late bool
	used float64 // used is the latest moment that the judge had used before a late command's tick.
	asOf Tick    // asOf is the tick in which a late claim is judged.
	kept given

	frames frames
	sights []sight
}

// Verdict is the server's judgement of a claim, with its reasons.
type Verdict struct {
	At       Tick             // At is the tick in which the command ran. 0 means that none was judged yet.
	Asked    lagcomp.Claim    // Asked is the moment that the client claimed.
	Used     lagcomp.Claim    // Used is the moment that the server granted.
	Reason   lagcomp.Reason   // Reason says why Asked and Used differ.
	Measured lagcomp.Measured // Measured is what the server knew of the client.
	RTT      time.Duration    // RTT is the round trip that the server assumed.
}

// given is what the newest command said, and how it was judged.
type given struct {
	measured lagcomp.Measured
	claim    lagcomp.Claim
	arrived  int64
	offset   int64
	gave     Tick
	basis    Tick
	verdict  Verdict
}

// Command holds a player's claim of the moment at which it gave a command.
type Command struct {
	Tick   Tick
	Early  int64 // Early is the time from the command's arrival to its tick, in 1/256 tick.
	Claim  lagcomp.Claim
	Offset uint8 // Offset is packed: see PackOffset. 0 means that nothing is drawn ahead.
}

// Join starts a player, with the owner of its entities.
func (s *Shooter) Join(p *Past, owner uint32, screen Screen) {
	s.past, s.owner, s.screen, s.judge = p, owner, screen, lagcomp.NewJudge(p.cfg.Lagcomp)
	s.losses = new(loss.Window)
}

// Connect starts a connection of the player's, the first or a later one.
func (s *Shooter) Connect() {
	s.acked = 0
	if s.losses != nil {
		*s.losses, s.bridge = loss.Window{}, loss.Bridge{}
	}
	s.deliveries.resetDeliveries(s.past.game.TickRate)
}

// Enter starts a level. Earlier acknowledgements are not of its snapshots.
func (s *Shooter) Enter() { s.acked = 0 }

// Hear takes the server's time, in ticks, at which a packet arrived.
func (s *Shooter) Hear(ticks float64) { s.known = moment(ticks) }

// Arrived takes the number of a packet that the client received.
func (s *Shooter) Arrived(packet uint16) {
	if s.losses != nil {
		s.losses.Arrived(packet)
		s.bridge.Follow(s.losses.Share())
	}
}

// Delivered takes a snapshot of this level that the client received.
func (s *Shooter) Delivered(sent *snapshot.Sent) {
	s.acked = max(s.acked, sent.Tick())
	s.deliveries.noteDelivered(sent, s.screen.Every(), s.known)
}

// Acked returns the newest tick whose snapshot the client has acknowledged, 0 if none.
func (s *Shooter) Acked() Tick { return s.acked }

// Verdict returns the judgement of the newest claim.
func (s *Shooter) Verdict() Verdict { return s.verdict }

// Claims returns counts of the claims' judgements.
func (s *Shooter) Claims() lagcomp.JudgeStats {
	if s.judge == nil {
		return lagcomp.JudgeStats{}
	}
	return s.judge.Stats()
}

// Remeasure measures round trip and drawing delay again, as at the start. It returns false
// before Join.
func (s *Shooter) Remeasure() bool {
	if s.judge == nil {
		return false
	}
	s.judge.RemeasureLatency()
	s.delay = delay{}
	return true
}

// Take takes the command of tick now.
func (s *Shooter) Take(c Command, now Tick, jitter time.Duration) {
	g := &s.past.game
	t, p := clock{g.TickRate, s.past.interval}, s.path(jitter)
	s.claim, s.arrived = c.Claim, int64(c.Tick)*256-c.Early
	if s.offset = 0; c.Offset != 0 && s.past.showsAhead() {
		s.offset, s.gave = unpackOffset(c.Offset), c.Tick
		s.basis = s.deliveries.newestDelivered(s.acked, p.every, s.arrived)
	}
	s.measured.Dwell = s.delay.waited(time.Duration(max(c.Early, 0))*t.interval/256, jitter, t)
	behind := max(0, time.Duration(float64(c.Claim.Behind(now))*float64(t.interval))-s.judge.RTT()-s.measured.Dwell)
	s.delay.addMeasurement(behind, s.past.growth, p, t)
	s.measured.Interpolation = s.delay.bound(behind, p, t)
}

// path returns the measurements of the path to the client.
func (s *Shooter) path(jitter time.Duration) path {
	return path{every: s.screen.Every(), jitter: jitter, slower: max(0, s.judge.Grown()), loss: s.losses.Share(), bridged: s.bridge.Lost()}
}

// Observe takes the measurements that limit the claims of a tick. Call it every tick.
func (s *Shooter) Observe(now Tick, rtt, dwell time.Duration) {
	s.measured = lagcomp.Measured{Now: now, Newest: s.acked, RTT: rtt, Interpolation: s.measured.Interpolation, Dwell: dwell}
	s.judge.Observe(s.measured)
}

// allow judges the newest claim, once a tick.
func (s *Shooter) allow(now Tick) *Verdict {
	if s.verdict.At != now {
		s.measured.Now = now // if the player was absent, the measurement is of an earlier tick
		if s.late {
			s.measured.Now = s.asOf
		}
		used, reason := s.judged()
		s.verdict = Verdict{At: now, Asked: s.claim, Used: used, Reason: reason, Measured: s.measured, RTT: s.judge.RTT()}
	}
	return &s.verdict
}

// sight holds the entities that a player knew in a tick.
type sight struct {
	tick    Tick
	visible func(lagcomp.ID) bool
}

// filter excludes the player's own entities, those hidden from it, and those that it did
// not have yet in the tick that a view is based on.
func (s *Shooter) filter(t Tick) lagcomp.Filter {
	if len(s.sights) == 0 {
		// each tick within the longest rewind gets a sight of its own
		s.sights = make([]sight, s.past.game.TickRate+2)
		for i := range s.sights {
			at := &s.sights[i]
			at.visible = func(id lagcomp.ID) bool { return s.sees(id, at.tick) }
		}
	}
	at := &s.sights[t%Tick(len(s.sights))]
	at.tick = t
	return lagcomp.Filter{ExcludeOwner: s.owner, Visible: at.visible, Life: s.past.alive}
}

// sees reports whether the player may hit an entity in a view based on the snapshot of a
// tick: it had the entity then, and still has it. An entity that no longer exists stays in
// the past: it stops a shot, and is no hit.
func (s *Shooter) sees(id lagcomp.ID, t Tick) bool {
	if s.screen.Hidden(id) {
		return false
	}
	e, known := s.past.world.Entity(id)
	if !known {
		return true
	}
	_, since, ok := s.screen.Shown(e.Net)
	if !ok {
		return false
	}
	if s.aheadNow(id, e) {
		t = s.basis // the client shows the entity as soon as it knows it
	}
	return int32(t-since) >= 0
}

func (s *Shooter) judged() (lagcomp.Claim, lagcomp.Reason) {
	if s.late {
		return s.judge.AllowLate(s.claim, s.measured, s.used)
	}
	return s.judge.Allow(s.claim, s.measured)
}

// Used returns the latest moment that the player has used, for TakeLate.
func (s *Shooter) Used() float64 { return s.judge.Used() }

// TakeLate takes a command of an earlier tick in tick now, until Forget. used is what Used returned at the end
// of the tick before the command's. The claim is judged at now. Only the time that the command has waited since
// it arrived explains an older claim; that it arrived late does not. No measurement of the path is taken from
// it.
func (s *Shooter) TakeLate(c Command, now Tick, used float64) {
	s.kept = given{s.measured, s.claim, s.arrived, s.offset, s.gave, s.basis, s.verdict}
	s.late, s.used, s.asOf, s.verdict = true, used, now, Verdict{}
	g := &s.past.game
	t, p := clock{g.TickRate, s.past.interval}, s.path(0)
	s.claim, s.arrived = c.Claim, int64(c.Tick)*256-c.Early
	if s.offset = 0; c.Offset != 0 && s.past.showsAhead() {
		s.offset, s.gave = unpackOffset(c.Offset), c.Tick
		s.basis = s.deliveries.newestDelivered(s.acked, p.every, s.arrived)
	}
	s.measured.Dwell = max(0, time.Duration(int64(now)*256-s.arrived)*t.interval/256)
	behind := max(0, time.Duration(float64(c.Claim.Behind(now))*float64(t.interval))-s.judge.RTT()-s.measured.Dwell)
	s.measured.Interpolation = s.delay.bound(behind, p, t)
}

// Forget ends a TakeLate: the newest command counts again.
func (s *Shooter) Forget() {
	k := &s.kept
	s.late, s.measured, s.claim, s.arrived = false, k.measured, k.claim, k.arrived
	s.offset, s.gave, s.basis, s.verdict = k.offset, k.gave, k.basis, k.verdict
}
