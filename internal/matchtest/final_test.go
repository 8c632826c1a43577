package matchtest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// Siege is a game of rams at a gate. A ram that reaches the gate smashes it and dies.
type Siege struct {
	ram    ecs.Component[Rammer]
	gate   ecs.Component[Gate]
	score  ecs.Component[Tally]
	cmd    ecs.Component[Push]
	player ecs.Prefab
	gates  ecs.Prefab

	smashed foretick.Event[Smashed]
	death   foretick.Event[Death]
	fallen  foretick.Message[Fallen]

	bodies, doors *ecs.Query
	rows          []Row           // rows of the database
	told          map[Fallen]int  // messages on a client
	unsure        []foretick.Tick // on a client: ticks of predicted smashes
}

type (
	// Rammer is a player's body.
	Rammer struct {
		X    float32 `net:"min=0,max=100,step=0.01,lerp"`
		Dead bool
	}
	// Gate stays open for the rest of the match once it was smashed.
	Gate struct{ Open bool }
	// Tally is a player's score.
	Tally struct{ Smashed uint16 }
	// Push is the command.
	Push struct {
		Speed float32 `net:"min=0,max=1,step=0.125"`
	}
	// Smashed says that a ram reached the gate.
	Smashed struct{ Tick foretick.Tick }
	// Death is the end of a player's body.
	Death struct{ Of foretick.PlayerID }
	// Fallen is a message to all players.
	Fallen struct{ Player foretick.PlayerID }
	// Row is a row of a database.
	Row struct {
		Player foretick.PlayerID
		Tick   foretick.Tick
	}
)

const gateAt = 60

// Protocol declares the game.
func (g *Siege) Protocol() *foretick.Protocol {
	g.told = map[Fallen]int{}
	p := foretick.NewProtocol("siege", 1)
	p.Component(&g.ram, foretick.Predicted())
	p.Component(&g.gate)
	p.Component(&g.score)
	p.Command(&g.cmd)
	p.Prefab(&g.player, "ram", &g.ram, &g.score, &g.cmd)
	p.Prefab(&g.gates, "gate", &g.gate)
	g.bodies, g.doors = p.Query(ecs.With(&g.ram)), p.Query(ecs.With(&g.gate))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	p.Shared("push", func(f *foretick.Frame, rows ecs.Rows) {
		ram, cmd := g.ram.Slice(rows), g.cmd.Slice(rows)
		for i := range ram {
			if was := ram[i].X; !ram[i].Dead {
				ram[i].X += cmd[i].Speed / 4
				if was < gateAt && ram[i].X >= gateAt {
					g.smashed.Raise(f, rows.Entity(i), Smashed{f.Tick})
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.ram))
	g.fallen.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, m Fallen) { g.told[m]++ })
	g.smashed.OnPredicted(p, func(_ *foretick.Frame, _ foretick.By, s Smashed) { g.unsure = append(g.unsure, s.Tick) })
	g.declareFinal(p)
	return p
}

func (g *Siege) declareFinal(p *foretick.Protocol) {
	g.smashed.OnFinal(p, g.open, ecs.WriteOther(&g.gate))
	g.smashed.OnFinal(p, g.die, ecs.WriteOther(&g.ram))
	g.death.OnFinal(p, g.count, ecs.WriteOther(&g.score))
	g.smashed.OnFinal(p, g.save)
}

func (g *Siege) open(f *foretick.ServerFrame, _ foretick.By, _ Smashed) {
	for _, rows := range g.doors.All(f.World) {
		g.gate.Slice(rows)[0].Open = true // stays open: no late input closes it again
	}
}

func (g *Siege) die(f *foretick.ServerFrame, by foretick.By, _ Smashed) {
	for _, rows := range g.bodies.Owned(f.World, by.Player) {
		g.ram.Slice(rows)[0].Dead = true
		g.death.Raise(f.Frame, rows.Entity(0), Death{by.Player})
	}
}

func (g *Siege) count(f *foretick.ServerFrame, by foretick.By, d Death) {
	for _, rows := range g.bodies.Owned(f.World, by.Player) {
		g.score.Slice(rows)[0].Smashed++
	}
	g.fallen.Broadcast(f, Fallen{d.Of})
}

func (g *Siege) save(f *foretick.ServerFrame, by foretick.By, s Smashed) {
	if f.Replay {
		return // with Late.World a tick can run again; its first run has written the row
	}
	g.rows = append(g.rows, Row{by.Player, s.Tick}) // in a real game: into a channel that a goroutine reads
}

// Each ram smashes the gate once, dies, scores, and is in the database once, with the tick that
// its own client predicted, however late its inputs came. With Late.World final handlers run again
// with their tick, and the database still has each row once.
func TestWhatCannotBeTakenBack(t *testing.T) {
	costtest.Ratio(t)
	for _, world := range []bool{false, true} {
		again, repeated, seeds := uint64(0), 0, costtest.Count(2, 8)
		if world {
			seeds *= 3
		}
		for seed := range uint64(seeds) {
			n, r := playSiege(t, seed+1, world)
			again, repeated = again+n, repeated+r
		}
		t.Logf("Late.World %v: %d inputs were run late, %d final handlers ran again", world, again, repeated)
		require.Greater(t, again, uint64(20*seeds))
		if world {
			require.Greater(t, repeated, seeds/3)
		} else {
			require.Zero(t, repeated)
		}
	}
}

// playSiege returns how many inputs were run late, and how often a final handler ran again.
func playSiege(t *testing.T, seed uint64, world bool) (again uint64, repeated int) {
	m, g := simtest.New(seed), &Siege{}
	p := g.Protocol()
	g.smashed.OnFinal(p, func(f *foretick.ServerFrame, _ foretick.By, _ Smashed) {
		if f.Replay {
			repeated++
		}
	})
	srv, err := m.Serve(server.Config{Protocol: p, Late: server.Late{Window: 200 * time.Millisecond, World: world, Share: 0.2}})
	require.NoError(t, err)
	door := srv.Frame().Spawn(&g.gates, ecs.Nobody)
	rough := sim.Link{Latency: 50 * time.Millisecond, Jitter: 60 * time.Millisecond, Loss: 0.2}
	var clients []*client.Client
	var games []*Siege
	for n := range 8 {
		c := &Siege{}
		cfg := client.Config{Protocol: c.Protocol(), Sample: client.Sample(&c.cmd, func(v client.View) Push {
			return Push{float32((int(v.Tick)*5+n*3)%9) / 8}
		})}
		link := rough
		if n%2 == 0 {
			link = sim.LTE
		}
		cl, err := m.Join(cfg, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients, games = append(clients, cl), append(games, c)
	}
	m.Run(5 * time.Second)
	require.False(t, g.gate.Get(srv.World(), door).Open)
	m.Run(20 * time.Second)
	require.True(t, g.gate.Get(srv.World(), door).Open)
	require.Len(t, g.rows, len(clients), "seed %d: each event is written once", seed)
	for i, c := range clients {
		player := c.View().Player
		for _, rows := range g.bodies.Owned(srv.World(), player) {
			require.True(t, g.ram.Slice(rows)[0].Dead)
			require.EqualValues(t, 1, g.score.Slice(rows)[0].Smashed)
		}
		n := slices.IndexFunc(g.rows, func(r Row) bool { return r.Player == player })
		require.GreaterOrEqual(t, n, 0, "seed %d: player %d is in the database", seed, player)
		if st, _ := srv.PlayerStats(srv.Player(player)); st.InputsRerun == st.InputsMissing { // otherwise the server ran a tick without its input
			require.Equal(t, games[i].unsure[len(games[i].unsure)-1], g.rows[n].Tick, "seed %d", seed)
		}
		require.Equal(t, 1, games[0].told[Fallen{player}])
	}
	return srv.Stats().InputsRerun, repeated
}
