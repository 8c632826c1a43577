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

// Seen answers queries against the world as a player saw it. It is valid
// within its frame, and several may be asked in parallel. The player's own
// entities are left out, and on the server whatever is hidden from the player.
// The zero Seen is empty: every query misses. Only entities with a [Volume] can
// be hit.
type Seen struct {
	past   lagcomp.Past
	base   lagcomp.Past // the same moment of the server's own history, for tracks
	filter lagcomp.Filter
	valid  bool
	server *Server
	client *Client
	player *player // whose client had entities put off: each is seen between ticks of its own

	// Reason says how the server treated the time that the player claimed.
	Reason lagcomp.Reason
	// Claimed is the time that the player's client said its screen showed, and
	// Used the one that the queries are answered for. Both are zero on a client.
	Claimed, Used lagcomp.Claim
}

func (s Seen) hit(h lagcomp.Hit, ok bool) (Hit, bool) {
	if !ok {
		return Hit{}, false
	}
	out := Hit{Entity: ecs.Entity(h.ID), Hit: h}
	if s.server != nil {
		out.Epoch = s.server.epochOf(h.ID)
	}
	if s.client != nil {
		out.Held = s.client.held(h.ID)
	}
	return out, true
}

// Raycast finds the nearest volume along a ray.
func (s Seen) Raycast(r lagcomp.Ray) (Hit, bool) {
	return s.hit(s.past.Raycast(r, s.filter))
}

// SphereCast finds the first volume that a ball touches on its way along a ray.
func (s Seen) SphereCast(r lagcomp.Ray, radius float32) (Hit, bool) {
	return s.hit(s.past.SphereCast(r, radius, s.filter))
}

// Nearest finds the volume nearest to a point, no further away than max.
func (s Seen) Nearest(at lagcomp.Vec, max float32) (Hit, bool) {
	return s.hit(s.past.Nearest(at, max, s.filter))
}

// Overlap appends to out one hit for each entity that a ball touches: its
// volume nearest to the centre. Bring an out with room to avoid allocating.
func (s Seen) Overlap(ball lagcomp.Sphere, out []Hit) []Hit {
	var room [16]lagcomp.Hit
	for _, h := range s.past.Overlap(ball, s.filter, room[:0]) {
		hit, _ := s.hit(h, true)
		out = append(out, hit)
	}
	return out
}

// Validate checks a claimed target: whether the ray meets it before anything
// else.
func (s Seen) Validate(target ecs.Entity, r lagcomp.Ray) (Hit, bool) {
	return s.hit(s.past.Validate(uint64(target), r, s.filter))
}

// Volume is volume i of an entity as it was seen, in the order in which its
// declarations gave them; false when it has none such or may not be touched.
func (s Seen) Volume(e ecs.Entity, i int) (lagcomp.Volume, bool) {
	return s.past.View(s.filter).Volume(uint64(e), i)
}

// Only is the same view with no targets but those named.
func (s Seen) Only(targets ...ecs.Entity) Seen {
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

// Past is the history behind the queries, for those that Seen has no method
// for; false when nothing was recorded yet. It knows nothing of what is hidden.
func (s Seen) Past() (lagcomp.Past, bool) { return s.past, s.valid }

// Explain judges a shot once more and lays it open as data, with every entity
// that came within margin of the line of fire: where its shooter said to see
// it, where it was judged, and where it was. Only a server can; on a client the
// Explanation is zero. It allocates.
func (s Seen) Explain(r lagcomp.Ray, margin float32) lagcomp.Explanation {
	if s.server == nil || !s.valid {
		return lagcomp.Explanation{}
	}
	x := s.server.history.Explain(r, s.Claimed, s.Used, s.Reason, s.filter, margin)
	x.Hit, _ = s.past.Raycast(r, s.filter)
	for i := range x.Bodies {
		x.Bodies[i].Used = s.past.Volumes(x.Bodies[i].ID, nil)
	}
	return x
}

// Behind is how many ticks before the present the view lies: what a target may be
// told, when it asks how it was hit behind the wall, and what a projectile
// that keeps its shooter's delay is flown with, see [Frame.SeenBehind].
func (s Seen) Behind() float32 {
	if s.server == nil || !s.valid {
		return 0
	}
	return s.Used.Behind(s.server.frame.Tick)
}

// CatchUp moves a projectile that was fired into this view up to the present,
// tick by tick, each stretch through the world of its tick, and answers the
// first hit. On a client it stays where it is.
func (s Seen) CatchUp(shot *lagcomp.Projectile) (Hit, bool) {
	if s.server == nil || !s.valid {
		return Hit{}, false
	}
	now, ok := s.server.history.Newest()
	if !ok {
		return Hit{}, false
	}
	return s.hit(s.server.history.CatchUp(shot, s.Used, now, s.filter))
}

// Fly moves a projectile for dt seconds, of a tick mostly ([Frame] has DT), through
// this view.
func (s Seen) Fly(shot *lagcomp.Projectile, dt float32) (Hit, bool) {
	return s.hit(s.past.Fly(shot, dt, s.filter))
}

// Seen is the world as a player saw it when it gave the command of this tick:
// on the server the past, at the time that the player's screen showed, within
// what the server allows; on a client what was on its own screen then. It is
// interpolated between the snapshots that this client had. So the two ends see
// different things, and it belongs in Server systems, [OnServer] and [OnPredicted],
// not in what a Shared system computes.
func (f *Frame) Seen(by ecs.Owner) Seen {
	if f.server != nil {
		return f.server.seen(by)
	}
	return f.client.seen(f.Tick)
}

// Invoke runs a check of the game's own in the world as a player saw it, with
// no targets but those named, or with all if targets is nil. Nothing moves: the
// check asks the view where its targets were. The view must not be kept.
func (f *Frame) Invoke(by ecs.Owner, targets []ecs.Entity, check func(Seen)) {
	s := f.Seen(by)
	if targets != nil {
		s = s.Only(targets...)
	}
	check(s)
}

// SeenBehind is the world some ticks before the present, for a projectile that
// keeps its shooter's delay for its whole flight; see [Seen.Behind]. What it
// reaches is bounded like any shot's, by the server's MaxRewind. On a client it
// is Seen.
func (f *Frame) SeenBehind(by ecs.Owner, ticks float32) Seen {
	if f.server != nil {
		return f.server.seenBehind(by, ticks)
	}
	return f.client.seen(f.Tick)
}
