package matchtest

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	cargo struct {
		Items []int32 `net:"max=1024"`
		Label string  `net:"max=255"`
	}
	cargo2 struct {
		Items []int32 `net:"max=1024"`
	}
	cargo3 struct {
		Items []int32 `net:"max=1024"`
	}
	tiles struct {
		T []uint16 `net:"max=1024"`
	}
	meter struct{ N uint32 }
	haul  struct{ Step int8 }
)

// depot is a game of long records.
type depot struct {
	cargo     ecs.Component[cargo]
	meter     ecs.Component[meter]
	tiles     ecs.Singleton[tiles]
	cmd       ecs.Component[haul]
	body      ecs.Prefab
	crate     ecs.Prefab
	predicted bool
	single    bool
	still     bool // the game counts nothing
	observed  *server.Grant
	all, met  *ecs.Query
}

func (g *depot) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("depot", 1)
	if g.predicted {
		p.Component(&g.cargo, foretick.Predicted())
	} else {
		p.Component(&g.cargo)
	}
	if g.single {
		p.Singleton(&g.tiles)
	}
	p.Component(&g.meter)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.meter, &g.cargo, &g.cmd)
	p.Prefab(&g.crate, "crate", &g.cargo)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Server("count", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if g.still {
				break
			}
			g.meter.Slice(rows)[i].N = f.Tick
		}
	}, ecs.Write(&g.meter))
	g.all, g.met = p.Query(ecs.With(&g.cargo)), p.Query(ecs.With(&g.meter))
	return p
}

// store is a match in the depot.
type store struct {
	*simtest.Match
	t   *testing.T
	g   *depot
	srv *server.Server
	log bytes.Buffer
}

func newStore(t *testing.T, g *depot) *store {
	m := &store{Match: simtest.New(1), t: t, g: g}
	p := g.protocol()
	require.NoError(t, p.Err())
	cfg := server.Config{Protocol: p, Logger: slog.New(slog.NewTextHandler(&m.log, nil))}
	if g.observed != nil {
		cfg.Observe = func(server.Observer) (server.Grant, error) { return *g.observed, nil }
	}
	srv, err := m.Serve(cfg)
	require.NoError(t, err)
	m.srv = srv
	return m
}

func (m *store) join(loss float64) (*client.Client, *depot) {
	g := &depot{predicted: m.g.predicted, single: m.g.single}
	link := sim.Link{Latency: 30 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: loss}
	c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(client.View) haul { return haul{1} })}, simtest.Seat{Up: link, Down: link})
	require.NoError(m.t, err)
	return c, g
}

// numbers returns the sizes of the cargoes that a client shows, by size.
func (g *depot) numbers(w *ecs.World) map[int]int {
	out := map[int]int{}
	for _, rows := range g.all.All(w) {
		for _, c := range g.cargo.Slice(rows) {
			out[len(c.Items)]++
		}
	}
	return out
}

// age returns the age in ticks of the newest count that a client has.
func (m *store) age(c *client.Client, g *depot) int {
	newest := uint32(0)
	for _, rows := range g.met.All(c.View().World) {
		for _, n := range g.meter.Slice(rows) {
			newest = max(newest, n.N)
		}
	}
	return int(m.srv.Tick()) - int(newest)
}

func (m *store) fill(c *cargo, n int) {
	c.Items = nil
	for range n {
		c.Items = append(c.Items, int32(m.Rand().Uint32()))
	}
}

// Records longer than a packet arrive at players in the match and at those that join later: records
// of a thing, of a player's own body, predicted or not, and of a singleton. Each player's own
// state still arrives.
func TestLongRecords(t *testing.T) {
	for _, what := range []string{"thing", "body", "predicted body", "singleton"} {
		for _, n := range []int{150, 200, 300, 1024} {
			for _, loss := range []float64{0, 0.1} {
				m := newStore(t, &depot{predicted: what == "predicted body", single: what == "singleton"})
				first, fg := m.join(loss)
				m.RunFor(2 * time.Second)
				if what == "thing" {
					m.srv.Frame().Spawn(&m.g.crate, ecs.Nobody)
				}
				if what == "singleton" {
					for range n {
						x := m.g.tiles.Get(m.srv.World())
						x.T = append(x.T, uint16(m.Rand().Uint32()))
					}
				} else {
					for _, rows := range m.g.all.All(m.srv.World()) {
						m.fill(&m.g.cargo.Slice(rows)[0], n)
					}
				}
				m.RunFor(3 * time.Second)
				late, lg := m.join(loss)
				m.RunFor(4 * time.Second)
				require.NoError(t, m.Err())
				ages := []int{m.age(first, fg), m.age(late, lg)}
				m.g.still = true
				m.RunFor(time.Second)
				for i, c := range []*client.Client{first, late} {
					g := []*depot{fg, lg}[i]
					require.Equal(t, client.Playing, c.View().State)
					if what == "singleton" {
						require.Equal(t, *m.g.tiles.Get(m.srv.World()), *g.tiles.Get(c.View().World), "%s of %d", what, n)
					} else {
						require.Equal(t, m.g.numbers(m.srv.World()), g.numbers(c.View().World), "%s of %d", what, n)
					}
					require.Less(t, ages[i], 20)
					require.Zero(t, m.Audit(c).Differences, "%v", m.Audit(c).First)
					require.Zero(t, c.Stats().SnapshotsUnread)
				}
			}
		}
	}
}

// With many long records, all other entities on a client are as fresh as without.
func TestLongRecordsTogether(t *testing.T) {
	m := newStore(t, &depot{})
	a, ag := m.join(0.05)
	b, bg := m.join(0)
	m.RunFor(2 * time.Second)
	for range 20 {
		e := m.srv.Frame().Spawn(&m.g.crate, ecs.Nobody)
		m.fill(m.g.cargo.Get(m.srv.World(), e), 900)
	}
	for range 40 {
		m.RunFor(250 * time.Millisecond)
		require.Less(t, m.age(a, ag), 20)
		require.Less(t, m.age(b, bg), 20)
	}
	require.Equal(t, 20, ag.numbers(a.View().World)[900])
	require.Equal(t, 20, bg.numbers(b.View().World)[900])
	require.GreaterOrEqual(t, m.srv.Stats().LongRecords, uint64(40))
	require.Zero(t, m.srv.Stats().RecordsTooLong)
}

// A record that is sent in pieces arrives despite a level change and a reconnect.
func TestLongRecordsMeetChanges(t *testing.T) {
	for _, after := range []time.Duration{20, 60, 100, 150, 200} {
		for _, how := range []string{"level", "reconnect"} {
			m := newStore(t, &depot{})
			c, g := m.join(0.1)
			m.RunFor(2 * time.Second)
			e := m.srv.Frame().Spawn(&m.g.crate, ecs.Nobody)
			m.fill(m.g.cargo.Get(m.srv.World(), e), 1024)
			m.RunFor(after * time.Millisecond)
			if how == "level" {
				require.NoError(t, m.srv.NextLevel(nil, nil))
				m.RunFor(50 * time.Millisecond)
				e = m.srv.Frame().Spawn(&m.g.crate, ecs.Nobody)
				m.fill(m.g.cargo.Get(m.srv.World(), e), 800)
			} else {
				m.Link(c, sim.Link{Loss: 1}, sim.Link{Loss: 1})
				m.RunFor(8 * time.Second)
				link := sim.Link{Latency: 30 * time.Millisecond, Loss: 0.1}
				m.Link(c, link, link)
			}
			m.RunFor(5 * time.Second)
			m.g.still = true
			m.RunFor(time.Second)
			require.NoError(t, m.Err())
			require.Equal(t, client.Playing, c.View().State)
			require.Equal(t, m.g.numbers(m.srv.World()), g.numbers(c.View().World), "%s after %d ms", how, after)
			require.Zero(t, m.Audit(c).Differences, "%v", m.Audit(c).First)
		}
	}
}

type lodes struct {
	cargo  ecs.Component[cargo]
	cargo2 ecs.Component[cargo2]
	cargo3 ecs.Component[cargo3]
	meter  ecs.Component[meter]
	cmd    ecs.Component[haul]
	body   ecs.Prefab
	pile   ecs.Prefab
}

// A prefab whose record could be too long to send is refused at its declaration. If an entity's
// record becomes too long later, the log names the entity.
func TestRecordsTooLong(t *testing.T) {
	declare := func(g *lodes, whole bool) *foretick.Protocol {
		p := foretick.NewProtocol("lodes", 1)
		p.Component(&g.cargo)
		p.Component(&g.cargo2)
		p.Component(&g.cargo3)
		p.Component(&g.meter)
		p.Command(&g.cmd)
		p.Prefab(&g.body, "body", &g.meter, &g.cmd)
		if whole {
			p.Prefab(&g.pile, "pile", &g.cargo, &g.cargo2, &g.cargo3)
		} else {
			p.Prefab(&g.pile, "pile", &g.cargo)
		}
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
		return p
	}
	err := declare(&lodes{}, true).Err()
	require.Error(t, err)
	require.Contains(t, err.Error(), "prefab pile can take ")
	require.Contains(t, err.Error(), "cargo takes most")
	require.Contains(t, err.Error(), "16384")
	require.Contains(t, err.Error(), "lower max=")

	mine, theirs := &lodes{}, &lodes{}
	p := declare(mine, false)
	require.NoError(t, p.Err())
	m := simtest.New(1)
	var log bytes.Buffer
	srv, err := m.Serve(server.Config{Protocol: p, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	_, err = m.Join(client.Config{Protocol: declare(theirs, false), Sample: client.Sample(&theirs.cmd, func(client.View) haul { return haul{} })}, simtest.Seat{})
	require.NoError(t, err)
	m.RunFor(time.Second)
	w := srv.World()
	e := srv.Frame().Spawn(&mine.pile, ecs.Nobody)
	mine.cargo2.Add(w, e, cargo2{})
	mine.cargo3.Add(w, e, cargo3{})
	for range 1024 {
		n := int32(m.Rand().Uint32())
		mine.cargo.Get(w, e).Items = append(mine.cargo.Get(w, e).Items, n)
		mine.cargo2.Get(w, e).Items = append(mine.cargo2.Get(w, e).Items, n^5555)
		mine.cargo3.Get(w, e).Items = append(mine.cargo3.Get(w, e).Items, n*77777)
	}
	m.RunFor(2 * time.Second)
	require.Positive(t, srv.Stats().RecordsTooLong)
	require.Contains(t, log.String(), "pile")
	require.Contains(t, log.String(), "16384")
}

// Observers receive long records too: one with the public view, and one that sees everything.
func TestObserversOfLongRecords(t *testing.T) {
	for _, grant := range []server.Grant{server.Public(), server.Everything()} {
		m := newStore(t, &depot{observed: &grant})
		_, _ = m.join(0)
		m.RunFor(time.Second)
		for range 6 {
			e := m.srv.Frame().Spawn(&m.g.crate, ecs.Nobody)
			m.fill(m.g.cargo.Get(m.srv.World(), e), 500)
		}
		g := &depot{}
		link := sim.Link{Latency: 30 * time.Millisecond, Loss: 0.05}
		o, err := m.Join(client.Config{Protocol: g.protocol(), Observe: &client.Observe{}}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		m.RunFor(4 * time.Second)
		m.g.still = true
		m.RunFor(time.Second)
		require.NoError(t, m.Err())
		require.Equal(t, client.Playing, o.View().State)
		require.Equal(t, 6, g.numbers(o.View().World)[500])
		require.Equal(t, m.g.numbers(m.srv.World()), g.numbers(o.View().World))
	}
}
