package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/lagcomp"
)

// Hit is what a query of a [HitView] found.
type Hit struct {
	// Entity is the entity that was hit, as a handle of the frame's world.
	Entity ecs.Entity
	// Held is true on a client that drew the target without a value of this frame's snapshots, because
	// they had no room for it. The server may then judge the shot a snapshot earlier or later.
	Held bool
	lagcomp.Hit
}

// HitView runs queries against the world as a player saw it. It is valid within its frame.
// Several goroutines may query it at the same time. Queries leave out the player's own
// entities and, on the server, whatever is hidden from the player. The zero HitView is
// empty: every query misses. So is the view of a player that does not play, and any view in
// the first tick. Only entities with a [Hitbox] can be hit. In a game that declares none,
// the queries panic with a [UsageError], on the server and on clients.
type HitView struct {
	saw game.Sight

	// Reason says how the server treated the time that the player claimed.
	Reason lagcomp.Reason
	// Claimed is the time that the player's client said its screen showed. Used is the
	// time that the queries use. On a client both are the render time of
	// the frame that the view is of.
	Claimed, Used lagcomp.Claim
}

// showing returns the view of what a player saw.
func showing(saw game.Sight) HitView {
	return HitView{saw: saw, Reason: saw.Seen.Reason, Claimed: saw.Seen.Claimed, Used: saw.Seen.Used}
}

// past returns the hitboxes of the view. In a game without hitboxes it panics, because every query
// would miss.
func (s *HitView) past() lagcomp.Past {
	if s.saw.Bare {
		misuse.Panicf("foretick: Rewind is asked what was hit in a game without hitboxes: give what can be hit one in Protocol, with Hitbox or Hitboxes")
	}
	return s.saw.Seen.Past
}

func (s *HitView) hit(h lagcomp.Hit, ok bool) (Hit, bool) {
	if !ok {
		return Hit{}, false
	}
	out := Hit{Entity: ecs.Entity(h.ID), Hit: h}
	if s.saw.Record != nil {
		out.Life = s.saw.Record.Life(h.ID)
	}
	if s.saw.Screen != nil {
		out.Held = s.saw.Screen.DrawnApart(h.ID)
	}
	return out, true
}

// Raycast finds the nearest hitbox along a ray, within its Range. Walls that never move
// have no hitboxes: shorten the Range to where it meets one.
func (s HitView) Raycast(r lagcomp.Ray) (Hit, bool) {
	return s.hit(s.past().Raycast(r, s.saw.Seen.Filter))
}

// SphereCast finds the first hitbox that a ball touches as it moves along a ray. Distance
// is the distance that the ball's centre moved.
func (s HitView) SphereCast(r lagcomp.Ray, radius float32) (Hit, bool) {
	return s.hit(s.past().SphereCast(r, radius, s.saw.Seen.Filter))
}

// Nearest finds the hitbox nearest to a point, no further away than max. With 0 it finds
// one that contains the point.
func (s HitView) Nearest(at lagcomp.Vec, max float32) (Hit, bool) {
	return s.hit(s.past().Nearest(at, max, s.saw.Seen.Filter))
}

// Overlap appends to out one hit for each entity that a ball touches: the entity's hitbox
// nearest to the centre of the ball. Pass an out with room to avoid allocating.
func (s HitView) Overlap(ball lagcomp.Sphere, out []Hit) []Hit {
	var room [16]lagcomp.Hit
	for _, h := range s.past().Overlap(ball, s.saw.Seen.Filter, room[:0]) {
		hit, _ := s.hit(h, true)
		out = append(out, hit)
	}
	return out
}

// CheckHit checks a target that a client claims to have hit. It reports whether the ray
// meets the target's hitboxes before any other hitbox. Walls are the caller's: see Raycast.
func (s HitView) CheckHit(target ecs.Entity, r lagcomp.Ray) (Hit, bool) {
	return s.hit(s.past().Validate(uint64(target), r, s.saw.Seen.Filter))
}

// Hitbox returns hitbox i of an entity as it was seen, in the order of the declarations. i
// counts from 0. It returns false when the entity has no such hitbox, or when no query of
// this view can hit the entity. That is so for the player's own entities, for entities
// hidden from the player or left out by Only or Except, and for those that died or
// teleported since.
func (s HitView) Hitbox(e ecs.Entity, i int) (lagcomp.Hitbox, bool) {
	return s.saw.Seen.Past.Hittable(uint64(e), i, s.saw.Seen.Filter)
}

// ComponentAt returns a component's value as the view shows it. On a server that is the
// value in the past, of a component given to [TrackHistory], without its entity
// references. On a client it is the value on the screen. It returns false when the entity
// was not there, may not be hit, or has no such component.
func ComponentAt[T any](s HitView, c *ecs.Component[T], e ecs.Entity) (v T, ok bool) {
	if s.saw.Screen != nil {
		w, own := s.saw.Screen.DrawnWorld()
		if at := c.Find(w, e); at != nil && w.Owner(e) != own {
			v = *at // a field that the frame did not have is on the screen as it is in the row
			if x, ok := s.saw.Screen.ShownThen(s.saw.Ahead, s.saw.Whole, e, c.ID()); ok {
				x.Schema.Interpolate(x.Audience, x.Knots, x.Grid, x.Refs, unsafe.Pointer(&v))
			}
			return v, true
		}
		return v, false
	}
	if !s.saw.Seen.Valid() || s.saw.Seen.Filter.Visible != nil && !s.saw.Seen.Filter.Visible(uint64(e)) {
		return v, false
	}
	for _, t := range s.saw.Tracks {
		if t.ID == c.ID() {
			return v, s.saw.Seen.Component(uint64(e), t.Component, unsafe.Pointer(&v))
		}
	}
	return v, false
}

// Only returns the same view with no targets but those named. Calls add up: of two, only
// the targets that both name are left.
func (s HitView) Only(targets ...ecs.Entity) HitView {
	before := s.saw.Seen.Filter.Visible
	s.saw.Seen.Filter.Visible = func(id lagcomp.ID) bool {
		for _, t := range targets {
			if uint64(t) == id {
				return before == nil || before(id)
			}
		}
		return false
	}
	return s
}

// Except returns the same view without the targets named. Calls add up.
func (s HitView) Except(targets ...ecs.Entity) HitView {
	before := s.saw.Seen.Filter.Visible
	s.saw.Seen.Filter.Visible = func(id lagcomp.ID) bool {
		for _, t := range targets {
			if uint64(t) == id {
				return false
			}
		}
		return before == nil || before(id)
	}
	return s
}

// Explain judges a shot again and returns the details as data. It lists every entity that came within
// margin of the line of fire: its position as the shooter reports to have seen it, the position that
// the server judged by, and its present position. It works on the server only; on a client the
// Explanation is zero. It allocates.
func (s HitView) Explain(r lagcomp.Ray, margin float32) lagcomp.Explanation {
	if s.past(); !s.saw.Seen.Valid() {
		return lagcomp.Explanation{}
	}
	return s.saw.Seen.Explain(r, margin)
}

// Behind returns the ticks from the view's moment to the present, for entities that are
// drawn in the past. (Those drawn ahead are seen about a tick before the present.) Show it
// to a target that was hit after it had taken cover. Pass it to [Frame.RewindBehind] to
// fly a projectile that keeps its shooter's delay. It is 0 on a client, and of an empty
// view.
func (s HitView) Behind() float32 {
	if !s.saw.Seen.Valid() {
		return 0
	}
	return s.Used.Behind(s.saw.Tick)
}

// CatchUp moves a projectile that was fired into this view up to the present, one tick
// after the other, and returns the first hit. Each tick of flight uses the world of one
// tick later. Only whole ticks are flown. shot then has the position and velocity of the
// end of that flight. behind is the number of ticks that it is still short of the present:
// at least 1 and less than 2, or more after a hit on the way. For an empty view it is 0.
// Pass behind to [Frame.RewindBehind] to continue the flight. The Distance of the hit
// counts from the start of the flight. On a client the projectile stays where it is, and
// behind is 0.
//
// Entities that are drawn ahead (see [PredictRemote]) need no catching up: the view has
// them in the present already, and the projectile hits them there. A projectile that was
// caught up reaches them sooner than on its shooter's screen, by the ticks that it gained.
// In a game that draws others ahead, let projectiles keep their shooter's delay.
func (s HitView) CatchUp(shot *lagcomp.Projectile) (behind float32, hit Hit, ok bool) {
	if s.past(); !s.saw.Seen.Valid() {
		return 0, Hit{}, false
	}
	behind, h, ok := s.saw.Seen.CatchUp(shot)
	hit, ok = s.hit(h, ok)
	return behind, hit, ok
}

// Advance moves a projectile for dt seconds through this view and returns the first hit.
// The projectile stops there. dt is usually a tick ([Frame] has DT). Both ends call it in
// each tick of the flight. On the server, use the view of [Frame.Rewind] in the tick that
// fires the projectile, and that of [Frame.RewindBehind] in later ticks. Give RewindBehind
// the Behind of the first view, or the one that CatchUp returned.
func (s HitView) Advance(shot *lagcomp.Projectile, dt float32) (Hit, bool) {
	return s.hit(s.past().Fly(shot, dt, s.saw.Seen.Filter))
}

// Rewind returns the world as a player saw it when it gave the command of this tick. On the
// server that is the past at the time that the player's screen showed. It is limited to the
// rewind that the server allows, and interpolated between the snapshots that this client
// had. On a client it is the content of the local screen then.
//
// A hitscan weapon raises an event in a Shared system and asks in its handler:
//
//	g.Shot.Raise(f, rows.Entity(i), Shot{Ray: lagcomp.Ray2D(pos.X, pos.Y, cmd.Aim, 100)}) // in "shoot", on both ends
//
//	g.Shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, s Shot) {
//		if hit, ok := f.Rewind(by.Player).Raycast(s.Ray); ok {
//			g.Health.Get(f.World, hit.Entity).Points -= 10
//		}
//	}, ecs.WriteOther(&g.Health))
//
// On the server the fields of the event come from the server's own run of the system, never
// from the client. The entity of a hit was alive at the end of the tick before. In a game
// that may have destroyed it since, in this tick, use [ecs.Component.Find] instead of Get.
//
// The two ends see different worlds. Use it in Server systems, [Event.OnServer] and
// [Event.OnPredicted]. In a Shared system it panics with [UsageError] on both ends, and so
// do Present, RewindBehind and RewindTo. Shared systems for prefabs with [SpawnConfig].ClientOnly are
// the exception: nothing of their projectiles is compared, so both ends may ask.
//
// An entity without a hitbox now cannot be hit in the past either: it was destroyed, or its [Hitbox]
// has the radius 0 because it just died.
//
// The view of a player that does not play is empty. That is counted in
// stats.Server.ViewsOfNobody and logged; use [Frame.Present].
func (f *Frame) Rewind(by PlayerID) HitView {
	f.run.Shared.RefuseView()
	return showing(f.in().Viewer.Rewind(by))
}

// Present returns the world of the newest complete tick, the one before this. Use it for
// weapons that no player aims: a mine, a turret, an NPC, the grenade of a player who left.
// On the server it has the entities of every player, also of the one that fires: name those that
// must not be hit with [HitView.Except]. On a client it is what its screen shows, without its own
// entities.
func (f *Frame) Present() HitView {
	f.run.Shared.RefuseView()
	return showing(f.in().Viewer.Present())
}

// RewindBehind returns the world of an age in ticks before the present. It is for a projectile that
// was caught up, or that keeps its shooter's delay for its whole flight: see
// [HitView.CatchUp] and [HitView.Behind]. Moments that the player's screen has shown are
// interpolated as its screen was, so that RewindBehind and Rewind agree on the same moment.
// Later ones are interpolated between the server's ticks. The server's MaxRewind limits it
// like any shot. An age below 1, or NaN, means the newest complete tick.
//
// Entities that are drawn ahead are at the place where the player sees them in this tick,
// at any age. On a client it is the same as Rewind. Each further moment between two
// ticks takes the time of a first Rewind.
func (f *Frame) RewindBehind(by PlayerID, age float32) HitView {
	f.run.Shared.RefuseView()
	return showing(f.in().Viewer.RewindBehind(by, age))
}
