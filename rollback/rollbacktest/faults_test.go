package rollbacktest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/rollback/rollbacktest"
	"github.com/foretick/foretick/transport/sim"
)

// recorder is a test that fails, with what it said.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()             {}
func (r *recorder) Name() string        { return "TestX/deep" }
func (r *recorder) Log(...any)          {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Fatalf(format string, args ...any) {
	r.said = fmt.Sprintf(format, args...)
	panic(r)
}

// said returns what Check reports for a plan that fails.
func said(t *testing.T, p rollbacktest.Plan) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() { require.Equal(t, r, recover()) }()
		rollbacktest.Check(r, p, 1)
	}()
	return r.said
}

// TestPlantedFaults: each kind of fault in a game is found, with its place.
func TestPlantedFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(g *snow)
		says   []string
		other  bool // other is true if the match does not repeat from its seed.
	}{
		"a Go counter": {func(g *snow) {
			g.plant = func(g *snow, _ *foretick.Frame, p *place) { g.runs++; p.X += g.runs % 3 }
		}, []string{"place.X", "walk", "what is not in the world"}, false},
		"a clock": {func(g *snow) {
			g.plant = func(_ *snow, _ *foretick.Frame, p *place) { p.Y = int32(time.Now().UnixNano() >> 8) }
		}, []string{`system "walk" makes place.Y`, "a clock"}, true},
		"a write outside of systems": {func(g *snow) {
			g.draw = func(g *snow, v rollback.View) {
				if v.Player != 2 || v.Tick < 200 || v.Tick > 260 {
					return
				}
				for _, rows := range g.forts.All(v.World) {
					g.fort.Slice(rows)[0].Life = 3
				}
			}
		}, []string{"player 2: fort.Life", "outside of systems", "here 3"}, false},
		"a join that differs": {func(g *snow) {
			g.start = func(g *snow) int32 { return int32(g.seed % 1000) }
		}, []string{`"OnJoin, OnLeave or the commands", place.X`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := said(t, rollbacktest.Plan{New: newSnow(c.change), Play: 8 * time.Second})
			for _, want := range append(c.says, "the world of player", "SIMTEST_SEED=1 go test") {
				require.Contains(t, text, want)
			}
			if c.other {
				require.Contains(t, text, "does not repeat from its seed")
			} else {
				require.NotContains(t, text, "does not repeat")
			}
		})
	}
}

// TestFaultHasTheDesync: the error of a match whose worlds differ has what the player was told, with the cause.
func TestFaultHasTheDesync(t *testing.T) {
	_, err := rollbacktest.Plan{Play: 8 * time.Second, New: newSnow(func(g *snow) {
		g.start = func(g *snow) int32 { return int32(g.seed % 1000) }
	})}.Run(3)
	var f *rollbacktest.Fault
	require.ErrorAs(t, err, &f)
	require.NotNil(t, f.Desync)
	require.NotNil(t, f.Desync.Cause)
	require.Equal(t, "place.X", f.Desync.Cause.Field)
	require.NotEqual(t, f.Player, f.Desync.Other)
	require.Less(t, f.At, 8*time.Second, "the match ends at once")
	require.NotZero(t, f.Tick)
}

// TestReplayThatDiffers: a replay that gives other worlds than the match fails it, though all peers agreed.
func TestReplayThatDiffers(t *testing.T) {
	peers := 0
	_, err := rollbacktest.Plan{Play: 4 * time.Second, New: newSnow(func(g *snow) {
		peers++
		g.runs = int32(peers / 3) // the third is of a replay
		g.start = func(g *snow) int32 { return 500 * g.runs }
	})}.Run(1)
	require.ErrorContains(t, err, "the replay of player 1 has another world than the match")
	require.ErrorContains(t, err, "a field of the game struct")
	var d *rollback.Divergence
	require.ErrorAs(t, err, &d)
}

// TestNothingHappens: a match that tests nothing fails, unless the plan allows that.
func TestNothingHappens(t *testing.T) {
	for name, c := range map[string]struct {
		change func(g *snow)
		says   string
	}{
		"a script that presses nothing": {func(g *snow) {
			g.press = func(*snow, *rand.Rand, rollback.View) keys { return keys{} }
		}, "no field of the command was ever set"},
		"rules that do nothing": {func(g *snow) { g.idle = true }, "no value of the world changed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := rollbacktest.Plan{New: newSnow(c.change), Play: 4 * time.Second, Stay: 4 * time.Second}
			_, err := p.Run(1)
			require.ErrorContains(t, err, c.says)
			p.Idle = true
			_, err = p.Run(1)
			require.NoError(t, err)
		})
	}
}

// TestMatchesThatEnd: a match fails if a peer ends that should not, if it is not back at the end, and if nothing was
// compared.
func TestMatchesThatEnd(t *testing.T) {
	loses := rollbacktest.Plan{New: newSnow(nil), Play: 8 * time.Second, Drops: 2 * time.Second}
	loses.Peer = func(cfg *rollback.Config) { cfg.Redial = nil }
	nobody := rollbacktest.Plan{New: newSnow(nil), Play: 8 * time.Second, Links: []sim.Link{{Loss: 1}}}
	refused := rollbacktest.Plan{New: newSnow(nil), Play: 2 * time.Second, Players: 3}
	refused.Relay = func(cfg *relay.Config) { cfg.Players = 2 }
	windows, n := rollbacktest.Plan{New: newSnow(nil), Play: 2 * time.Second}, 0
	windows.Peer = func(cfg *rollback.Config) { n++; cfg.Window = 3 + n }
	for name, c := range map[string]struct {
		plan rollbacktest.Plan
		says string
	}{
		"a lost connection": {loses, "ended: foretick: disconnected: timeout"},
		"no connection":     {nobody, "ended: foretick: disconnected: timeout"},
		"no room":           {refused, "only 2 of 3 players and 0 of 0 spectators are back"},
		"other windows":     {windows, "the match has a window of 4 ticks, not 5"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.plan.Run(1)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "after ")
		})
	}
}

// TestPanicNamesItsSeed: if the script ends the test or the game panics, the log has the command that repeats it.
func TestPanicNamesItsSeed(t *testing.T) {
	r := &logger{recorder: recorder{TB: t}}
	require.PanicsWithValue(t, "a fault of the game", func() {
		rollbacktest.Check(r, rollbacktest.Plan{New: newSnow(func(g *snow) {
			g.draw = func(*snow, rollback.View) { panic("a fault of the game") }
		})}, 1)
	})
	require.Contains(t, r.said, "SIMTEST_SEED=1 go test")
}

// logger keeps what it logged.
type logger struct{ recorder }

func (l *logger) Logf(format string, args ...any) { l.said += fmt.Sprintf(format, args...) }

// TestPlanIsChecked: Run names every fault of a plan.
func TestPlanIsChecked(t *testing.T) {
	_, err := rollbacktest.Plan{Players: 65, Observers: -1, FrameRate: 2000, Links: []sim.Link{{Loss: 2}}, Drops: -1}.Run(1)
	for _, want := range []string{"Plan.New is nil", "Plan.Players is 65", "Plan.Observers is -1", "Plan.FrameRate is 2000", "Plan.Links[0]", "negative"} {
		require.ErrorContains(t, err, want)
	}
	_, err = rollbacktest.Plan{New: func(uint64) rollbacktest.Player { return rollbacktest.Player{} }}.Run(1)
	require.ErrorContains(t, err, "returned no Protocol")
	_, err = rollbacktest.Plan{New: newSnow(nil), Relay: func(cfg *relay.Config) { cfg.History = -1 }}.Run(1)
	require.ErrorContains(t, err, "History")
}
