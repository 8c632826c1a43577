package main

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/lagcomp"
)

// shots matches the shots on the shooters' screens with the server's verdicts. Both ends run in one
// process, but neither uses data of the other.
type shots struct {
	seen   map[shotKey]seenShot
	server [][]serverTick // records by owner and tick
	order  []shotKey
	died   map[foretick.PlayerID][]foretick.Tick // ticks in which a player died, in order
	told   []toldHurt
	kind   map[foretick.PlayerID]*Shots // counts by shooter, for -transport all
}

type shotKey struct {
	player foretick.PlayerID
	tick   foretick.Tick
}

// seenShot is a predicted shot on its shooter's screen.
type seenShot struct {
	hit    bool
	target foretick.PlayerID // 0: none
	at     lagcomp.Sphere
	back   float64 // milliseconds from the shown time to the firing tick
	render foretick.Tick
}

// toldHurt is the report of a hit to its victim.
type toldHurt struct {
	player foretick.PlayerID
	tick   foretick.Tick
	game.Hurt
}

// serverTick is the shooter's state on the server when the tick's command ran.
type serverTick struct {
	dead, stunned, ammo, cooldown bool // reasons why the gun could not fire
	judged                        bool
	hit                           bool
	target                        foretick.PlayerID
}

// newShots allocates the records of a match of that many clients and ticks in advance. So recording
// does not count among the server's allocations.
func newShots(clients, ticks int) *shots {
	s := &shots{seen: map[shotKey]seenShot{}, died: map[foretick.PlayerID][]foretick.Tick{}}
	for range clients + 1 {
		s.server = append(s.server, make([]serverTick, ticks))
	}
	return s
}

// at returns the record of a player's tick; nil beyond the allocated range.
func (s *shots) at(k shotKey) *serverTick {
	if int(k.player) >= len(s.server) || int(k.tick) >= len(s.server[k.player]) {
		return nil
	}
	return &s.server[k.player][k.tick]
}

// fired records a shot on a shooter's screen.
func (s *shots) fired(k shotKey, shot seenShot) {
	if _, ok := s.seen[k]; !ok {
		s.order = append(s.order, k)
	}
	s.seen[k] = shot
}

// before records the state of each body before its gun works.
func (s *shots) before(g *game.Game, f *foretick.Frame, rows ecs.Rows) {
	status, gun, cmd := g.Status.Slice(rows), g.Gun.Slice(rows), g.Cmd.Slice(rows)
	for i := range status {
		t := s.at(shotKey{rows.Owner(), f.Tick})
		if t == nil {
			continue
		}
		*t = serverTick{
			dead: status[i].Dead, stunned: status[i].Stun > 0,
			ammo:     gun[i].Ammo == 0 || gun[i].Reload > 1 || gun[i].Kind != cmd[i].Weapon && gun[i].Cooldown > 1,
			cooldown: gun[i].Cooldown > 1,
		}
	}
}

// judged records the server's verdict on a shot.
func (s *shots) judged(f *foretick.Frame, by foretick.PlayerID, _ lagcomp.Ray, hit ecs.Entity, ok bool) {
	if t := s.at(shotKey{by, f.Tick}); t != nil {
		t.judged, t.hit, t.target = true, ok, f.World.Owner(hit)
	}
}

// undo removes the deaths of tick t and later ones, which run again. The records of guns need no undo:
// before overwrites them, for dead bodies too.
func (s *shots) undo(t foretick.Tick) {
	for player, list := range s.died {
		s.died[player] = before(list, t)
	}
}

// settle fills in the report's counts.
func (s *shots) settle(r *Report) {
	r.ShotsVoidByReason = map[string]int{"dead": 0, "stunned": 0, "ammo": 0, "cooldown": 0, "target": 0}
	for _, k := range s.order {
		seen, srv := s.seen[k], serverTick{}
		if t := s.at(k); t != nil {
			srv = *t
		}
		r.Shots++
		if !seen.hit {
			if srv.judged && srv.hit {
				r.ShotsConfirmedUnseen++
			}
			continue
		}
		kind := s.kind[k.player]
		if kind == nil {
			kind = &Shots{}
		}
		r.ShotsHitOnScreen++
		kind.ShotsHitOnScreen++
		if why := s.void(k, seen, srv); why != "" {
			r.ShotsVoid++
			kind.ShotsVoid++
			r.ShotsVoidByReason[why]++
			continue
		}
		if srv.judged && srv.hit && srv.target == seen.target {
			r.ShotsConfirmed++
			kind.ShotsConfirmed++
		}
	}
}

// void returns why the server could not have confirmed a shot, or "" if it could.
func (s *shots) void(k shotKey, seen seenShot, srv serverTick) string {
	switch {
	case srv.dead:
		return "dead"
	case srv.stunned:
		return "stunned"
	case srv.judged:
	case srv.ammo:
		return "ammo"
	case srv.cooldown:
		return "cooldown"
	}
	for _, t := range s.died[seen.target] {
		// A body that died between the moment that was seen and the verdict is
		// dead, or has respawned elsewhere.
		if int32(t-seen.render) >= 0 && int32(t-k.tick) <= 0 {
			return "target"
		}
	}
	return ""
}

// tellings counts the reports of hits that victims received, and how often they have the time and place
// on the shooter's screen.
func (s *shots) tellings(r *Report) {
	sum := 0
	for _, h := range s.told {
		r.HitsHeard++
		if h.Gun == game.Launcher {
			continue
		}
		r.HitsRewound++
		sum += int(h.Rewound)
		shot := s.seen[shotKey{foretick.PlayerID(h.By), h.tick}]
		if shot.hit && shot.target == h.player && near(shot.at.X, h.X) && near(shot.at.Y, h.Y) && math.Abs(shot.back-float64(h.Rewound)) <= 2 {
			r.HitsWhereSeen++
		}
	}
	r.RewoundMean = float64(sum) / float64(max(r.HitsRewound, 1))
}

// near reports whether two coordinates are equal within the step used for
// sending.
func near(a, b float32) bool { return math.Abs(float64(a-b)) <= 0.011 }
