package simtest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Components that generated games have from round 6 on, each in one game of three.
type (
	madeWild struct {
		A float32
		B float64
		C [2]float32
	}
	madeTag  struct{}
	madeHush struct {
		N uint8 `net:"-"`
	}
	madeScore struct {
		N    uint32
		Best float32
		Name string `net:"max=8"`
	}
	madeClock struct{ N, Struck uint32 }
)

// madeExtra says which additions of round 6 a game has.
type madeExtra struct {
	wild    int     // the prefab whose entities have infinities, −1 for none
	tamed   bool    // the component with infinities is predicted
	bare    bool    // there are a prefab with only a tag, and one with nothing that is sent
	score   bool    // there is a singleton that only the server writes
	clock   bool    // there is a singleton that shared systems advance
	hands   bool    // entities change their owner
	rises   bool    // players' bodies are destroyed, and others spawned
	speed   float64 // speed of a server that is too slow for a while, 0 for none
	strikes uint32  // ticks from one change of players' components by the clock to the next
}

// extend draws the additions of a game.
func (p *madePlan) extend(r *rand.Rand) {
	some := func() bool { return r.IntN(3) == 0 }
	x := &p.extra
	if x.wild = -1; some() {
		x.wild, x.tamed = r.IntN(3), r.IntN(2) == 0
	}
	x.bare, x.score, x.clock, x.hands, x.rises = some(), some(), some(), some(), some()
	if some() {
		x.speed = 0.5 + 0.4*r.Float64()
	}
	x.strikes = uint32(16 + r.IntN(100))
}

// madeParts are an end's handles for the additions of round 6.
type madeParts struct {
	wild  ecs.Component[madeWild]
	tag   ecs.Component[madeTag]
	hush  ecs.Component[madeHush]
	score ecs.Singleton[madeScore]
	clock ecs.Singleton[madeClock]
	mark  ecs.Prefab // prefab with only a tag
	mute  ecs.Prefab // prefab with nothing that is sent
	tags  *ecs.Query
	mutes *ecs.Query
}

// declare declares the components and prefabs of the additions.
func (x *madeParts) declare(g *made, p *foretick.Protocol) {
	switch {
	case g.extra.wild < 0:
	case g.extra.tamed:
		p.Component(&x.wild, foretick.Predicted(), foretick.FullPrecision())
	default:
		p.Component(&x.wild)
	}
	if g.extra.bare {
		p.Component(&x.tag)
		p.Component(&x.hush)
		p.Prefab(&x.mark, "mark", &x.tag)
		p.Prefab(&x.mute, "mute", &x.hush)
		x.tags, x.mutes = p.Query(ecs.With(&x.tag)), p.Query(ecs.With(&x.hush))
	}
	if g.extra.score {
		p.Singleton(&x.score)
	}
	if g.extra.clock {
		p.Singleton(&x.clock, foretick.Predicted())
	}
}

// wildly returns an ordinary number, or one outside of every tag's range.
func wildly(x uint64) float64 {
	return [...]float64{math.Inf(1), math.Inf(-1), math.NaN(), 1.5, -2.25, 0}[x%6]
}

// systems declares the systems that change the additions.
func (x *madeParts) systems(g *made, p *foretick.Protocol) {
	if g.extra.wild >= 0 {
		s := &madeSystem{share: 24}
		p.Server("spoil", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, all := 0, x.wild.Slice(rows); i < len(all); i++ {
				if n, ok := g.due(f.Frame, s, 90, uint64(rows.Owner())*8+uint64(i)); ok {
					all[i] = madeWild{float32(wildly(n)), wildly(n >> 8), [2]float32{float32(n >> 16 % 9), float32(wildly(n >> 20))}}
					g.happens("infinities")
					if g.extra.tamed {
						g.rule(f.Frame, rows.Owner(), "spoil")
					}
				}
			}
		}, ecs.Write(&x.wild))
	}
	if g.extra.score {
		s := &madeSystem{share: 16}
		p.Server("score", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if n, ok := g.due(f.Frame, s, 91, 0); ok {
				v := x.score.Get(f.World)
				*v = madeScore{v.N + 1, float32(n % 1000), "foretick"[n%8:]}
				g.happens("singletons")
			}
		}, ecs.Once(), ecs.Write(&x.score))
	}
	if g.extra.clock {
		p.Shared("tick", func(f *foretick.Frame, _ ecs.Rows) {
			if f.Tick < g.until {
				x.clock.Get(f.World).N++
			}
		}, ecs.Once(), ecs.Write(&x.clock))
		first := g.shapes[g.has[0][0]]
		p.Shared("strike", func(f *foretick.Frame, rows ecs.Rows) {
			if v := x.clock.Get(f.World); f.Tick < g.until && v.N%g.extra.strikes == 0 {
				for i := range rows.Len() {
					first.turn(rows, i, uint64(v.Struck))
				}
				g.happens("clocks")
			}
		}, ecs.Read(&x.clock), ecs.Write(first.handle()), ecs.With(&g.cmd))
		s := &madeSystem{share: 200}
		p.Server("set clock", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if n, ok := g.due(f.Frame, s, 92, 0); ok {
				v := x.clock.Get(f.World)
				v.N, v.Struck = v.N+uint32(n%50), v.Struck+1
				g.rule(f.Frame, ecs.Nobody, "set clock")
			}
		}, ecs.Once(), ecs.Write(&x.clock))
	}
}

// happens counts something drawn that has happened, on the server.
func (g *made) happens(what string) {
	if g.drawn != nil {
		g.drawn[what]++
	}
}

// further does one of the actions between ticks that exist from round 6 on.
func (a *madeMatch) further(r *rand.Rand) {
	if len(a.seats) == 0 {
		return
	}
	player, f, x := a.seats[r.IntN(len(a.seats))].c.View().Player, a.srv.Frame(), &a.g.extra
	if player == ecs.Nobody {
		return
	}
	did := func(what string, of ...foretick.PlayerID) {
		a.g.happens(what)
		for _, one := range of {
			a.g.ruled(&foretick.Frame{Tick: f.Tick + 1}, one, "(outside of systems)")
		}
	}
	switch k := r.IntN(4); {
	case k == 0 && x.hands:
		pet := a.petOf(player)
		if pet == ecs.None {
			return
		}
		to := ecs.Nobody
		if s := a.seats[r.IntN(len(a.seats))]; r.IntN(3) > 0 {
			to = s.c.View().Player
		}
		if to == player || to != ecs.Nobody && len(a.g.players.Owned(f.World, to)) == 0 || f.World.Transfer(pet, to) != nil {
			return
		}
		delete(a.g.pets, player)
		did("transfers", player, to)
	case k == 1 && x.rises:
		gone := false
		for _, rows := range a.g.players.Owned(f.World, player) {
			for i := rows.Len() - 1; i >= 0; i-- {
				f.Destroy(rows.Entity(i))
				gone = true
			}
		}
		if gone {
			f.Spawn(&a.g.prefabs[0], player)
			did("respawns", player)
		}
	case k == 2 && x.bare:
		a.mark(r, player)
		did("tags alone", player, ecs.Nobody)
	case k == 3 && x.speed > 0 && a.g.drawn["slow servers"] == 0:
		did("slow servers")
		a.slow(x.speed, time.Duration(1000+r.IntN(2000))*time.Millisecond)
	}
}

// mark spawns entities of which only their existence is sent, or removes one.
func (a *madeMatch) mark(r *rand.Rand, player foretick.PlayerID) {
	f := a.srv.Frame()
	for _, rows := range a.g.parts.tags.All(f.World) {
		if r.IntN(4) == 0 {
			a.g.ruled(&foretick.Frame{Tick: f.Tick + 1}, rows.Owner(), "(outside of systems)")
			f.Destroy(rows.Entity(0))
			return
		}
	}
	f.Spawn(&a.g.parts.mark, player)
	f.Spawn(&a.g.parts.mark, ecs.Nobody)
	f.Spawn(&a.g.parts.mute, player)
	a.g.parts.hush.Get(f.World, f.Spawn(&a.g.parts.mute, ecs.Nobody)).N = 9
}

// slow makes the server's ticks take too long for a while, so that it runs at this share of its
// speed. Other actions that stop the server take precedence.
func (a *madeMatch) slow(speed float64, span time.Duration) {
	end, cost := a.m.Net.Now()+span, time.Duration(float64(time.Second)/float64(a.g.rate)/speed)
	a.m.AroundServer = func(step func()) {
		before := a.srv.Tick()
		step()
		now := a.m.Net.Now()
		if now >= end {
			a.m.AroundServer = nil
		} else if n := a.srv.Tick() - before; n > 0 && !a.stopped {
			a.m.FreezeServer(true)
			a.m.Net.At(now+time.Duration(n)*cost, func() { a.m.FreezeServer(a.stopped) })
		}
	}
}

// bared returns the faults of entities without sent components: both ends must have equally many.
func (a *madeMatch) bared(s *madeSeat) (faults []string) {
	if !a.g.extra.bare {
		return nil
	}
	count := func(q *ecs.Query, w *ecs.World) (n int) {
		for _, rows := range q.All(w) {
			n += rows.Len()
		}
		return n
	}
	world := s.world
	for name, n := range map[string][2]int{
		"tags":  {count(s.g.parts.tags, world), count(a.g.parts.tags, a.srv.World())},
		"mutes": {count(s.g.parts.mutes, world), count(a.g.parts.mutes, a.srv.World())},
	} {
		if n[0] != n[1] {
			faults = append(faults, fmt.Sprintf("disagreement: the client has %d entities with %s alone, the server %d", n[0], name, n[1]))
		}
	}
	return faults
}
