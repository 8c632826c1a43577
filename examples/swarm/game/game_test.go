package game

import (
	"crypto/sha256"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// match is a match without a network.
type match struct {
	*simtest.Match
	*Game
	srv *server.Server
}

func newMatch(tb testing.TB, players foretick.PlayerID) match {
	g, m := &Game{}, simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: g.Protocol()})
	require.NoError(tb, err)
	for player := range players {
		g.Join(srv.Frame(), player+1)
	}
	return match{m, g, srv}
}

func (m match) run(ticks int) { m.RunFor(time.Duration(ticks) * time.Second / TickRate) }

// all returns a player's units.
func (m match) all(player foretick.PlayerID) (units []Unit) {
	for _, rows := range m.units.Owned(m.srv.World(), player) {
		units = append(units, m.Unit.Slice(rows)...)
	}
	return units
}

// TestOrdersReach: units in the rectangle go where they were sent and stand there, apart. Others stay. A
// group goes wherever its units are.
func TestOrdersReach(t *testing.T) {
	m := newMatch(t, 1)
	before := m.all(1)
	require.Len(t, before, Units)
	m.Give(m.srv.World(), 1, Order{Kind: Band, Group: 3, X0: -512, Y0: -512, X1: -170, Y1: 512})
	m.run(1)
	banded := 0
	for i, u := range m.all(1) {
		require.Equal(t, before[i].X <= -170*Metre, u.Group == 3)
		if u.Group == 3 {
			banded++
		}
	}
	require.Greater(t, banded, 100)
	m.Give(m.srv.World(), 1, Order{Kind: March, Group: 3, ToX: -175, ToY: 58})
	m.run(35 * TickRate)
	came := map[[2]int32]int{} // how many stand in a square of half a metre
	for i, u := range m.all(1) {
		require.False(t, u.Walks)
		if u.Group != 3 {
			require.Less(t, max(u.X-before[i].X, before[i].X-u.X, u.Y-before[i].Y, before[i].Y-u.Y), int32(5*Metre), "it was not sent")
			continue
		}
		far := max(u.X+175*Metre, -175*Metre-u.X, u.Y-58*Metre, 58*Metre-u.Y)
		require.Less(t, far, int32(30*Metre), "unit %d: %+v", i, u)
		came[[2]int32{u.X * 2 / Metre, u.Y * 2 / Metre}]++
	}
	for at, n := range came {
		require.LessOrEqual(t, n, 3, "%v", at)
	}
	m.Give(m.srv.World(), 1, Order{Kind: March, X0: -512, Y0: -512, X1: 511, Y1: 511, ToX: 100, ToY: 100})
	m.run(1)
	m.Give(m.srv.World(), 1, Order{Kind: Halt, X0: -512, Y0: -512, X1: 511, Y1: 511})
	m.run(1)
	for _, u := range m.all(1) {
		require.False(t, u.Walks, "halted")
	}
}

// TestFight: units of two players that meet lose lives, and some are gone.
func TestFight(t *testing.T) {
	m := newMatch(t, 2)
	for _, rows := range m.units.Owned(m.srv.World(), 2) {
		for i := range rows.Len() {
			m.Unit.Slice(rows)[i].X += 10 * Metre // near enough
		}
	}
	for player := range foretick.PlayerID(2) {
		m.Give(m.srv.World(), player+1, Order{Kind: March, X0: -512, Y0: -512, X1: 511, Y1: 511, ToX: -90, ToY: -48})
	}
	m.run(12 * TickRate)
	lost := 2*Units - m.Count(m.srv.World(), 1) - m.Count(m.srv.World(), 2)
	require.Greater(t, lost, 100)
	require.Less(t, lost, 2*Units)
}

// TestEqual: eight players' orders on 10 000 units have the same result in each run, on one
// processor and on two. The result is the world's bytes, with the order of rows.
func TestEqual(t *testing.T) {
	runs := func(processors int) (sum [32]byte, orders int) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		m := newMatch(t, Players)
		bot := NewBot(m.Game, 7)
		for tick := range 40 {
			player := foretick.PlayerID(tick%Players + 1)
			m.Give(m.srv.World(), player, bot.Order(m.srv.World(), player))
			orders++
			m.run(1)
		}
		bytes, err := ecs.Engine(m.srv.World()).AppendWorld(nil)
		require.NoError(t, err)
		return sha256.Sum256(bytes), orders
	}
	first, orders := runs(1)
	again, _ := runs(2)
	require.Equal(t, 40, orders)
	require.Equal(t, first, again)
}

// TestGrid: around returns all units within reach.
func TestGrid(t *testing.T) {
	m := newMatch(t, 1)
	draw := rand.New(rand.NewPCG(1, 1))
	for _, rows := range m.units.All(m.srv.World()) {
		for i := range rows.Len() {
			u := &m.Unit.Slice(rows)[i]
			u.X, u.Y = draw.Int32N(40*Metre)-half, draw.Int32N(40*Metre)+half-40*Metre // a corner of the map
		}
	}
	m.grid.build(&m.Unit, m.units.All(m.srv.World()))
	all, found := m.all(1), 0
	for _, u := range all {
		want, got := 0, 0
		within := func(x, y int32) int {
			if max(u.X-x, x-u.X, u.Y-y, y-u.Y) < reach {
				return 1
			}
			return 0
		}
		for _, o := range all {
			want += within(o.X, o.Y)
		}
		for _, near := range m.grid.around(u.X, u.Y) {
			for _, o := range near {
				got += within(o.x, o.y)
			}
		}
		require.Equal(t, want, got)
		found += got
	}
	require.Greater(t, found, 2*Units)
}

// BenchmarkRules measures a tick of the rules for 10 000 units that walk, without a network and without
// what a server does beside.
func BenchmarkRules(b *testing.B) {
	m := newMatch(b, Players)
	bot := NewBot(m.Game, 7)
	w := m.srv.World()
	for player := range foretick.PlayerID(Players) {
		m.Give(w, player+1, Order{Kind: March, X0: -512, Y0: -512, X1: 511, Y1: 511, ToX: int16(player)*20 - 80})
	}
	f := m.srv.Frame().Frame
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%10 == 1 {
			player := foretick.PlayerID(n/10%Players + 1)
			m.Give(w, player, bot.Order(w, player))
		}
		all := m.units.All(w)
		for _, rows := range all {
			m.obey(f, rows)
		}
		m.look(f, ecs.Rows{})
		for _, rows := range all {
			m.move(f, rows)
		}
		for _, rows := range m.generals.All(w) {
			m.done(f, rows)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/tick")
}
