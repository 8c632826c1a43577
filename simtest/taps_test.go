package simtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	tapBare struct{ Walk, Jump bool }
	tapShot struct {
		Walk bool
		Jump bool `net:"oneshot"`
	}
)

// tapGame returns an end of a game whose command has type T. The script makes the commands.
func tapGame[T any](script func(tick foretick.Tick) T) func() simtest.Player {
	return func() simtest.Player {
		var at ecs.Component[position]
		var cmd ecs.Component[T]
		var body ecs.Prefab
		p := foretick.NewProtocol("taps", 1)
		p.Component(&at, foretick.Predicted())
		p.Command(&cmd)
		p.Prefab(&body, "body", &at, &cmd)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
		p.Shared("move", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&cmd), ecs.Write(&at))
		return simtest.Player{Protocol: p, Sample: client.Sample(&cmd, func(v client.View) T { return script(v.Tick) })}
	}
}

// Check and SyncTest name the bools of the command that the script only taps, and that have no tag
// oneshot. A held bool is not named.
func TestTapsWithoutOneShotAreLogged(t *testing.T) {
	const word = "set for single ticks in the command, without the tag oneshot: tapBare.Jump. If"
	walk := func(t foretick.Tick) bool { return t/20%2 == 0 }
	for name, row := range map[string]struct {
		end  func() simtest.Player
		says bool
	}{
		"tapped":         {tapGame(func(t foretick.Tick) tapBare { return tapBare{walk(t), t%16 == 0} }), true},
		"with oneshot":   {tapGame(func(t foretick.Tick) tapShot { return tapShot{walk(t), t%16 == 0} }), false},
		"held":           {tapGame(func(t foretick.Tick) tapBare { return tapBare{walk(t), t%16 < 5} }), false},
		"tapped or held": {tapGame(func(t foretick.Tick) tapBare { return tapBare{walk(t), t%16 == 0 || t%64 < 5} }), false},
		"pressed twice":  {tapGame(func(t foretick.Tick) tapBare { return tapBare{walk(t), t == 60 || t == 90} }), false},
	} {
		sync, check := &tbLog{TB: t}, &tbLog{TB: t}
		simtest.SyncTest(sync, row.end, simtest.SyncConfig{})
		all := simtest.Check(check, simtest.Plan{New: row.end, Clients: 2, Play: 6 * time.Second, Links: []sim.Link{sim.LAN}}, 1)
		for _, got := range []*tbLog{sync, check} {
			require.Empty(t, got.failed, name)
			require.Equal(t, row.says, strings.Contains(strings.Join(got.lines, "\n"), word), "%s: %v", name, got.lines)
			require.Equal(t, row.says, strings.Contains(strings.Join(got.lines, "\n"), "oneshot"), "%s: %v", name, got.lines)
		}
		require.Equal(t, row.says, len(all[0].Tapped) == 1, name)
	}
}
