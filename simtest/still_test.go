package simtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

type (
	stillPlace struct {
		X float32 `net:"min=-100,max=100,step=0.01"`
	}
	stillTide struct {
		Level uint16
	}
	stillMove struct {
		X    int8
		Jump bool `net:"oneshot"`
		Aim  int8 `net:"press"`
	}
	stillNews struct{ N uint8 }
	stillFlag struct{ Up bool }
)

// stillGame is a game in which a player or a server system may do something.
type stillGame struct {
	tide  bool
	press stillMove
	news  bool // the server sends a message in every fourth tick
	bare  bool // the game has no systems
}

type stillHandles struct {
	at   ecs.Component[stillPlace]
	tide ecs.Component[stillTide]
	flag ecs.Component[stillFlag]
	move ecs.Component[stillMove]
	body ecs.Prefab
	mast ecs.Prefab
	news foretick.Message[stillNews]
}

func (g *stillGame) player() simtest.Player {
	h := &stillHandles{}
	p := foretick.NewProtocol("still", 1)
	p.Component(&h.at, foretick.Predicted())
	p.Component(&h.tide)
	p.Component(&h.flag)
	p.Command(&h.move)
	p.Prefab(&h.body, "body", &h.at, &h.tide, &h.move)
	p.Prefab(&h.mast, "mast", &h.flag) // no such entity is spawned
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&h.body, player) })
	if g.news { // Delivery fails a match in which a declared message never comes
		h.news.OnClient(p, func(*foretick.Frame, foretick.Tick, stillNews) {})
	}
	tide, press, news := g.tide, g.press, g.news
	player := simtest.Player{Protocol: p, Sample: client.Sample(&h.move, func(client.View) stillMove { return press }), Rest: func(on bool) { tide, news = g.tide && !on, g.news && !on }}
	if g.bare {
		return player
	}
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		at, move := h.at.Slice(rows), h.move.Slice(rows)
		for i := range at {
			at[i].X = max(-90, min(at[i].X+float32(move[i].X), 90))
		}
	}, ecs.Read(&h.move), ecs.Write(&h.at))
	p.Server("hoist", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Write(&h.flag))
	p.Server("rise", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, all := 0, h.tide.Slice(rows); tide && i < len(all); i++ {
			all[i].Level = uint16(f.Tick)
		}
	}, ecs.Write(&h.tide))
	p.Server("announce", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if news && f.Tick%4 == 0 {
			h.news.Broadcast(f, stillNews{1})
		}
	}, ecs.Once())
	return player
}

// tbLog collects what a test logs.
type tbLog struct {
	testing.TB
	lines  []string
	failed []string
}

func (t *tbLog) Helper()                   {}
func (t *tbLog) Errorf(f string, a ...any) { t.failed = append(t.failed, fmt.Sprintf(f, a...)) }
func (t *tbLog) Fatalf(f string, a ...any) {
	t.failed = append(t.failed, fmt.Sprintf(f, a...))
	panic(t)
}
func (t *tbLog) Logf(f string, a ...any) { t.lines = append(t.lines, fmt.Sprintf(f, a...)) }
func (t *tbLog) Log(a ...any)            { t.lines = append(t.lines, fmt.Sprint(a...)) }

// TestStill: a script that presses nothing fails, unless something else changes or the match
// is meant to stand still. What no match used is logged.
func TestStill(t *testing.T) {
	const nothing = "nothing happened: no field of the command was ever set"
	for name, c := range map[string]struct {
		game  stillGame
		idle  bool
		fails bool
		unset string
	}{
		"presses nothing":   {stillGame{}, false, true, "stillMove.X, stillMove.Jump, stillMove.Aim"},
		"means it":          {stillGame{}, true, false, "stillMove.X, stillMove.Jump, stillMove.Aim"},
		"walks":             {stillGame{press: stillMove{X: 1}}, false, false, "stillMove.Jump, stillMove.Aim"},
		"jumps":             {stillGame{press: stillMove{Jump: true}}, false, false, "stillMove.X, stillMove.Aim"},
		"the server's tide": {stillGame{tide: true}, false, false, "stillMove.X, stillMove.Jump, stillMove.Aim"},
		"messages":          {stillGame{news: true}, false, false, "stillMove.X, stillMove.Jump, stillMove.Aim"},
		"all":               {stillGame{press: stillMove{X: 1, Jump: true, Aim: 1}}, false, false, ""},
		"no systems":        {stillGame{bare: true}, false, true, "stillMove.X, stillMove.Jump, stillMove.Aim"},
		"none, but pressed": {stillGame{bare: true, press: stillMove{X: 1}}, false, false, "stillMove.Jump, stillMove.Aim"},
	} {
		sync, check := &tbLog{TB: t}, &tbLog{TB: t}
		simtest.SyncTest(sync, c.game.player, simtest.SyncConfig{Idle: c.idle})
		func() {
			defer func() { _ = recover() }()
			simtest.Check(check, simtest.Plan{New: c.game.player, Clients: 2, Play: 5 * time.Second, Idle: c.idle}, 2)
		}()
		for _, got := range []*tbLog{sync, check} {
			if c.fails {
				require.Len(t, got.failed, 1, name)
				require.Contains(t, got.failed[0], nothing, name)
			} else {
				require.Empty(t, got.failed, name)
			}
			lines := strings.Join(got.lines, "\n")
			if c.fails && got == check {
				continue // the test failed before it logged anything
			}
			if c.game.bare {
				require.NotContains(t, lines, "systems", name)
			} else {
				require.Contains(t, lines+"\n", "systems that matched no row after any tick: hoist\n", name)
			}
			if c.unset == "" {
				require.NotContains(t, lines, "never set", name)
			} else {
				require.Contains(t, lines+"\n", "never set in the command, so not tested: "+c.unset+"\n", name)
			}
		}
	}
}
