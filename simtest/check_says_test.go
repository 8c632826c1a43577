package simtest_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/plantedtest"
	"github.com/foretick/foretick/simtest"
)

type pond struct {
	Radius float32 `net:"min=0,max=100,step=0.25"`
}

// said returns what Check reports for a plan that fails.
func said(t *testing.T, p simtest.Plan) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() { require.Equal(t, r, recover()) }()
		simtest.Check(r, p, 1)
	}()
	return r.said
}

// A clock in a singleton prevents a match from coming to rest. Check says once what differs, in
// the field's own units, and what to do.
func TestCheckNamesTheClockThatNeverRests(t *testing.T) {
	text := said(t, simtest.Plan{Clients: 2, Play: 2 * time.Second, New: func() simtest.Player {
		p := foretick.NewProtocol("pond", 1)
		var at ecs.Singleton[pond]
		var pos ecs.Component[position]
		var body ecs.Prefab
		p.Singleton(&at)
		p.Component(&pos)
		p.Prefab(&body, "body", &pos)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
		p.Server("shrink", func(f *foretick.ServerFrame, _ ecs.Rows) { at.Get(f.World).Radius = float32(f.Tick%256) / 4 }, ecs.Once(), ecs.Write(&at))
		return simtest.Player{Protocol: p}
	}})
	require.Equal(t, 1, strings.Count(text, "Plan.Rest"), text)
	require.Regexp(t, `singleton pond\.Radius: client has \d+(\.25|\.5|\.75)?, server \d+(\.25|\.5|\.75)? \(`, text)
	require.NotContains(t, text, "foretick.Singletons")
	require.NotContains(t, text, "does not repeat")
}

// With a server that draws numbers without a seed, the same seed gives another match each time.
// Check says so, since the command that it prints would not play the same match again.
func TestCheckSaysThatAMatchDoesNotRepeat(t *testing.T) {
	plan := func(dice func() uint64) simtest.Plan {
		return simtest.Plan{Clients: 2, Play: 2 * time.Second, Rest: -1, New: func() simtest.Player {
			p := foretick.NewProtocol("dice", 1)
			var pos ecs.Component[position]
			var body ecs.Prefab
			p.Component(&pos)
			p.Prefab(&body, "body", &pos)
			p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
			p.Server("roll", func(_ *foretick.ServerFrame, rows ecs.Rows) {
				for i, at := 0, pos.Slice(rows); i < len(at); i++ {
					at[i].X = 200 + float32(dice()%100) // outside of its tag's range, so that the match fails
				}
			}, ecs.Write(&pos))
			return simtest.Player{Protocol: p}
		}}
	}
	require.Contains(t, said(t, plan(rand.Uint64)), "does not repeat from its seed")
	require.NotContains(t, said(t, plan(func() uint64 { return 7 })), "does not repeat")
}

// A shared system that spawns without declaring it is named.
func TestUndeclaredSpawnNamesItsSystem(t *testing.T) {
	plan := simtest.Plan{Clients: 1, Play: time.Second, Rest: -1, SyncTest: -1, New: func() simtest.Player {
		p := foretick.NewProtocol("weeds", 1)
		var pos ecs.Component[position]
		var cmd ecs.Component[move]
		var body, weed ecs.Prefab
		p.Component(&pos, foretick.Predicted())
		p.Command(&cmd)
		p.Prefab(&body, "body", &pos, &cmd)
		p.Prefab(&weed, "weed", &pos)
		p.Spawns(&weed, foretick.SpawnConfig{})
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
		p.Shared("plant", func(f *foretick.Frame, rows ecs.Rows) { f.SpawnBy(rows.Entity(0), &weed) }, ecs.Read(&cmd), ecs.Write(&pos))
		return simtest.Player{Protocol: p}
	}}
	const want = `foretick: shared system "plant" spawns prefab "weed" without saying so: declare it on the system with ecs.Create`
	require.PanicsWithError(t, want, func() { _, _ = plan.Run(1) })
}

// Check and SyncTest fail if players own no entity with the command: such a match tests nothing.
func TestCheckAndSyncTestSayThatNobodyPlays(t *testing.T) {
	end := func() simtest.Player {
		g := &planted{}
		p := foretick.NewProtocol("empty", 1)
		p.Component(&g.Pos, foretick.Predicted())
		p.Command(&g.Cmd)
		p.Prefab(&g.Player, "player", &g.Pos, &g.Cmd)
		p.Shared("move", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.Cmd), ecs.Write(&g.Pos))
		return simtest.Player{Protocol: p, Sample: client.Sample(&g.Cmd, func(client.View) plantedtest.Move { return plantedtest.Move{X: 1} })}
	}
	require.Contains(t, said(t, simtest.Plan{Clients: 2, Play: 2 * time.Second, New: end}), "nobody plays: no player ever owned")
	faults, err := simtest.FindDesyncs(end, simtest.SyncConfig{})
	require.NoError(t, err)
	require.NotEmpty(t, faults)
	require.Contains(t, faults[0], "nobody plays: no player ever owned")
}
