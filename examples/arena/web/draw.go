package web

import (
	"math"
	"slices"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
)

func one(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// draw makes the draw list of a frame.
func (s *Session) draw(now time.Time, frozen bool) {
	l := &s.numbers
	l.begin()
	h := l.numbers
	h[headState], h[headPlayer], h[headField] = float32(s.view.State), float32(s.view.Player), game.Field
	h[headX], h[headY], h[headTick] = s.x, s.y, float32(s.view.Tick)
	h[headStalled], h[headFrozen], h[headSpike] = one(s.view.Stalled), one(frozen), one(!s.spikeUntil.IsZero())
	if past := now.Sub(s.hurtAt); past < hurtFor {
		h[headHurt] = 1 - float32(past)/float32(hurtFor)
	}
	for _, w := range game.Walls {
		l.add(kindWall, w.X0, w.Y0, w.X1, w.Y1)
	}
	if s.view.State != client.Playing {
		return
	}
	s.drawTracers(now)
	g := s.game
	for _, rows := range g.Flights.All(s.view.World) {
		pos, face := g.Pos.Slice(rows), g.Face.Slice(rows)
		for i := range pos {
			l.add(kindBolt, pos[i].X, pos[i].Y, face[i].Angle)
		}
	}
	for _, rows := range g.Avatars.All(s.view.World) {
		s.drawBodies(rows, h)
	}
	s.drawGhosts()
	s.drawShot(now)
}

func (s *Session) drawBodies(rows ecs.Rows, h []float32) {
	g, own := s.game, rows.Owner() == s.view.Player
	pos, face, status := g.Pos.Slice(rows), g.Face.Slice(rows), g.Status.Slice(rows)
	hp, team := g.HP.Slice(rows), g.Team.Slice(rows)
	for i := range pos {
		flags := float32(0)
		if status[i].Dead {
			flags += flagDead
		}
		if status[i].Stun > 0 {
			flags += flagStunned
		}
		health := float32(hp[i].Points) / 100
		if own {
			flags += flagOwn
			w := g.Gun.Slice(rows)[i]
			h[headHealth], h[headAmmo], h[headGun], h[headFlags] = health, float32(w.Ammo), float32(w.Kind), flags
			h[headReload] = min(max(float32(w.Cooldown), float32(w.Reload))/20, 1)
		}
		s.numbers.add(kindBody, pos[i].X, pos[i].Y, face[i].Angle, float32(team[i].ID), health, flags, float32(rows.Owner()))
	}
}

func (s *Session) drawTracers(now time.Time) {
	s.tracers = slices.DeleteFunc(s.tracers, func(t tracer) bool { return now.Sub(t.at) > tracerFor })
	for _, t := range s.tracers {
		s.numbers.add(kindTracer, t.x, t.y, t.x2, t.y2, float32(now.Sub(t.at))/float32(tracerFor), one(t.own))
	}
}

// drawGhosts draws bodies where the server has them, and where the newest snapshots have them.
func (s *Session) drawGhosts() {
	l, me := &s.numbers, s.view.Player
	if at := &s.server.ticks[s.server.newest%truthTicks]; at.tick == s.server.newest {
		for _, b := range at.bodies {
			which := float32(ghostOthersNow)
			if b.Player == me {
				which = ghostOwnNow
			}
			if !b.Dead {
				l.add(kindGhost, b.X, b.Y, game.BodyRadius, which, float32(b.Player))
			}
		}
	}
	for _, rows := range s.game.Avatars.All(s.view.World) {
		for _, e := range rows.Entities() {
			at, _, ok := client.Received(s.client, &s.game.Pos, e)
			if !ok {
				continue
			}
			which := float32(ghostOthers)
			if rows.Owner() == me {
				which = ghostOwnTold
			}
			l.add(kindGhost, at.X, at.Y, game.BodyRadius, which, float32(rows.Owner()))
		}
	}
}

// drawShot draws the player's last shot: the hitboxes on its screen, those that the server judged by,
// and those of the server's present.
func (s *Session) drawShot(now time.Time) {
	l, shot, truth := &s.numbers, s.shot.shown, s.shot.truth
	if shot == nil || now.Sub(shot.at) > shotFor {
		return
	}
	l.add(kindLine, shot.x, shot.y, shot.x2, shot.y2, one(truth.Hit != 0))
	for _, b := range shot.saw {
		if shot.near(b.X, b.Y) {
			l.add(kindRing, b.X, b.Y, b.R, ringSaw)
		}
	}
	for _, b := range truth.Used {
		l.add(kindRing, b.X, b.Y, b.R, ringUsed)
	}
	for _, b := range truth.Had {
		l.add(kindRing, b.X, b.Y, b.R, ringHad)
	}
}

// nearShot is the distance from the line of fire up to which hitboxes are drawn, in metres.
const nearShot = 3

func (l *firedShot) near(x, y float32) bool {
	dx, dy := float64(l.x2-l.x), float64(l.y2-l.y)
	px, py := float64(x-l.x), float64(y-l.y)
	along := 0.0
	if d := dx*dx + dy*dy; d > 0 {
		along = min(max((px*dx+py*dy)/d, 0), 1)
	}
	return math.Hypot(px-along*dx, py-along*dy) <= nearShot
}
