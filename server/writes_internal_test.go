package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport/sim"
)

// After a sudden effect, a snapshot is sent in the same tick and the next, whatever the rate. The
// repetitions of a lasting effect have no such snapshots.
func TestSuddenEffectsAreToldAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		effects []foretick.Tick
		extra   []foretick.Tick // ticks with a snapshot, besides every fourth tick
	}{
		"none":                  {nil, nil},
		"one":                   {[]foretick.Tick{21}, []foretick.Tick{21, 22}},
		"one where one is due":  {[]foretick.Tick{24}, []foretick.Tick{25}},
		"two with calm between": {[]foretick.Tick{21, 33}, []foretick.Tick{21, 22, 33, 34}},
		"a poison that goes on": {[]foretick.Tick{21, 22, 23, 26, 30, 35, 41}, []foretick.Tick{21, 22}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &player{outbox: outbox{every: 4}}
			var extra []foretick.Tick
			for now := foretick.Tick(1); now < 60; now++ {
				for _, e := range c.effects {
					if e == now {
						p.reasons.Affected(now, 1, 10)
					}
				}
				if p.due(now) && now%4 != 0 {
					extra = append(extra, now)
				}
			}
			require.Equal(t, c.extra, extra)
		})
	}
}

// An entity spawned between ticks belongs to the next tick, even if nothing of it is predicted. An
// entity that a function of Do spawns belongs to the tick in which the function runs.
func TestSpawnsBetweenTicksAreOfTheNext(t *testing.T) {
	type mark struct{ N uint8 }
	type keys struct{ X int8 }
	type parts struct {
		cmd         ecs.Component[keys]
		marks       ecs.Component[mark]
		body, thing ecs.Prefab
	}
	protocol := func(g *parts) *foretick.Protocol {
		p := foretick.NewProtocol("marks", 1)
		p.Component(&g.marks)
		p.Command(&g.cmd)
		p.Prefab(&g.body, "body", &g.cmd)
		p.Prefab(&g.thing, "thing", &g.marks)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
		return p
	}
	g, own, net := &parts{}, &parts{}, sim.NewNetwork(1)
	listen := net.Listen()
	s, err := New(Config{Protocol: protocol(g), Transport: listen})
	require.NoError(t, err)
	c, err := client.New(client.Config{Protocol: protocol(own), Transport: net.Dial(listen, sim.LAN, sim.LAN), Sample: client.Sample(&own.cmd, func(client.View) keys { return keys{} })})
	require.NoError(t, err)
	now := time.Duration(0)
	step := func() {
		for tick := s.Tick(); s.Tick() == tick; now += time.Millisecond {
			net.Run(now)
			c.Step(time.Unix(0, 0).Add(now))
			s.Step(time.Unix(0, 0).Add(now))
		}
	}
	for range 60 {
		step()
	}
	spawn := func(f *foretick.ServerFrame) { f.Spawn(&g.thing, 1) }
	for name, do := range map[string]struct {
		spawn func()
		later foretick.Tick // how many ticks after the newest tick
	}{
		"between ticks": {func() { spawn(s.Frame()) }, 1},
		"in Do":         {func() { require.NoError(t, s.Do("spawn", spawn)); step() }, 0},
	} {
		step()
		step()
		require.NotNil(t, s.sessions.player(1))
		do.spawn()
		for k := foretick.Tick(0); k < 2; k++ {
			require.Equal(t, k == do.later, s.sessions.player(1).reasons.AffectedIn(s.Tick()+k), "%s: %d ticks later", name, k)
		}
	}
}
