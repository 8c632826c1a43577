package simtest_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

var hoards = flag.Int("hoards", costtest.Count(8, 200), "how many generated games TestTracesHoldNoSecrets plays")

type hoardBody struct {
	X      float32 `net:"min=-100,max=100,step=0.01"`
	Purse  uint64  `net:"owner"`
	Plan   uint64  `net:"owner,allies"`
	Friend ecs.Entity
}

type hoardChest struct {
	Lid  uint64
	Gold uint64 `net:"owner"`
}

type hoardWork struct {
	N uint64
}

// hoard is a generated game. Entities whose fields hold their owner's secret change owners, are
// hidden and shown, are spawned and destroyed, and refer to one another. Entities that are hidden
// from their own player, and components that only the server has, hold the secret of a player that
// never joins.
type hoard struct {
	seed   uint64
	body   ecs.Component[hoardBody]
	chest  ecs.Component[hoardChest]
	work   ecs.Component[hoardWork]
	cmd    ecs.Component[move]
	person ecs.Prefab
	box    ecs.Prefab
	shade  ecs.Prefab

	r      *rand.Rand
	boxes  []ecs.Entity
	hidden map[ecs.Entity]bool
}

// stranger never joins.
const stranger = foretick.PlayerID(200)

func (g *hoard) protocol() *foretick.Protocol {
	shape := rand.New(rand.NewPCG(g.seed, 1))
	g.r, g.hidden = rand.New(rand.NewPCG(g.seed, 2)), map[ecs.Entity]bool{}
	p := foretick.NewProtocol("hoard", 1)
	p.Component(&g.body, foretick.Predicted())
	if shape.IntN(2) == 0 {
		p.Component(&g.chest, foretick.Predicted())
	} else {
		p.Component(&g.chest)
	}
	p.LocalComponent(&g.work)
	p.Command(&g.cmd)
	p.Prefab(&g.person, "person", &g.body, &g.chest, &g.work, &g.cmd)
	p.Prefab(&g.box, "box", &g.body, &g.chest, &g.work)
	p.Prefab(&g.shade, "shade", &g.body, &g.work)
	boxes, stir := 1+shape.IntN(6), foretick.Tick(3+shape.IntN(9))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.fill(f.Frame, f.Spawn(&g.person, player), player)
		for range boxes {
			e := f.Spawn(&g.box, player)
			g.fill(f.Frame, e, player)
			g.boxes = append(g.boxes, e)
		}
		// An entity that its own player may not see.
		e := f.Spawn(&g.shade, player)
		f.SetVisible(player, e, false)
		*g.body.Get(f.World, e) = hoardBody{X: 1, Purse: campaign.Secret(stranger), Plan: campaign.Secret(stranger)}
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		for i, body := range g.body.Slice(rows) {
			g.body.Slice(rows)[i].X = body.X + f.DT
			if g.body.Slice(rows)[i].X > 50 {
				g.body.Slice(rows)[i].X = -50
			}
		}
	}, ecs.Write(&g.body))
	p.Server("stir", func(f *foretick.ServerFrame, _ ecs.Rows) { g.stir(f, stir) }, ecs.Once(), ecs.Structural(),
		ecs.WriteOther(&g.body, &g.chest, &g.work), ecs.Create(&g.body, &g.chest, &g.work))
	return p
}

// fill writes the owner's secret into an entity.
func (g *hoard) fill(f *foretick.Frame, e ecs.Entity, owner foretick.PlayerID) {
	b := g.body.Get(f.World, e)
	b.Purse, b.Plan = campaign.Secret(owner), campaign.Secret(owner)
	*g.chest.Get(f.World, e) = hoardChest{Lid: uint64(f.Tick), Gold: campaign.Secret(owner)}
	g.work.Get(f.World, e).N = campaign.Secret(stranger)
}

func (g *hoard) stir(f *foretick.ServerFrame, every foretick.Tick) {
	if len(g.boxes) == 0 || f.Tick%every != 0 {
		return
	}
	n := g.r.IntN(len(g.boxes))
	e := g.boxes[n]
	owner := f.World.Owner(e)
	switch g.r.IntN(5) {
	case 0: // a hidden entity holds a secret that nobody may see
		if g.hidden[e] = !g.hidden[e]; g.hidden[e] {
			f.SetVisible(owner, e, false)
			g.body.Get(f.World, e).Purse = campaign.Secret(stranger)
			return
		}
		g.fill(f.Frame, e, owner)
		f.SetVisible(owner, e, true)
	case 1:
		g.body.Get(f.World, e).Friend = g.boxes[g.r.IntN(len(g.boxes))]
	case 2: // the new entity holds the secret of its own owner
		if to := 1 + foretick.PlayerID(g.r.IntN(3)); f.World.Owner(g.boxes[0]) != ecs.Nobody {
			f.Destroy(e)
			e = f.Spawn(&g.box, to)
			g.fill(f.Frame, e, to)
			g.boxes[n] = e
		}
	case 3:
		if !g.hidden[e] {
			g.fill(f.Frame, e, owner)
			g.body.Get(f.World, e).Purse = 0
		}
	case 4: // from here on in the tick the entity holds the new owner's secret
		if to := 1 + foretick.PlayerID(g.r.IntN(3)); !g.hidden[e] && f.World.Transfer(e, to) == nil {
			g.fill(f.Frame, e, to)
		}
	}
}

// No packet with pieces of traces, and no record that a client assembles from them, holds
// another player's secret, or a secret of a hidden entity or of a component that only the
// server has. The player's own secret is there, so the search does find secrets.
func TestTracesHoldNoSecrets(t *testing.T) {
	own, searched, ticks := 0, 0, 0
	for seed := range uint64(*hoards) {
		m, secrets := simtest.New(seed), &campaign.Secrets{}
		m.Watch(secrets)
		g := &hoard{seed: seed}
		_, err := m.Serve(server.Config{Protocol: g.protocol(), AllowTrace: everybody})
		require.NoError(t, err)
		link := sim.Link{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: float64(seed%3) * 0.04}
		var clients []*client.Client
		for range 3 {
			cg := &hoard{seed: seed}
			c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) move { return move{X: 1} })}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		for at := 300 * time.Millisecond; at <= 1500*time.Millisecond; at += 600 * time.Millisecond {
			m.Run(at)
			for _, c := range clients {
				tr := trace.OfClient(c)
				tr.Look()
				b := tr.Export()
				found, err := secrets.Search(c.View().Player, b)
				require.NoError(t, err, "seed %d", seed)
				own, searched = own+found, searched+len(b)
				for _, table := range tr.Tables() {
					if table.Client && table.Server {
						ticks++
					}
				}
			}
		}
		require.NoError(t, m.Err(), "seed %d", seed)
	}
	require.Greater(t, own, 5*(*hoards))
	require.Greater(t, ticks, 20*(*hoards))
	t.Logf("%d games: %d bytes of traces searched, %d ticks of both ends, own secrets found %d times", *hoards, searched, ticks, own)
}
