package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
)

func TestLateWorldNeedsAWindow(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), []string{"-late-world"}, &bytes.Buffer{}), "-late-world needs -late-inputs")
	require.ErrorContains(t, run(t.Context(), []string{"-late-world", "-late-inputs", "0"}, &bytes.Buffer{}), "-late-world needs -late-inputs")
	require.ErrorContains(t, run(t.Context(), []string{"-late-world", "-web", ":0"}, &bytes.Buffer{}), "-web excludes -late-world")
}

// result is the result of a match.
type result struct {
	Kills  uint32
	Bodies []Body
	Lives  []game.Life
	Stuns  []foretick.Tick
	Died   map[foretick.PlayerID][]foretick.Tick
}

func (m *match) result() result {
	r := result{Kills: m.game.Kills(m.server.World()), Stuns: m.stuns, Died: m.shots.died}
	r.Bodies, _ = bodiesIn(m.game, m.server.World(), ecs.Nobody)
	for _, rows := range m.game.Avatars.All(m.server.World()) {
		r.Lives = append(r.Lives, m.game.Life.Slice(rows)...)
	}
	return r
}

// deaths returns the number of deaths in the components.
func (r result) deaths() (n int) {
	for _, life := range r.Lives {
		n += int(life.Deaths)
	}
	return n
}

// simulated plays a match in virtual time to its end. ready is called ahead of the first tick.
func simulated(t *testing.T, o options, boltsOnly bool, ready func(*match)) (*match, *Report) {
	t.Helper()
	virtual(t)
	m, s := newMatch(o), simtest.New(o.seed)
	require.NoError(t, m.serveSim(s))
	ready(m)
	for n := range o.clients {
		seat, cfg, err := m.clientConfig(n)
		require.NoError(t, err)
		if boltsOnly {
			cfg.Sample = client.Sample(&seat.game.Cmd, func(v client.View) game.Command {
				cmd := seat.bot.Sample(v)
				cmd.Weapon, cmd.Fire, cmd.Shoot = game.Launcher, cmd.Fire || cmd.Shoot, false
				return cmd
			})
		}
		require.NoError(t, m.seatSim(s, seat, cfg))
	}
	s.Run(o.duration())
	m.end()
	s.Run(o.duration() + quietTime)
	require.NoError(t, s.Err())
	r, err := m.report("")
	require.NoError(t, err)
	return m, r
}

func lateWorld(preset string) options {
	return options{seconds: 25, clients: 8, tickRate: 30, seed: 4, preset: preset, lateInputs: 200 * time.Millisecond, lateWorld: true}
}

// The server's systems and handlers keep no state in Go fields: each tick runs again with the same
// result. Counters of ticks count each tick once.
func TestLateWorld(t *testing.T) {
	presets := []string{"wifi"}
	if longer() {
		presets = append(presets, "lte")
	}
	for _, preset := range presets {
		o, ticks, again := lateWorld(preset), 0, 0
		m, r := simulated(t, o, false, func(m *match) {
			require.NoError(t, campaign.SyncTestServer(m.server, 3, func(d simtest.Desync) { t.Errorf("%s: %v", preset, d) }))
			began := m.game.Watch.Began
			m.game.Watch.Began = func(f *foretick.Frame) {
				began(f)
				if ticks++; f.Replay {
					again++
				}
			}
		})
		got := m.result()
		require.Greater(t, again, ticks/2, preset)
		require.Greater(t, r.InputsRerun, uint64(5), preset)
		require.Greater(t, got.deaths(), 10, preset)
		require.EqualValues(t, got.deaths(), got.Kills, preset)
		died := 0
		for _, list := range got.Died {
			died += len(list)
			require.IsIncreasing(t, list, preset)
		}
		require.Equal(t, got.deaths(), died, preset)
		require.IsNonDecreasing(t, got.Stuns, preset)
		require.Equal(t, r.HitsTold, r.HitsHeard, "%s: each hit is told once", preset)
		require.Equal(t, r.EventsSent, r.EventsDelivered, preset)
		require.Zero(t, r.Desyncs, r.FirstDesync)
		require.Zero(t, r.MispredictionsByCause["code"], preset)
		for _, s := range m.seats {
			require.Equal(t, got.Kills+1, s.next["kill"], "%s: kills have numbers without gaps", preset)
		}
	}
}

// TestLateWorld would find state in a Go field.
func TestLateWorldFindsACounterInAField(t *testing.T) {
	o := lateWorld("wifi")
	o.seconds = 2
	found, n := 0, uint32(0)
	simulated(t, o, false, func(m *match) {
		require.NoError(t, campaign.SyncTestServer(m.server, 1, func(simtest.Desync) { found++ }))
		m.game.Watch.Began = func(f *foretick.Frame) {
			n++
			for _, rows := range m.game.Avatars.All(f.World) {
				m.game.Life.Slice(rows)[0].Kills = n
			}
		}
	})
	require.Greater(t, found, 30)
}

// A match with late inputs has the same result as one in which they came in time. All players use the
// launcher: the shots of other guns are judged by what was shown, which differs between the two.
func TestLateWorldIsAsIfInTime(t *testing.T) {
	long(t)
	for _, preset := range []string{"wifi", "lte"} {
		o := lateWorld(preset)
		o.seconds = 40 // bolts hit seldom
		type at struct {
			player foretick.PlayerID
			tick   foretick.Tick
		}
		ran := map[at]game.Command{}
		late, r := simulated(t, o, true, func(m *match) {
			before := m.game.Watch.Before
			m.game.Watch.Before = func(f *foretick.Frame, rows ecs.Rows) {
				before(f, rows)
				ran[at{rows.Owner(), f.Tick}] = m.game.Cmd.Slice(rows)[0] // the command of the last run
			}
		})
		o.lateInputs, o.lateWorld = 0, false
		inTime, _ := simulated(t, o, true, func(m *match) {
			m.game.Watch.Began = func(f *foretick.Frame) {
				for _, rows := range m.game.Avatars.All(f.World) {
					m.game.Cmd.Slice(rows)[0] = ran[at{rows.Owner(), f.Tick}]
				}
			}
		})
		require.Greater(t, r.InputsRerun, uint64(5), preset)
		require.Greater(t, late.result().deaths(), 3, preset)
		require.Equal(t, inTime.result(), late.result(), preset)
	}
}

// The referee follows which ticks ran again, which players that changed, and which inputs were refused.
// Without the facts about that, the counts differ.
func TestRefereeAgreesOnLateWorld(t *testing.T) {
	long(t)
	log := func(args ...string) string {
		return logged(t, append([]string{"-late-inputs", "200ms", "-late-world", "-clients", "8"}, args...)...)
	}
	causes, logs := map[string]uint64{}, map[string][]byte{} // by jitter or preset
	for _, args := range [][]string{
		{"-seconds", "30", "-jitter", "60ms", "-rtt", "100ms", "-loss", "0.1", "-late-share", "0.2", "-seed", "15"}, // hundreds of late inputs
		{"-seconds", "30", "-preset", "wifi", "-seed", "3"},
		{"-seconds", "15", "-preset", "lte", "-seed", "3"},
		{"-seconds", "8", "-preset", "wifi", "-seed", "15", "-tickrate", "60", "-snapshotrate", "20"},
		{"-seconds", "12", "-rtt", "100ms", "-jitter", "30ms", "-loss", "0.05", "-late-share", "0.1"},
	} {
		name, undone, refused := log(args...), 0, 0
		rewrite(t, name, func(f *Fact) {
			switch f.F {
			case "undo":
				undone++
			case "input":
				refused += f.Refused
			case "report":
				for cause, n := range f.Report.MispredictionsByCause {
					causes[cause] += n
				}
			}
		})
		if logs[args[3]] == nil {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			logs[args[3]] = b
		}
		out, err := recounted(t, name)
		require.NoError(t, err, "%v\n%s", args, out)
		require.Greater(t, undone, 5, args)
		if args[3] == "wifi" {
			require.NotZero(t, refused, args)
		}
	}
	require.NotZero(t, causes["late_input"])
	for _, c := range []struct {
		log, key string
		change   func(f *Fact)
	}{
		{"wifi", "stuns", func(f *Fact) { f.F = map[bool]string{true: "nothing", false: f.F}[f.F == "undo"] }},
		{"60ms", "by_cause", func(f *Fact) { f.F = map[bool]string{true: "nothing", false: f.F}[f.F == "redone"] }},
		{"wifi", "mispredictions", func(f *Fact) { f.Refused = 0 }},
	} {
		name := filepath.Join(t.TempDir(), c.key)
		require.NoError(t, os.WriteFile(name, logs[c.log], 0o600))
		rewrite(t, name, c.change)
		out, err := recounted(t, name)
		require.ErrorContains(t, err, c.key, out)
	}
}
