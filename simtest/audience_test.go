package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type orders struct {
	Target uint32 `net:"allies"`
	Bounty uint32 `net:"enemies"`
	Scan   uint32 `net:"to=scanners"`
	Flag   bool
}

type ledger struct{ Credit uint32 }

// fleet is a game of two teams, of ships that can be scanned.
type fleet struct {
	pos      ecs.Component[position]
	cmd      ecs.Component[move]
	orders   ecs.Component[orders]
	ledger   ecs.Component[ledger]
	ship     ecs.Prefab
	scanners schema.Audience
	ships    map[foretick.PlayerID]ecs.Entity
}

func (g *fleet) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("fleet", 1)
	g.scanners = p.Audience("scanners")
	g.ships = map[foretick.PlayerID]ecs.Entity{}
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.orders)
	p.Component(&g.ledger, foretick.For(schema.ToAllies))
	p.Command(&g.cmd)
	p.Prefab(&g.ship, "ship", &g.pos, &g.cmd, &g.orders, &g.ledger)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.ship, player)
		g.ships[player] = e
		f.SetTeam(player, uint8(1+player%2))
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Server("plan", func(f *foretick.ServerFrame, rows ecs.Rows) {
		os, ls := g.orders.Slice(rows), g.ledger.Slice(rows)
		for i := range os {
			n := f.Tick*16 + uint32(rows.Owner())
			if f.Tick < 600 {
				os[i], ls[i].Credit = orders{Target: 1<<24 | n, Bounty: 1<<25 | n, Scan: 1<<26 | n, Flag: n&16 != 0}, 1<<27|n
			}
		}
	}, ecs.Write(&g.orders, &g.ledger))
	return p
}

// Each player sees the fields of a ship according to its current relation: an ally,
// an enemy, one that scanned it. Teams and scans change during the match, a player
// drops out and reconnects, and at the end both ends agree.
func TestAudiencesInAMatch(t *testing.T) {
	m := simtest.New(9)
	g := &fleet{}
	srv, err := m.Serve(server.Config{Protocol: g.protocol(), OnTick: func(f *foretick.ServerFrame) {
		switch f.Tick {
		case 200: // the first player changes to the other team
			require.True(t, f.SetTeam(1, 1))
		case 300:
			require.True(t, f.SetAudience(2, g.ships[3], g.scanners, true))
		case 400:
			require.True(t, f.SetEntityTeam(g.ships[4], 2))
			require.False(t, f.SetTeam(99, 1))
			require.False(t, f.SetAudience(99, ecs.None, g.scanners, true))
		case 450:
			require.True(t, f.SetAudience(4, ecs.None, g.scanners, true))
		}
	}})
	require.NoError(t, err)
	type got struct{ target, bounty, scan, credit bool }
	var clients []*client.Client
	seen := make([]map[foretick.PlayerID]map[got]int, 4)
	link := sim.Link{Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05}
	for n := range 4 {
		cg := &fleet{}
		p := cg.protocol()
		seen[n] = map[foretick.PlayerID]map[got]int{}
		var q *ecs.Query
		c, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&cg.cmd, func(v client.View) move {
			if m.Net.Now() > 20*time.Second {
				return move{}
			}
			return move{X: float32(v.Tick/40%2)*2 - 1}
		})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			if q == nil {
				q = ecs.NewQuery(v.World.Types(), ecs.With(&cg.orders))
			}
			for _, rows := range q.All(v.World) {
				of := rows.Owner()
				if seen[n][of] == nil {
					seen[n][of] = map[got]int{}
				}
				for i, o := range cg.orders.Slice(rows) {
					l := cg.ledger.Find(v.World, rows.Entity(i))
					seen[n][of][got{o.Target != 0, o.Bounty != 0, o.Scan != 0, l != nil && l.Credit != 0}]++
				}
			}
		}})
		require.NoError(t, err)
		clients = append(clients, c)
		m.Run(m.Net.Now() + 300*time.Millisecond)
	}
	m.Run(6 * time.Second)
	const many = 30
	ally, enemy := got{target: true, credit: true}, got{bounty: true}
	for n := range 4 {
		me := clients[n].View().Player
		for of := foretick.PlayerID(1); of <= 4; of++ {
			want := enemy
			if of%2 == me%2 {
				want = ally
			}
			require.Greater(t, seen[n][of][want], many, "player %d of %d: %v", me, of, seen[n][of])
			require.LessOrEqual(t, len(seen[n][of]), 2, "player %d of %d: %v", me, of, seen[n][of]) // this value, and the one before anything arrived
		}
	}
	m.Freeze(clients[1], true)
	m.Run(13 * time.Second) // longer than the timeouts, so its connection ends
	m.Freeze(clients[1], false)
	m.Run(25 * time.Second)
	require.EqualValues(t, 1, srv.Stats().Resumed)
	for _, c := range clients {
		a := m.Audit(c)
		require.Zero(t, a.Differences, a.First)
		require.Greater(t, a.Fields, 4*3)
	}
	require.Greater(t, seen[1][3][got{bounty: true, scan: true}], many, "scanned; and still after coming back: %v", seen[1][3])
	require.NotZero(t, seen[3][3][got{bounty: true, target: true, credit: true, scan: true}]+seen[3][3][got{bounty: true, scan: true}])
}

// What the game makes public for everybody is read by a player that joins later, in the first frame that shows the
// entity, and by observers. Taken back it is hidden from all again, but from a player that may see it itself.
func TestPublicForThoseWhoJoinLater(t *testing.T) {
	m := simtest.New(12)
	g := &fleet{}
	_, err := m.Serve(server.Config{Protocol: g.protocol(), Observe: func(server.Observer) (server.Grant, error) {
		return server.Public(), nil
	}, OnTick: func(f *foretick.ServerFrame) {
		switch f.Tick {
		case 60:
			require.True(t, f.SetAudience(ecs.Common, g.ships[1], g.scanners, true))
			require.False(t, f.SetAudience(ecs.Nobody, g.ships[1], g.scanners, true), "the owner of what nobody owns")
		case 90:
			require.True(t, f.SetAudience(2, g.ships[1], g.scanners, true))
		case 240:
			require.True(t, f.SetAudience(ecs.Common, g.ships[1], g.scanners, false))
		}
	}})
	require.NoError(t, err)
	link := sim.Link{Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05}
	type shown struct{ frames, scanned int }
	var before, after [5]shown // by client: until the game takes it back, and later
	var others int
	for k := range 5 {
		cg := &fleet{}
		cfg := client.Config{Protocol: cg.protocol()}
		if k == 4 {
			cfg.Observe = &client.Observe{}
		}
		ships := cg.everyShip(cfg.Protocol)
		_, err := m.Join(cfg, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			for _, rows := range ships.All(v.World) {
				is := cg.orders.Slice(rows)[0].Scan != 0
				if rows.Owner() != 1 {
					others += map[bool]int{true: 1}[is]
					continue
				}
				at := &before[k]
				if v.RenderTick > 250 {
					at = &after[k]
				} else if v.RenderTick >= 230 || k < 2 && v.RenderTick < 100 {
					continue
				}
				if at.frames++; is {
					at.scanned++
				}
			}
		}})
		require.NoError(t, err)
		if k == 1 { // the others join once it is public
			m.Run(5 * time.Second)
		}
		m.RunFor(300 * time.Millisecond)
	}
	m.Run(12 * time.Second)
	require.NoError(t, m.Err())
	require.Zero(t, others)
	for k := range 5 {
		require.Greater(t, before[k].frames, 20, "client %d", k)
		require.Equal(t, before[k].frames, before[k].scanned, "client %d: from the first frame on", k)
		require.Greater(t, after[k].frames, 100, "client %d", k)
		require.Equal(t, map[bool]int{true: after[k].frames}[k == 1], after[k].scanned, "client %d", k)
	}
}

// everyShip returns a query of the ships.
func (g *fleet) everyShip(p *foretick.Protocol) *ecs.Query { return p.Query(ecs.With(&g.orders)) }

// What a client would have to predict without receiving it is refused at the start.
func TestMaskedFromItsOwner(t *testing.T) {
	type marked struct {
		Price uint32 `net:"enemies"`
	}
	var c ecs.Component[marked]
	p := foretick.NewProtocol("m", 1)
	p.Component(&c, foretick.Predicted())
	require.ErrorContains(t, p.Err(), "does not receive Price")

	var d ecs.Component[marked]
	var pos ecs.Component[position]
	p = foretick.NewProtocol("m", 1)
	p.Component(&d)
	p.Component(&pos, foretick.Predicted())
	p.Shared("flee", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&d), ecs.Write(&pos))
	require.ErrorContains(t, p.Err(), `"flee" reads marked`)

	p = foretick.NewProtocol("m", 1)
	p.Audience("a")
	p.Audience("a")
	require.ErrorContains(t, p.Err(), "twice")
	var o ecs.Component[orders]
	p = foretick.NewProtocol("m", 1)
	p.Component(&o)
	require.ErrorContains(t, p.Err(), `no Audience "scanners"`)
}
