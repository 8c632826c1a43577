//go:build foretick_debug

package simtest_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
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

// A debug build warns about things that are allowed and nearly always a
// mistake.
func TestDebugBuildsCaution(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(g *planted, p *foretick.Protocol)
		want  []string
	}{
		"what a player owns only the server moves": {func(g *planted, p *foretick.Protocol) {
			pet := &ecs.Prefab{}
			p.Prefab(pet, "pet", &g.Pos)
			p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(pet, player) })
			p.Server("stroll", func(_ *foretick.ServerFrame, rows ecs.Rows) {
				for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
					pos[i].X += 0.125
				}
			}, ecs.Write(&g.Pos), ecs.Without(&g.Cmd))
		}, []string{`system "stroll" moves position of prefab "pet"`, "in a Shared system", "Protocol.Interpolated"}},
		"an event that nobody handles": {func(g *planted, p *foretick.Protocol) {
			honk := &foretick.Event[order]{}
			p.Shared("honk", func(f *foretick.Frame, rows ecs.Rows) { honk.Raise(f, rows.Entity(0), order{}) }, ecs.Read(&g.Cmd))
		}, []string{"event order is raised and has no handler", "OnServer"}},
		"a shared system that pushes other players": {func(g *planted, p *foretick.Protocol) {
			p.Shared("push", func(f *foretick.Frame, rows ecs.Rows) {
				for _, others := range g.All.All(f.World) {
					for i, pos := 0, g.Pos.Slice(others); i < len(pos) && others.Owner() != rows.Owner(); i++ {
						pos[i].X = float32(f.Tick % 32)
					}
				}
			}, ecs.Read(&g.Cmd), ecs.WriteOther(&g.Pos))
		}, []string{`shared system "push" writes position of player`, "in its OnServer handler", "PredictRemote"}},
	} {
		faults, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(c.plant) }, simtest.SyncConfig{})
		require.NoError(t, err, name)
		for _, w := range c.want {
			require.Contains(t, strings.Join(faults, "\n"), w, name)
		}
	}
	// Predicted is right for a component that only the server writes and shared systems read.
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		return (&planted{}).End(func(g *planted, p *foretick.Protocol) {
			pet := &ecs.Prefab{}
			p.Prefab(pet, "pet", &g.Pos)
			p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(pet, player) })
			p.Server("stroll", func(_ *foretick.ServerFrame, rows ecs.Rows) {
				for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
					pos[i].X += 0.125
				}
			}, ecs.Write(&g.Pos), ecs.Without(&g.Cmd))
			p.Shared("watch", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.Pos))
		})
	}, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Empty(t, faults)
	faults, err = simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(nil) }, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Empty(t, faults)
}

// A debug build does not warn about an event that the server handles, or for which a client plays
// a sound. Nor does it warn about a body that a system moves through the world.
func TestDebugBuildsDoNotCautionAbout(t *testing.T) {
	for name, plant := range map[string]func(g *planted, p *foretick.Protocol){
		"a sound": func(g *planted, p *foretick.Protocol) {
			honk, heard := &foretick.Event[order]{}, 0
			honk.OnPredicted(p, func(f *foretick.Frame, by foretick.By, _ order) { heard += int(g.Pos.Get(f.World, by.Entity).X) })
			p.Shared("honk", func(f *foretick.Frame, rows ecs.Rows) { honk.Raise(f, rows.Entity(0), order{}) }, ecs.Read(&g.Cmd))
		},
		"its own rows": func(g *planted, p *foretick.Protocol) {
			p.Shared("push", func(f *foretick.Frame, rows ecs.Rows) {
				g.Pos.Get(f.World, rows.Entity(0)).X = float32(f.Tick % 32)
			}, ecs.Read(&g.Cmd), ecs.WriteOther(&g.Pos))
		},
	} {
		faults, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(plant) }, simtest.SyncConfig{})
		require.NoError(t, err, name)
		require.Empty(t, faults, name)
	}
}

// A handler that a client calls only once must not write predicted components. The panic names the
// handler's line, and no system.
func TestDebugBuildsRefuseWritesOfHandlers(t *testing.T) {
	at := ""
	err := func() (err error) {
		defer func() { err, _ = recover().(error) }()
		_, _ = simtest.FindDesyncs(func() simtest.Player {
			return (&planted{}).End(func(g *planted, p *foretick.Protocol) {
				honk := &foretick.Event[order]{}
				_, file, line, _ := runtime.Caller(0)
				at = fmt.Sprintf("%s:%d", file, line+2)
				honk.OnPredicted(p, func(f *foretick.Frame, by foretick.By, _ order) { g.Pos.Get(f.World, by.Entity).X += 3 })
				p.Shared("honk", func(f *foretick.Frame, rows ecs.Rows) { honk.Raise(f, rows.Entity(0), order{}) }, ecs.Read(&g.Cmd))
			})
		}, simtest.SyncConfig{})
		return nil
	}()
	require.ErrorContains(t, err, "the handler of event order at "+at)
	require.ErrorContains(t, err, "writes predicted state")
	require.NotContains(t, err.Error(), `system "`)
}

// A debug build of a client warns once about a component that a shared system reads, that the
// server keeps changing, and that is not predicted.
func TestDebugBuildsCautionAboutUntrackedReads(t *testing.T) {
	for name, c := range map[string]struct {
		options []foretick.ComponentOption
		every   foretick.Tick
		want    int
	}{
		"often":     {nil, 8, 1},
		"seldom":    {nil, 80, 0},
		"predicted": {[]foretick.ComponentOption{foretick.Predicted()}, 8, 0},
	} {
		m := simtest.New(4)
		end := func() simtest.Player {
			var wind ecs.Component[order]
			return (&planted{}).End(func(g *planted, p *foretick.Protocol) {
				p.Component(&wind, c.options...)
				body := &ecs.Prefab{}
				p.Prefab(body, "kite", &g.Pos, &wind, &g.Cmd)
				p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(body, player) })
				p.Server("blow", func(f *foretick.ServerFrame, rows ecs.Rows) {
					for i, w := 0, wind.Slice(rows); i < len(w) && f.Tick%c.every == 0; i++ {
						w[i].Cups = uint8(f.Tick / c.every % 8)
					}
				}, ecs.Write(&wind))
				p.Shared("drift", func(f *foretick.Frame, rows ecs.Rows) {
					for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
						pos[i].Y = float32(wind.Slice(rows)[i].Cups)
					}
				}, ecs.Read(&wind), ecs.Write(&g.Pos), ecs.After("move", "blow"))
			})
		}
		_, err := m.Serve(server.Config{Protocol: end().Protocol})
		require.NoError(t, err)
		var told []string
		p := end()
		log := slog.New(slog.NewTextHandler(lines{&told}, &slog.HandlerOptions{Level: slog.LevelWarn}))
		link := sim.Link{Latency: 40 * time.Millisecond}
		cli, err := m.Join(client.Config{Protocol: p.Protocol, Sample: p.Sample, Logger: log}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		m.Run(10 * time.Second)
		require.NoError(t, m.Err())
		text := strings.Join(told, "")
		require.Equal(t, c.want, strings.Count(text, "10 corrections of position.Y and others have one reason"), "%s: %v: %s", name, cli.Stats().ByCause, text)
		if c.want > 0 {
			require.Contains(t, text, "read order, which is not Predicted")
			require.Contains(t, text, "declare it with Predicted()")
		}
	}
}

// lines keeps what a logger writes.
type lines struct{ to *[]string }

func (l lines) Write(b []byte) (int, error) {
	*l.to = append(*l.to, string(b))
	return len(b), nil
}
