package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// Hit is what a query into the world as a player saw it found.
type Hit struct {
	// Entity that was hit, as the world of the frame names it.
	Entity ecs.Entity
	// Held, on a client alone: for lack of bandwidth the target had been put off
	// in a snapshot that the picture rests on, and was shown by older or later
	// values, beyond its newest one perhaps. The server judges it between the
	// values that this client had, but may be one of them off.
	Held bool
	lagcomp.Hit
}

// HitView answers queries against the world as a player saw it. It is valid
// within its frame, and several may be asked in parallel. The player's own
// entities are left out, and on the server whatever is hidden from the player.
// The zero Seen is empty, and so is that of a player who is not there, or of a
// first tick: every query misses. Only entities with a [Hitbox] can be hit, and in
// a game that declares none the queries panic with [UsageError], at whichever end.
type HitView struct {
	past   lagcomp.Past
	filter lagcomp.Filter
	valid  bool
	server *Server
	client *Client
	by     *player // whose view it is, on a server
	player *player // whose client had entities put off: each is seen between ticks of its own
	bare   bool    // the game declares no volume: whoever queries has forgotten them
	ahead  keys    // the ticks that what is shown ahead is seen between; zero: nothing is, or, on a client, in a render system
	whole  keys    // the ticks that the others are seen between; on a client the time

	// Reason says how the server treated the time that the player claimed.
	Reason lagcomp.Reason
	// Claimed is the time that the player's client said its screen showed, and
	// Used the one that the queries are answered for. On a client both are the render
	// time of the frame that the view is of.
	Claimed, Used lagcomp.Claim
}

// reach refuses to look for what cannot be there, rather than miss for ever.
func (s HitView) reach() lagcomp.Past {
	if s.bare {
		misuse("Rewind is asked what was hit in a game without hitboxes: give what can be hit one in Protocol, with Hitbox, Hitbox2 or Hitboxes")
	}
	return s.past
}

func (s HitView) hit(h lagcomp.Hit, ok bool) (Hit, bool) {
	if !ok {
		return Hit{}, false
	}
	out := Hit{Entity: ecs.Entity(h.ID), Hit: h}
	if s.server != nil {
		out.Life = s.server.epochOf(h.ID)
	}
	if s.client != nil {
		out.Held = s.client.held(h.ID)
	}
	return out, true
}

// Raycast finds the nearest volume along a ray, as far as its Range. Walls that
// never move are no volumes: cut the Range where it meets one.
func (s HitView) Raycast(r lagcomp.Ray) (Hit, bool) {
	return s.hit(s.reach().Raycast(r, s.filter))
}

// SphereCast finds the first volume that a ball touches on its way along a ray;
// Distance is how far its centre had moved.
func (s HitView) SphereCast(r lagcomp.Ray, radius float32) (Hit, bool) {
	return s.hit(s.reach().SphereCast(r, radius, s.filter))
}

// Nearest finds the volume nearest to a point, no further away than max; 0 finds
// what contains the point.
func (s HitView) Nearest(at lagcomp.Vec, max float32) (Hit, bool) {
	return s.hit(s.reach().Nearest(at, max, s.filter))
}

// Overlap appends to out one hit for each entity that a ball touches: its
// volume nearest to the centre. Bring an out with room to avoid allocating.
func (s HitView) Overlap(ball lagcomp.Sphere, out []Hit) []Hit {
	var room [16]lagcomp.Hit
	for _, h := range s.reach().Overlap(ball, s.filter, room[:0]) {
		hit, _ := s.hit(h, true)
		out = append(out, hit)
	}
	return out
}

// CheckHit checks a claimed target: whether the ray meets it before anything
// else.
func (s HitView) CheckHit(target ecs.Entity, r lagcomp.Ray) (Hit, bool) {
	return s.hit(s.reach().Validate(uint64(target), r, s.filter))
}

// Hitbox is volume i of an entity as it was seen, in the order in which its
// declarations gave them; false when it has none such or may not be touched.
func (s HitView) Hitbox(e ecs.Entity, i int) (lagcomp.Hitbox, bool) {
	return s.past.View(s.filter).Hitbox(uint64(e), i)
}

// Only is the same view with no targets but those named.
func (s HitView) Only(targets ...ecs.Entity) HitView {
	before := s.filter.Visible
	s.filter.Visible = func(id lagcomp.ID) bool {
		for _, t := range targets {
			if uint64(t) == id {
				return before == nil || before(id)
			}
		}
		return false
	}
	return s
}

// Except is the same view without those named.
func (s HitView) Except(targets ...ecs.Entity) HitView {
	before := s.filter.Visible
	s.filter.Visible = func(id lagcomp.ID) bool {
		for _, t := range targets {
			if uint64(t) == id {
				return false
			}
		}
		return before == nil || before(id)
	}
	return s
}

// Past is the history behind the queries, for those that Seen has no method
// for; false when nothing was recorded yet. It knows nothing of what is hidden, and
// that of RewindBehind nothing of what is shown ahead.
func (s HitView) Past() (lagcomp.Past, bool) { return s.past, s.valid }

// Explain judges a shot once more and lays it open as data, with every entity
// that came within margin of the line of fire: where its shooter said to see
// it, where it was judged, and where it was. Only a server can; on a client the
// Explanation is zero. It allocates.
func (s HitView) Explain(r lagcomp.Ray, margin float32) lagcomp.Explanation {
	if s.reach(); s.server == nil || !s.valid {
		return lagcomp.Explanation{}
	}
	x := s.server.history.Explain(r, s.Claimed, s.Used, s.Reason, s.filter, margin)
	if s.by != nil && s.by.behind != 0 {
		s.explainAhead(&x, r, margin)
	}
	x.Hit, _ = s.past.Raycast(r, s.filter)
	for i := range x.Bodies {
		x.Bodies[i].Used = s.past.Hitboxes(x.Bodies[i].ID, nil)
	}
	return x
}

// Behind is how many ticks before the present the view lies, in what is drawn in the
// past (what is shown ahead is seen about a tick before it): what a target may be told,
// when it asks how it was hit behind the wall, and what a projectile that keeps its
// shooter's delay is flown with, see [Frame.RewindBehind]. Zero on a client, and of an
// empty view.
func (s HitView) Behind() float32 {
	if s.server == nil || !s.valid {
		return 0
	}
	return s.Used.Behind(s.server.frame.Tick)
}

// CatchUp moves a projectile that was fired into this view up to the present, one
// tick after the other, each through the world of that much later, and answers the
// first hit. Only whole ticks are flown; behind, from 1 to 2, is how many ticks
// before the present it has come to, for [Frame.RewindBehind] to fly it on with. On a
// client it stays where it is, and behind is 0.
//
// What is shown ahead (see [PredictRemote]) needs no catching up: it is met where the view
// has it, which is in the present already, and one that was caught up comes to it
// sooner than on its shooter's screen, by the ticks that it has gained. In a game that
// shows others so, let a projectile keep its shooter's delay.
func (s HitView) CatchUp(shot *lagcomp.Projectile) (behind float32, hit Hit, ok bool) {
	if s.reach(); s.server == nil || !s.valid {
		return 0, Hit{}, false
	}
	f := s.filter
	f.Life = nil // which counts the lives of the player's own picture, not of the history
	if s.ahead.a != 0 {
		at, hit, ok := s.catchUp(shot, f)
		return at.Behind(s.server.frame.Tick), hit, ok
	}
	at, h, ok := s.server.history.CatchUp(shot, s.Used, s.server.newest(), f)
	hit, ok = s.hit(h, ok)
	return at.Behind(s.server.frame.Tick), hit, ok
}

// Advance moves a projectile for dt seconds, of a tick mostly ([Frame] has DT), through
// this view, and answers what it met: there it stops. Both ends do so in each tick of
// its flight. On the server the view is Seen in the tick that fires it, and RewindBehind
// in those that follow, with the Behind that Seen had, or what CatchUp has left of it.
func (s HitView) Advance(shot *lagcomp.Projectile, dt float32) (Hit, bool) {
	return s.hit(s.reach().Fly(shot, dt, s.filter))
}

// Rewind is the world as a player saw it when it gave the command of this tick:
// on the server the past, at the time that the player's screen showed, within
// what the server allows; on a client what was on its own screen then. It is
// interpolated between the snapshots that this client had. So the two ends see
// different things, and it belongs in Server systems, [Event.OnServer] and [Event.OnPredicted],
// not in what a Shared system computes. For who does not play it is empty: that is
// counted in ServerStats.ViewsOfNobody, and logged; use [Frame.Present]. The exception is what flies by the policy
// [ClientOnly], of which nothing is compared: one body asks it on both ends.
func (f *Frame) Rewind(by PlayerID) HitView {
	if f.server != nil {
		return f.server.p.bared(f.server.seen(by))
	}
	return f.client.p.bared(f.client.seen(f.Tick))
}

// Present is the world of the newest complete tick, the one before this, for what no
// player aims: a mine, a turret, an NPC, the grenade of a player who left. Nobody is
// left out, whoever owns what asks: name with [Seen.Except] what is not to be hit. On
// a client it is what its screen shows, which its own entities are no part of.
func (f *Frame) Present() HitView {
	if f.server != nil {
		return f.server.p.bared(f.server.present())
	}
	return f.client.p.bared(f.client.seen(f.Tick))
}

// bared marks a view of a game in which nothing can be hit.
func (p *Protocol) bared(s HitView) HitView {
	s.bare = len(p.hitboxes) == 0
	return s
}

// Invoke runs a check of the game's own in the world as a player saw it, with
// no targets but those named, or with all if targets is nil. Nothing moves: the
// check asks the view where its targets were. The view must not be kept.
func (f *Frame) Invoke(by PlayerID, targets []ecs.Entity, check func(HitView)) {
	s := f.Rewind(by)
	if targets != nil {
		s = s.Only(targets...)
	}
	check(s)
}

// RewindBehind is the world some ticks before the present, for a projectile that was
// caught up, or that keeps its shooter's delay for its whole flight; see
// [HitView.CatchUp] and [Seen.Behind]. What it reaches is bounded like any shot's, by
// the server's MaxRewind; ticks below 1, and what is not a number, are the newest
// tick that is complete. What is shown ahead is where the player sees it in this very
// tick, whatever the delay of the rest. On a client it is Seen.
func (f *Frame) RewindBehind(by PlayerID, ticks float32) HitView {
	if f.server != nil {
		return f.server.p.bared(f.server.seenBehind(by, ticks))
	}
	return f.Rewind(by)
}
