package simtest_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

var hierarchySeeds = flag.Int("hierarchies", costtest.Count(5, 50), "how many matches TestMountedTurrets plays; 200 before a release")

// tag is a label by which the test recognises an entity on all ends.
type tag struct{ N uint16 }

// crate is a component that a client's game keeps for itself.
type crate struct{ N uint8 }

// depot is a game of vehicles with mounted turrets.
type depot struct {
	pos     ecs.Component[position]
	label   ecs.Component[tag]
	cmd     ecs.Component[move]
	body    ecs.Prefab
	car     ecs.Prefab
	turret  ecs.Prefab
	all     *ecs.Query
	labels  uint16
	flat    bool // the protocol does not declare Hierarchy
	own     ecs.Component[crate]
	crate   ecs.Prefab // prefab of entities that only a client has
	scuttle foretick.Tick
}

func (g *depot) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("depot", 1)
	if !g.flat {
		p.Hierarchy()
	}
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.label)
	p.LocalComponent(&g.own)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.label, &g.cmd)
	p.Prefab(&g.car, "car", &g.pos, &g.label, &g.cmd)
	p.Prefab(&g.turret, "turret", &g.pos, &g.label)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.spawn(f, &g.body, player) })
	p.Shared("drive", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * 5 * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Shared("scuttle", func(f *foretick.Frame, rows ecs.Rows) {
		for i, l := range g.label.Slice(rows) {
			if l.N == 1000 && f.Tick == g.scuttle {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Read(&g.label), ecs.With(&g.cmd), ecs.Structural())
	if p.Types().RegisterPrefab(&g.crate, "crate", &g.own) != nil {
		panic("crate")
	}
	g.all = p.Query(ecs.With(&g.label))
	return p
}

func (g *depot) spawn(f *foretick.ServerFrame, k *ecs.Prefab, owner foretick.PlayerID) ecs.Entity {
	e := f.Spawn(k, owner)
	g.labels++
	g.label.Get(f.World, e).N = g.labels
	return e
}

// family lists the children with their parents, by their labels.
func (g *depot) family(w *ecs.World) map[uint16]uint16 {
	out := map[uint16]uint16{}
	for _, rows := range g.all.All(w) {
		for i, l := range g.label.Slice(rows) {
			out[l.N] = 0
			if parent := w.Parent(rows.Entity(i)); parent != ecs.None {
				out[l.N] = g.label.Get(w, parent).N
			}
		}
	}
	return out
}

// parade is a match in the depot.
type parade struct {
	m       *simtest.Match
	g       *depot
	srv     *server.Server
	clients []*client.Client
	games   []*depot
	wrong   []prediction.Misprediction
	hidden  [4]map[uint16]bool // labels of the entities that are hidden from each player
}

func newParade(t *testing.T, seed uint64, link sim.Link, scuttle foretick.Tick, flat ...bool) *parade {
	d := &parade{m: simtest.New(seed), g: &depot{scuttle: scuttle, flat: len(flat) > 0 && flat[0]}}
	var err error
	d.srv, err = d.m.Serve(server.Config{Protocol: d.g.protocol()})
	require.NoError(t, err)
	for range 3 {
		g := &depot{scuttle: scuttle, flat: d.g.flat}
		c, err := d.m.Join(client.Config{Protocol: g.protocol(),
			OnMisprediction: func(w prediction.Misprediction) { d.wrong = append(d.wrong, w) },
			Sample:          client.Sample(&g.cmd, func(v client.View) move { return move{X: float32(int(v.Tick/15)%3 - 1)} })},
			simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		d.clients, d.games = append(d.clients, c), append(d.games, g)
	}
	for i := range d.hidden {
		d.hidden[i] = map[uint16]bool{}
	}
	return d
}

// vehicle makes a car with three turrets, of three owners.
func (d *parade) vehicle(driver foretick.PlayerID) (car ecs.Entity, turrets []ecs.Entity) {
	f := d.srv.Frame()
	owners := []foretick.PlayerID{driver, 1 + driver%3, ecs.Nobody}
	if d.m.Rand().IntN(2) == 0 { // the turrets are spawned first
		for _, o := range owners {
			turrets = append(turrets, d.g.spawn(f, &d.g.turret, o))
		}
	}
	car = d.g.spawn(f, &d.g.car, driver)
	for i := range owners {
		if i == len(turrets) {
			turrets = append(turrets, d.g.spawn(f, &d.g.turret, owners[i]))
		}
		_ = f.World.SetParent(turrets[i], car)
	}
	return car, turrets
}

// hide hides an entity from a player, or shows it again.
func (d *parade) hide(player foretick.PlayerID, e ecs.Entity, hidden bool) {
	if l := d.g.label.Find(d.srv.World(), e); l != nil {
		d.srv.Frame().SetVisible(player, e, !hidden)
		d.hidden[player][l.N] = hidden
	}
}

// equal requires that each client shows the server's family, without hidden entities.
func (d *parade) equal(t *testing.T, what string) {
	t.Helper()
	for i, c := range d.clients {
		hidden := d.hidden[c.View().Player]
		want := map[uint16]uint16{}
		for child, parent := range d.g.family(d.srv.World()) {
			if hidden[parent] {
				parent = 0
			}
			if !hidden[child] {
				want[child] = parent
			}
		}
		require.Equal(t, want, d.games[i].family(c.View().World), "%s: player %d", what, c.View().Player)
	}
}

func (d *parade) rest() { d.m.Run(d.m.Net.Now() + 1500*time.Millisecond) }

// A vehicle with three turrets over a bad path: mounted and dismounted, hidden and shown,
// with changing drivers, and destroyed. Whenever it rests, all screens show one family.
func TestMountedTurrets(t *testing.T) {
	for seed := range *hierarchySeeds {
		link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
		d := newParade(t, uint64(seed), link, 0)
		r := d.m.Rand()
		d.m.Run(2 * time.Second)
		car, turrets := d.vehicle(1)
		other, more := d.vehicle(2)
		all := slices.Concat([]ecs.Entity{car, other}, turrets, more)
		for range 30 {
			w := d.srv.World()
			e := all[r.IntN(len(all))]
			player := foretick.PlayerID(1 + r.IntN(3))
			switch r.IntN(5) {
			case 0:
				_ = w.Transfer(car, player)
			case 1:
				d.hide(player, e, true)
			case 2:
				d.hide(player, e, false)
			case 3: // to the other car, and back
				_ = w.SetParent(turrets[r.IntN(3)], []ecs.Entity{car, other, ecs.None}[r.IntN(3)])
			case 4: // with its turrets on another car
				_ = w.SetParent(car, []ecs.Entity{other, ecs.None}[r.IntN(2)])
			}
			d.m.Run(d.m.Net.Now() + time.Duration(r.IntN(200))*time.Millisecond)
		}
		d.rest()
		d.equal(t, fmt.Sprint("seed ", seed, " at rest"))
		d.srv.Frame().Destroy(other)
		for _, e := range more {
			require.Equal(t, d.srv.World().Alive(e), d.srv.World().Parent(e) == ecs.None && d.srv.World().Alive(e))
		}
		d.rest()
		d.equal(t, fmt.Sprint("seed ", seed, " without a car"))
		for player := range d.hidden {
			for _, e := range all {
				if player > 0 {
					d.hide(foretick.PlayerID(player), e, false)
				}
			}
		}
		d.rest()
		d.equal(t, fmt.Sprint("seed ", seed, " with all shown"))
		require.NoError(t, d.m.Err())
		for _, c := range d.clients {
			require.Zero(t, c.Stats().ByCause.Of(prediction.Code), d.wrong)
		}
	}
}

// A child has its parent in each frame that shows both, and not only at rest.
func TestChildrenAreMountedInEachFrame(t *testing.T) {
	d := newParade(t, 1, sim.Link{Latency: 50 * time.Millisecond}, 0)
	d.m.Run(2 * time.Second)
	_, turrets := d.vehicle(1)
	for i, c := range d.clients {
		mounted := map[uint16]bool{}
		for end := d.m.Net.Now() + time.Second; d.m.Net.Now() < end; d.m.Run(d.m.Net.Now() + 5*time.Millisecond) {
			family := d.games[i].family(c.View().World)
			for n := range turrets {
				l := d.g.label.Get(d.srv.World(), turrets[n]).N
				if family[l] != 0 {
					mounted[l] = true
				} else {
					require.False(t, mounted[l], "it stays")
				}
			}
		}
		require.Len(t, mounted, 3)
	}
}

// A car that its driver scuttles, ahead of the server, takes the driver's own turret with
// it. The others stay until the server removes them, and a denied scuttling changes nothing.
func TestPredictedDestructionOfAParent(t *testing.T) {
	for _, denied := range []bool{false, true} {
		d := newParade(t, 1, sim.Link{Latency: 100 * time.Millisecond}, 240)
		d.m.Run(2 * time.Second)
		car, turrets := d.vehicle(1)
		d.g.label.Get(d.srv.World(), car).N = 1000
		if denied {
			d.g.scuttle = 0
		}
		label := func(e ecs.Entity) uint16 { return d.g.label.Get(d.srv.World(), e).N }
		labels := []uint16{label(turrets[0]), label(turrets[1]), label(turrets[2])}
		ahead := false
		c, g := d.clients[0], d.games[0]
		require.EqualValues(t, 1, c.View().Player)
		for c.View().Tick < 300 {
			d.m.Run(d.m.Net.Now() + 10*time.Millisecond)
			if f := g.family(c.View().World); c.View().Tick == 242 {
				_, hasCar := f[1000]
				_, own := f[labels[0]]
				_, another := f[labels[1]]
				_, nobodys := f[labels[2]]
				require.Equal(t, []bool{false, false, true, true}, []bool{hasCar, own, another, nobodys})
				ahead = true
			}
		}
		require.True(t, ahead)
		d.rest()
		require.Equal(t, denied, d.srv.World().Alive(car))
		d.equal(t, fmt.Sprint("denied: ", denied))
		require.NoError(t, d.m.Err())
	}
}

// A client without prediction shows the same family.
func TestHierarchyWithoutPrediction(t *testing.T) {
	d := newParade(t, 1, sim.Link{Latency: 40 * time.Millisecond}, 0)
	g := &depot{}
	c, err := d.m.Join(client.Config{Protocol: g.protocol(), NoPrediction: true}, simtest.Seat{})
	require.NoError(t, err)
	d.m.Run(2 * time.Second)
	_, turrets := d.vehicle(1)
	d.rest()
	require.Equal(t, d.g.family(d.srv.World()), g.family(c.View().World))
	require.NoError(t, d.srv.World().SetParent(turrets[0], ecs.None))
	d.rest()
	require.Equal(t, d.g.family(d.srv.World()), g.family(c.View().World))
}

// Without Protocol.Hierarchy no parents are sent, and entities on clients have none.
func TestHierarchyIsAsked(t *testing.T) {
	flat, deep := &depot{flat: true}, &depot{}
	require.NotContains(t, flat.protocol().Describe(), "foretick.Parent")
	require.Contains(t, deep.protocol().Describe(), "foretick.Parent")
}

// Ticks and frames with parents allocate nothing.
func TestHierarchyAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	d := newParade(t, 1, sim.Link{Latency: 30 * time.Millisecond}, 0)
	d.m.Run(2 * time.Second)
	for player := range 3 {
		d.vehicle(foretick.PlayerID(player + 1))
	}
	d.m.Run(10 * time.Second)
	var memory runtime.MemStats
	var mallocs uint64
	first := d.srv.Tick()
	d.m.AroundServer = func(step func()) {
		runtime.ReadMemStats(&memory)
		before := memory.Mallocs
		step()
		runtime.ReadMemStats(&memory)
		mallocs += memory.Mallocs - before
	}
	d.m.Run(20 * time.Second)
	ticks := d.srv.Tick() - first
	require.Greater(t, ticks, uint32(250))
	require.Less(t, float64(mallocs)/float64(ticks), 0.1)
}
