package client_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	ore struct {
		N int16 `net:"min=0,max=1000"`
	}
	digger struct{ X, Y int16 }
	dig    struct{ Step int8 }
)

// mine is a game of many changing values. One client may be unable to read some of them.
type mine struct {
	ore    ecs.Component[ore]
	digger ecs.Component[digger]
	cmd    ecs.Component[dig]
	vein   ecs.Prefab
	body   ecs.Prefab
	spoilt int16 // the value of the first vein; 0: it has the same as all others
	still  bool  // nothing grows
	veins  []ecs.Entity
}

func (g *mine) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("mine", 1)
	p.Component(&g.ore)
	p.Component(&g.digger, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.vein, "vein", &g.ore)
	p.Prefab(&g.body, "body", &g.digger, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			g.digger.Slice(rows)[i].X += int16(g.cmd.Slice(rows)[i].Step)
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.digger))
	p.Server("grow", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.still {
			return
		}
		for i, e := range g.veins {
			if g.ore.Get(f.World, e).N = int16((int(f.Tick)*7 + i*13) % 400); i == 0 && g.spoilt != 0 {
				g.ore.Get(f.World, e).N = g.spoilt + int16(f.Tick%2)
			}
		}
	}, ecs.Once(), ecs.WriteOther(&g.ore))
	return p
}

// shift is a match in the mine.
type shift struct {
	*simtest.Match
	g    *mine
	srv  *server.Server
	log  bytes.Buffer
	said bytes.Buffer // what clients logged
}

func newShift(t *testing.T, veins int) *shift {
	m := &shift{Match: simtest.New(1), g: &mine{}}
	srv, err := m.Serve(server.Config{Protocol: m.g.protocol(), Logger: slog.New(slog.NewTextHandler(&m.log, nil))})
	require.NoError(t, err)
	m.srv = srv
	for range veins {
		m.g.veins = append(m.g.veins, srv.Frame().Spawn(&m.g.vein, ecs.Nobody))
	}
	return m
}

func (m *shift) join(t *testing.T, after func(client.View)) (*client.Client, *mine) {
	g := &mine{}
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	c, err := m.Join(client.Config{Protocol: g.protocol(), Logger: slog.New(slog.NewTextHandler(&m.said, nil)),
		Sample: client.Sample(&g.cmd, func(client.View) dig {
			if m.g.still {
				return dig{}
			}
			return dig{1}
		})}, simtest.Seat{Up: link, Down: link, After: after})
	require.NoError(t, err)
	return c, g
}

// values returns the ores that a client shows, and how many veins have each.
func (g *mine) values(c *client.Client) map[int16]int {
	out := map[int16]int{}
	w := c.View().World
	for _, rows := range ecs.NewQuery(w.Types(), ecs.With(&g.ore)).All(w) {
		for _, o := range g.ore.Slice(rows) {
			out[o.N]++
		}
	}
	return out
}

// A client that cannot read one entity continues with all others. It reports that at most once a
// second, the server tries that entity again after 1, 2 and 4 s, and both agree in the end.
func TestUnreadSnapshotHeals(t *testing.T) {
	for _, late := range []bool{false, true} { // the client joins when there is already an entity that it cannot read
		const veins = 20
		m := newShift(t, veins)
		fine, _ := m.join(t, nil)
		var bad *client.Client
		var g *mine
		unread := 0
		join := func() {
			bad, g = m.join(t, func(v client.View) {
				if v.Unread {
					unread++
				}
			})
			bad.RefuseAbove("ore", 500)
		}
		if !late {
			join()
		}
		m.RunFor(3 * time.Second)
		m.g.spoilt = 700
		if late {
			join()
		}
		before, player := bad.Stats().Mispredictions, uint64(0)
		for range 8 { // seconds
			m.RunFor(time.Second)
			require.NoError(t, m.Err())
			require.Equal(t, client.Playing, bad.View().State)
			fresh := g.values(bad)
			seen := 0
			for n, k := range fresh {
				require.Less(t, n, int16(500))
				seen += k
			}
			want := veins
			if late {
				want = veins - 1
			}
			require.Equal(t, want, seen)
			require.Greater(t, bad.Stats().Snapshots-player, uint64(15), "others' news arrives")
			player = bad.Stats().Snapshots
		}
		require.Equal(t, before, bad.Stats().Mispredictions)
		st := m.srv.Stats()
		t.Logf("late %v: %d snapshots unread, %d reports, %d frames with Unread", late, bad.Stats().SnapshotsUnread, st.SnapshotsUnread, unread)
		require.InDelta(t, 4, float64(st.SnapshotsUnread), 1, "at 0, 1, 3 and 7 s")
		require.GreaterOrEqual(t, bad.Stats().SnapshotsUnread, st.SnapshotsUnread)
		require.Positive(t, unread)
		require.Zero(t, fine.Stats().SnapshotsUnread)
		require.Contains(t, m.log.String(), "a client could not read a snapshot")
		require.Contains(t, m.log.String(), "left_out_s=4")
		require.LessOrEqual(t, strings.Count(m.said.String(), "a snapshot could not be read"), 6)
		m.g.spoilt = 0
		m.RunFor(17 * time.Second)
		m.g.still = true
		m.RunFor(time.Second)
		require.Equal(t, client.Playing, bad.View().State)
		require.EqualValues(t, 1, bad.Stats().Connections)
		require.False(t, bad.View().Unread)
		require.Zero(t, m.Audit(bad).Differences, "%v", m.Audit(bad).First)
		require.Zero(t, m.Audit(fine).Differences)
		total := 0
		for _, k := range g.values(bad) {
			total += k
		}
		require.Equal(t, veins, total)
	}
}

// A client that sends false reports receives no more than an honest one.
func TestUnreadIsNoGain(t *testing.T) {
	honest := uint64(0) // the bytes without false reports, the same in each row
	for _, c := range []struct {
		name string
		from time.Duration                  // when the false reports begin
		wire func(frame int) (uint16, bool) // the false report for a frame, and whether there is one
	}{
		{"each second, of one entity", 5 * time.Second, func(n int) (uint16, bool) { return 3, n%60 < 8 }},
		{"each second, of each in turn", 5 * time.Second, func(n int) (uint16, bool) { return uint16(1 + n/60%60), n%60 < 8 }},
		{"each second, of none", 5 * time.Second, func(n int) (uint16, bool) { return 0, n%60 < 8 }},
		{"each second from the join on", 0, func(n int) (uint16, bool) { return 0, n%60 < 8 }},
		{"every two seconds", 5 * time.Second, func(n int) (uint16, bool) { return 0, n%120 < 8 }},
		{"every five seconds", 5 * time.Second, func(n int) (uint16, bool) { return 0, n%300 < 8 }},
		{"every 12 s", 5 * time.Second, func(n int) (uint16, bool) { return 0, n%720 < 8 }},
		{"in each packet, of any", 5 * time.Second, func(n int) (uint16, bool) { return uint16(n), true }},
		{"in each packet, of what is not there", 5 * time.Second, func(n int) (uint16, bool) { return 60_000, true }},
	} {
		receive := func(lies bool) (bytes, reports uint64) {
			m := newShift(t, 60)
			honest, _ := m.join(t, nil)
			var liar *client.Client
			frame, begun := 0, false
			liar, _ = m.join(t, func(v client.View) {
				frame++
				if wire, now := c.wire(frame); lies && begun && now && v.State == client.Playing {
					liar.ReportUnread(wire)
				}
			})
			begun = c.from == 0
			m.RunFor(5 * time.Second)
			begun = true
			before := liar.Stats().BytesIn
			m.RunFor(20 * time.Second)
			require.NoError(t, m.Err())
			require.Equal(t, client.Playing, honest.View().State)
			return liar.Stats().BytesIn - before, m.srv.Stats().SnapshotsUnread
		}
		if honest == 0 {
			honest, _ = receive(false)
		}
		got, reports := receive(true)
		t.Logf("%s: %d bytes, %d without a lie, %d reports", c.name, got, honest, reports)
		require.Positive(t, reports)
		assert.LessOrEqual(t, got, honest, c.name)
	}
}
