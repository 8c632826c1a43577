package simtest_test

import (
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

type (
	// belt is a component of a holder that others do not receive.
	belt struct {
		Rounds uint16 `net:"owner"`
		Grip   int16  `net:"owner"`
	}
	// blessing is a component of a holder that only the server writes.
	blessing struct {
		Power uint8 `net:"owner"`
	}
	// gun is a held thing.
	gun struct {
		Holder ecs.Entity
		Loaded uint16
		Heat   int32
		Power  uint8
	}
)

// armoury is a game in which players hold guns whose system reads components of the holder.
type armoury struct {
	game
	belt   ecs.Component[belt]
	bless  ecs.Component[blessing]
	gun    ecs.Component[gun]
	holder ecs.Prefab
	weapon ecs.Prefab
	access func(hs ...ecs.Handle) ecs.Access
}

func (g *armoury) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("armoury", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.belt, foretick.Predicted())
	p.Component(&g.bless)
	p.Component(&g.gun, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.holder, "holder", &g.pos, &g.belt, &g.bless, &g.cmd)
	p.Prefab(&g.weapon, "weapon", &g.gun)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.holder, player)
		*g.belt.Get(f.World, e) = belt{Rounds: 1000}
		g.gun.Get(f.World, f.Spawn(&g.weapon, player)).Holder = e
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		belts, cmd := g.belt.Slice(rows), g.cmd.Slice(rows)
		for i := range belts {
			if belts[i].Grip += int16(cmd[i].X * 8); cmd[i].Y > 0 && belts[i].Rounds > 0 {
				belts[i].Rounds--
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.belt))
	p.Shared("load", func(f *foretick.Frame, rows ecs.Rows) {
		for i, guns := 0, g.gun.Slice(rows); i < len(guns); i++ {
			holder := guns[i].Holder
			if b := g.belt.Find(f.World, holder); b != nil {
				guns[i].Loaded, guns[i].Heat = b.Rounds/2, guns[i].Heat/2+int32(b.Grip)
				guns[i].Power = g.bless.Get(f.World, holder).Power
			}
		}
	}, ecs.Write(&g.gun), g.access(&g.belt, &g.bless), ecs.After("move"))
	p.Server("bless", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, all := 0, g.bless.Slice(rows); i < len(all) && f.Tick%100 == 50; i++ {
			all[i].Power++
		}
	}, ecs.Write(&g.bless), ecs.Before("load"))
	return p
}

// TestHeldThingReadsItsHolder: the holder's client predicts a held thing with fields that only
// the owner receives. Other clients see the thing, and run no system for it.
func TestHeldThingReadsItsHolder(t *testing.T) {
	for _, late := range []time.Duration{0, 150 * time.Millisecond} {
		m := simtest.New(8)
		m.Watch(&simtest.Agreement{}, &simtest.Causes{}, &campaign.Secrets{})
		newGame := func() *armoury { return &armoury{access: ecs.ReadOwn} }
		_, err := m.Serve(server.Config{Protocol: newGame().protocol(), Late: server.Late{Window: late}})
		require.NoError(t, err)
		link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 40 * time.Millisecond, Loss: 0.05, Burst: 3}
		var games []*armoury
		for range 2 {
			g := newGame()
			games = append(games, g)
			_, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) move {
				if m.Net.Now() > 10*time.Second {
					return move{}
				}
				return move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/33%2) - 0.5}
			})}, simtest.Seat{Up: link, Down: link, SyncTest: 3, OnDesync: func(d simtest.Desync) { t.Error(d) }})
			require.NoError(t, err)
		}
		m.Run(12 * time.Second)
		require.NoError(t, m.Err())
		for i, c := range m.Clients(nil) {
			st := c.Stats()
			require.Zero(t, st.ByCause.Of(prediction.Code))
			require.Greater(t, st.PredictedTicks, uint64(200))
			require.Zero(t, m.Audit(c).Differences, m.Audit(c).First)
			own, others := 0, 0
			w, g := c.View().World, games[i]
			for _, rows := range ecs.NewQuery(w.Types(), ecs.With(&g.gun)).All(w) {
				for _, gun := range g.gun.Slice(rows) {
					require.Positive(t, gun.Power)
					require.InDelta(t, 450, int(gun.Loaded), 60)
				}
				if rows.Owner() == c.View().Player {
					own += rows.Len()
				} else {
					others += rows.Len()
				}
			}
			require.Equal(t, []int{1, 1}, []int{own, others})
		}
	}
}

// TestHeldThingIsRefusedWithTheWayOut: if a system reads such a field like that of any other
// entity, the error says how to read it as the holder's.
func TestHeldThingIsRefusedWithTheWayOut(t *testing.T) {
	g := &armoury{access: ecs.ReadOther}
	require.ErrorContains(t, g.protocol().Err(), `shared system "load" reads belt of other entities, whose Rounds a client does not receive: declare it with ecs.ReadOwn if they are the same player's, such as the holder of a thing`)
	require.NoError(t, (&armoury{access: ecs.ReadOwn}).protocol().Err())
}
