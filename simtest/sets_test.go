package simtest_test

import (
	"bytes"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	tapes "github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// masks is a game in which players ask the server to change their component sets: each
// request goes through 16 sets, of which there are 4096.
type masks struct {
	pos  ecs.Component[footing]
	cmd  ecs.Component[lunge]
	body ecs.Prefab
	worn struct {
		a ecs.Component[maskA]
		b ecs.Component[maskB]
		c ecs.Component[maskC]
		d ecs.Component[maskD]
		e ecs.Component[maskE]
		f ecs.Component[maskF]
		g ecs.Component[maskG]
		h ecs.Component[maskH]
		i ecs.Component[maskI]
		j ecs.Component[maskJ]
		k ecs.Component[maskK]
		l ecs.Component[maskL]
	}
	ask foretick.Request[maskFrom]

	bodies map[foretick.PlayerID]ecs.Entity
	used   []float64 // World.Used at each run of the server systems
}

type (
	maskA struct{ On bool }
	maskB struct{ On bool }
	maskC struct{ On bool }
	maskD struct{ On bool }
	maskE struct{ On bool }
	maskF struct{ On bool }
	maskG struct{ On bool }
	maskH struct{ On bool }
	maskI struct{ On bool }
	maskJ struct{ On bool }
	maskK struct{ On bool }
	maskL struct{ On bool }
)

// all returns the components whose combinations are the sets.
func (g *masks) all() []ecs.Handle {
	m := &g.worn
	return []ecs.Handle{&m.a, &m.b, &m.c, &m.d, &m.e, &m.f, &m.g, &m.h, &m.i, &m.j, &m.k, &m.l}
}

// maskFrom is the first of the 16 sets, in sixteenths.
type maskFrom struct{ N uint16 }

func (g *masks) protocol() *foretick.Protocol {
	g.bodies = map[foretick.PlayerID]ecs.Entity{}
	p := foretick.NewProtocol("masks", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	for _, mask := range g.all() {
		p.LocalComponent(mask)
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.bodies[player] = f.Spawn(&g.body, player) })
	p.OnLeave(func(f *foretick.ServerFrame, player foretick.PlayerID) { delete(g.bodies, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X = min(max(pos[i].X+cmd[i].Move*f.DT, -90), 90)
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Server("count", func(f *foretick.ServerFrame, _ ecs.Rows) { g.used = append(g.used, f.World.Used()) }, ecs.Once())
	g.ask.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, from maskFrom) {
		for n := from.N * 16; n < from.N*16+16; n++ {
			g.wear(f.World, g.bodies[player], n^n>>1)
		}
	})
	return p
}

func (g *masks) wear(w *ecs.World, e ecs.Entity, set uint16) {
	on := true
	for i, mask := range g.all() {
		switch has := ecs.Engine(w).Mask(e).Has(mask.ID()); {
		case set>>i&1 != 0 && !has:
			ecs.Engine(w).AddByID(e, mask.ID(), unsafe.Pointer(&on))
		case set>>i&1 == 0 && has:
			ecs.Engine(w).RemoveByID(e, mask.ID())
		}
	}
}

// maskMatch is a match of masks.
type maskMatch struct {
	*simtest.Match
	t    *testing.T
	game *masks // the server's end of the game
	srv  *server.Server
}

func newMaskMatch(t *testing.T, cfg server.Config) *maskMatch {
	m := &maskMatch{Match: simtest.New(3), t: t, game: &masks{}}
	cfg.Protocol, cfg.MaxClients = m.game.protocol(), 8
	var err error
	m.srv, err = m.Serve(cfg)
	require.NoError(t, err)
	return m
}

func (m *maskMatch) join() (*client.Client, *masks) {
	g, link := &masks{}, sim.Link{Latency: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02}
	c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) lunge {
		return lunge{Move: float32(math.Sin(float64(v.Tick) / 9))}
	})}, simtest.Seat{Up: link, Down: link, FrameRate: 30})
	require.NoError(m.t, err)
	return c, g
}

// tables returns the number of tables that the server's world has.
func (m *maskMatch) tables() int { return int(m.srv.World().Used()*math.MaxUint16 + 0.5) }

// Players that use ever new component sets do not fill the world with tables: there are about as
// many tables as the present and the saved states of the window of late inputs need. After these
// players left, others can join, and a step costs as much as in a match without them.
func TestComponentSetsWithoutEnd(t *testing.T) {
	costtest.Ratio(t)
	const window, players = 100 * time.Millisecond, 6
	length := time.Duration(costtest.Count(45, 900)) * time.Second
	for name, cfg := range map[string]server.Config{
		"late inputs": {Late: server.Late{Window: window}},
		"late world":  {Late: server.Late{Window: window, World: true}},
	} {
		t.Run(name, func(t *testing.T) {
			m, calm := newMaskMatch(t, cfg), newMaskMatch(t, cfg)
			honest, _ := m.join()
			calm.join()
			var others []*client.Client
			var asks []*masks
			for range players {
				c, g := m.join()
				others, asks = append(others, c), append(asks, g)
			}
			m.RunFor(3 * time.Second)
			calm.RunFor(3 * time.Second)
			most := 0
			for round, end := uint16(0), m.Net.Now()+length; m.Net.Now() < end; round++ {
				for i, c := range others {
					require.NoError(t, asks[i].ask.Send(c, maskFrom{(round + uint16(i)*37) % 256}))
				}
				m.RunFor(100 * time.Millisecond)
				most = max(most, m.tables())
			}
			// The present and four saved ticks have one new set for each player, and about as
			// many sets for rows that wait while a request is handled.
			require.LessOrEqual(t, most, 2*(players+1)*2*6, "tables")
			require.Positive(t, m.srv.Stats().InputsRerun, "no late input came")
			for _, c := range others {
				require.NoError(t, m.Leave(c))
			}
			m.RunFor(30 * time.Second)
			calm.RunFor(30 * time.Second)
			require.LessOrEqual(t, m.tables(), calm.tables()+64)
			fresh, _ := m.join()
			calm.join()
			m.RunFor(3 * time.Second)
			calm.RunFor(3 * time.Second)
			require.Equal(t, client.Playing, fresh.View().State)
			require.Equal(t, client.Playing, honest.View().State)
			ratio := math.Inf(1)
			turn := time.Duration(costtest.Count(8, 20)) * time.Second
			for range 4 { // other programs may slow the machine down
				var cost, usual time.Duration
				for range 20 {
					_, took := costtest.Cost(func() { m.RunFor(turn) })
					cost += took
					_, took = costtest.Cost(func() { calm.RunFor(turn) })
					usual += took
				}
				if ratio = min(ratio, cost.Seconds()/usual.Seconds()); ratio < 1.2 {
					break
				}
			}
			require.Less(t, ratio, 1.2, "a step's cost, and that of a match without them")
			require.NoError(t, m.Err())
			require.NoError(t, calm.Err())
			t.Logf("%v: %d tables at most, %d in the end (%d without them); a step costs %.2f times as much", length, most, m.tables(), calm.tables(), ratio)
		})
	}
}

// A replay reuses the same tables in the same ticks as the match, because whether a world is full
// must not differ.
func TestComponentSetsOnATape(t *testing.T) {
	for _, world := range []bool{false, true} {
		tape, err := tapes.New(tapes.Config{})
		require.NoError(t, err)
		m := newMaskMatch(t, server.Config{Late: server.Late{Window: 100 * time.Millisecond, World: world}, Recorder: tape})
		m.join()
		c, g := m.join()
		m.RunFor(time.Second)
		for round := range uint16(100) {
			require.NoError(t, g.ask.Send(c, maskFrom{round}))
			m.RunFor(100 * time.Millisecond)
		}
		var file bytes.Buffer
		_, err = tape.WriteTo(&file)
		require.NoError(t, err)
		recorded, err := tapes.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		var again *masks
		res, err := tapes.Play(recorded, tapes.Game{New: func(cfg server.Config) (*server.Server, error) {
			again = &masks{}
			cfg.Protocol = again.protocol()
			return server.New(cfg)
		}})
		require.NoError(t, err)
		require.Greater(t, res.Ticks, 300)
		n := len(again.used)
		require.Equal(t, m.game.used[:n], again.used)
		rises, falls := 0, 0
		for i := 1; i < n; i++ {
			if again.used[i] > again.used[i-1] {
				rises++
			} else if again.used[i] < again.used[i-1] {
				falls++
			}
		}
		require.Greater(t, rises, 50)
		require.Greater(t, falls, 5)
	}
}
