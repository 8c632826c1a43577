package simtest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

// satchel is a component with a name and items, which its owner predicts.
type (
	satchel struct {
		Name  string       `net:"max=16"`
		Items []carried    `net:"max=8"`
		Trail []float32    `net:"max=5,lerp;min=-64,max=64,step=0.01"`
		Near  []ecs.Entity `net:"max=3"`
		Notes string       `net:"max=40,owner"`
	}
	carried struct {
		Kind  uint8
		Label string `net:"max=8"`
		Count int16  `net:"min=1,max=99"`
	}
	handle struct {
		Take, Drop, Use, Rename bool `net:"oneshot"`
		Kind                    uint8
	}
	announced struct {
		Text string   `net:"max=60"`
		Who  []uint16 `net:"max=4"`
	}
)

type satchels struct {
	bag    ecs.Component[satchel]
	cmd    ecs.Component[handle]
	player ecs.Prefab
	said   foretick.Message[announced]
	heard  []announced
	all    *ecs.Query
	rob    bool // the server sometimes takes an item, which no client predicts
}

// rummage is the shared system. It writes into elements, adds items, removes them from the
// middle, and assigns new arrays.
func (g *satchels) rummage(f *foretick.Frame, rows ecs.Rows) {
	bags, cmds := g.bag.Slice(rows), g.cmd.Slice(rows)
	for i := range bags {
		b, c := &bags[i], &cmds[i]
		if c.Take {
			b.Items = append(b.Items, carried{Kind: c.Kind, Label: fmt.Sprint("kind ", c.Kind), Count: 1})
			b.Near = append(b.Near, rows.Entity(i))
		}
		if c.Drop && len(b.Items) > 0 {
			k := int(c.Kind) % len(b.Items)
			b.Items = slices.Delete(b.Items, k, k+1)
			b.Near = nil
		}
		if c.Use && len(b.Items) > 0 {
			b.Items[int(c.Kind)%len(b.Items)].Count++
		}
		if c.Rename {
			b.Name = fmt.Sprintf("ä-%d-%d", c.Kind, len(b.Items))
			b.Notes += b.Name
			if len(b.Notes) > 30 {
				b.Notes = ""
			}
			b.Items = slices.Clone(b.Items)
		}
		at := float32(f.Tick%100) / 4
		if *c == (handle{}) {
			continue // nothing is pressed
		}
		if b.Trail = append(b.Trail, at); len(b.Trail) > 4 {
			b.Trail = slices.Delete(b.Trail, 0, 1)
		}
	}
}

func (g *satchels) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("satchels", 1)
	p.Component(&g.bag, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.player, "player", &g.bag, &g.cmd)
	foretick.Default(p, &g.player, &g.bag, satchel{Name: "nobody", Items: []carried{{Kind: 1, Label: "lamp", Count: 3}}})
	g.said.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, v announced) { g.heard = append(g.heard, v) })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.player, player)
		g.bag.Get(f.World, e).Items[0].Count = 4 // must not change the default of other players
		g.said.Broadcast(f, announced{Text: fmt.Sprint("welcome, ", player), Who: []uint16{uint16(player), 7}})
	})
	p.Shared("rummage", g.rummage, ecs.Read(&g.cmd), ecs.Write(&g.bag))
	p.Server("rob", func(f *foretick.ServerFrame, rows ecs.Rows) {
		bags := g.bag.Slice(rows)
		for i := range bags {
			if g.rob && f.Tick%41 == 0 && len(bags[i].Items) > 1 {
				bags[i].Items = append(bags[i].Items[:0], bags[i].Items[1:]...)
				bags[i].Name = "robbed"
			}
		}
	}, ecs.Write(&g.bag))
	g.all = p.Query(ecs.With(&g.bag))
	return p
}

func handling(n int) func(v client.View) handle {
	return func(v client.View) handle {
		x := v.Tick*2654435761 + uint32(n)*40503
		x ^= x >> 15
		return handle{Take: x%5 == 0, Drop: x%7 == 0, Use: x%3 == 0, Rename: x%11 == 0, Kind: uint8(x >> 8)}
	}
}

// The contents of a player's bag change alike on both ends, are corrected after
// unpredictable actions of the server, and end the same on all ends. So writing elements in
// place changes no past state: they share no arrays.
func TestStringsAndSlicesInAMatch(t *testing.T) {
	m := simtest.New(5)
	var truth satchels
	truth.rob = true
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
	const clients = 3
	var ends [clients]satchels
	var joined [clients]*client.Client
	play := true
	causes := map[string]int{}
	grown := 0
	for n := range clients {
		in := handling(n)
		joined[n], err = m.Join(client.Config{Protocol: ends[n].protocol(), Sample: client.Sample(&ends[n].cmd, func(v client.View) handle {
			if !play {
				return handle{}
			}
			return in(v)
		}), OnMisprediction: func(w prediction.Misprediction) { causes[fmt.Sprint(w.Cause)]++ }}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			for _, rows := range ends[n].all.All(v.World) {
				for _, b := range ends[n].bag.Slice(rows) {
					grown = max(grown, len(b.Items))
				}
			}
		}})
		require.NoError(t, err)
	}
	m.Run(20 * time.Second)
	play, truth.rob = false, false
	m.Run(24 * time.Second)
	names := map[string]bool{}
	for n := range clients {
		st := joined[n].Stats()
		t.Logf("client %d: %d corrections in %d predicted ticks", n, st.Mispredictions, st.PredictedTicks)
		require.NotZero(t, st.Mispredictions, "the server robs everybody")
		require.Less(t, st.Mispredictions, st.PredictedTicks/10)
		others := 0
		for _, rows := range ends[n].all.All(joined[n].View().World) {
			for i, b := range ends[n].bag.Slice(rows) {
				e, ok := campaign.ServerEntity(srv, joined[n].View().Player, joined[n], rows.Entity(i))
				require.True(t, ok)
				want := truth.bag.Get(srv.World(), e)
				require.Equal(t, want.Name, b.Name)
				require.Equal(t, want.Items, b.Items)
				require.Len(t, b.Near, len(want.Near))
				if rows.Owner() != joined[n].View().Player {
					others++
					names[b.Name] = true
					require.Empty(t, b.Notes, "for the owner alone")
				}
			}
		}
		require.Equal(t, clients-1, others)
		report := m.Audit(joined[n])
		require.NotZero(t, report.Fields)
		require.Empty(t, report.First)
		require.Equal(t, report.ServerDigest, report.Digest)
		require.NotEmpty(t, ends[n].heard)
		require.Contains(t, ends[n].heard, announced{Text: fmt.Sprint("welcome, ", joined[n].View().Player), Who: []uint16{uint16(joined[n].View().Player), 7}})
	}
	t.Log(causes, names, grown)
	require.Equal(t, 8, grown)
	require.Zero(t, causes["code"], "both ends compute the same")
	require.NotZero(t, srv.Stats().ValuesCut, "satchels overflow")
}
