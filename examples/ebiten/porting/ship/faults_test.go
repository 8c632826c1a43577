package ship

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// SyncTest finds the faults that the page on porting warns of, and names the system.
func TestFaultsAreFound(t *testing.T) {
	for name, add := range map[string]func(g *Game, p *foretick.Protocol){
		"field": func(g *Game, p *foretick.Protocol) {
			left := 0 // state of the game's own, which no rollback restores
			p.Shared("field", func(_ *foretick.Frame, rows ecs.Rows) {
				if left--; left < 0 {
					left = 50
					g.Motion.Slice(rows)[0].X += 1
				}
			}, ecs.With(&g.Keys), ecs.Write(&g.Motion))
		},
		"clock": func(g *Game, p *foretick.Protocol) {
			p.Shared("clock", func(_ *foretick.Frame, rows ecs.Rows) {
				g.Motion.Slice(rows)[0].X += float32(time.Now().UnixNano()%100) / 100
			}, ecs.With(&g.Keys), ecs.Write(&g.Motion))
		},
		"chance": func(g *Game, p *foretick.Protocol) {
			p.Shared("chance", func(_ *foretick.Frame, rows ecs.Rows) {
				g.Motion.Slice(rows)[0].X += rand.Float32()
			}, ecs.With(&g.Keys), ecs.Write(&g.Motion))
		},
		"none": func(g *Game, p *foretick.Protocol) {
			p.Shared("none", func(*foretick.Frame, ecs.Rows) {}, ecs.With(&g.Keys), ecs.Write(&g.Motion))
		},
	} {
		found, err := simtest.FindDesyncs(func() simtest.Player {
			g := &Game{}
			p := g.Protocol()
			add(g, p)
			return simtest.Player{Protocol: p, Sample: client.Sample(&g.Keys, script)}
		}, simtest.SyncConfig{Ticks: 300})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(found, "\n"); strings.Contains(text, `"`+name+`"`) != (name != "none") {
			t.Errorf("%s: found %q", name, text)
		}
	}
}

// A drag of a hundredth a tick never stops a ship on a grid: below 50 units of the grid
// a hundredth is less than half a unit. The figure that shows it is ChangesSwallowed.
func TestDragOnAGrid(t *testing.T) {
	glide := func(drag func(float32) float32) (speed float32, swallowed uint64) {
		declare := func(g *Game) *foretick.Protocol {
			p := foretick.NewProtocol("drag", 1)
			p.SetTickRate(60)
			p.Component(&g.Motion, foretick.Predicted())
			p.Command(&g.Keys)
			p.Prefab(&g.Player, "player", &g.Motion, &g.Keys)
			p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
				g.Motion.Get(f.World, f.Spawn(&g.Player, player)).X = 4
			})
			p.Shared("drag", func(_ *foretick.Frame, rows ecs.Rows) {
				for i, motion := 0, g.Motion.Slice(rows); i < len(motion); i++ {
					motion[i].X = drag(motion[i].X)
				}
			}, ecs.With(&g.Keys), ecs.Write(&g.Motion))
			return p
		}
		m, truth, cl := simtest.New(1), &Game{}, &Game{}
		srv, err := m.Serve(server.Config{Protocol: declare(truth)})
		if err != nil {
			t.Fatal(err)
		}
		line := sim.Link{Latency: 20 * time.Millisecond}
		cli, err := m.Join(client.Config{Protocol: declare(cl)}, simtest.Seat{Up: line, Down: line})
		if err != nil {
			t.Fatal(err)
		}
		m.Run(30 * time.Second)
		for _, rows := range ecs.NewQuery(srv.World().Types(), ecs.With(&truth.Motion)).All(srv.World()) {
			speed = truth.Motion.Slice(rows)[0].X
		}
		return speed, cli.Stats().ChangesSwallowed
	}
	speed, swallowed := glide(func(v float32) float32 { return v * 0.99 })
	t.Logf("after 30 s of drag: %v pixels a tick, %d changes swallowed", speed, swallowed)
	if speed < 0.02 || swallowed == 0 {
		t.Errorf("the ship stops: %v, %d: say so on the page", speed, swallowed)
	}
	if speed, swallowed = glide(drag); speed != 0 || swallowed > 1 {
		t.Errorf("the ship glides: %v, %d", speed, swallowed)
	}
}
