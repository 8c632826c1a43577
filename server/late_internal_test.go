package server

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/transport/sim"
)

type (
	lateSpot  struct{ X float32 }
	latePress struct{ X float32 }
	lateName  struct {
		Of string `net:"max=8"`
	}
	lateScore struct{ N int32 }
)

// lateGame declares a game that can have late inputs, with the additions of more.
func lateGame(more func(p *foretick.Protocol, at *ecs.Component[lateSpot], body *ecs.Prefab)) *foretick.Protocol {
	var (
		at   ecs.Component[lateSpot]
		cmd  ecs.Component[latePress]
		body ecs.Prefab
	)
	p := foretick.NewProtocol("late", 1)
	p.Component(&at, foretick.Predicted())
	p.Command(&cmd)
	p.Prefab(&body, "body", &at, &cmd)
	p.Shared("move", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&cmd), ecs.Write(&at))
	if more != nil {
		more(p, &at, &body)
	}
	return p
}

// A game in which the ticks of one player cannot run again alone is refused, and the error names a
// remedy.
func TestLateInputsAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		cfg  Config
		more func(p *foretick.Protocol, at *ecs.Component[lateSpot], body *ecs.Prefab)
		want string
	}{
		"none":         {Config{}, nil, ""},
		"fits":         {Config{Late: Late{Window: 500 * time.Millisecond}}, nil, ""},
		"negative":     {Config{Late: Late{Window: -1}}, nil, "use up to 500ms, or 0 for none"},
		"share":        {Config{Late: Late{Window: 1, Share: 0.2}}, nil, ""},
		"no share":     {Config{Late: Late{Window: 1, Share: -0.01}}, nil, "Late.Share is -0.01: use up to 0.2, or 0 for none"},
		"large share":  {Config{Late: Late{Window: 1, Share: 0.21}}, nil, "Late.Share is 0.21: use up to 0.2, or 0 for none"},
		"share of NaN": {Config{Late: Late{Window: 1, Share: math.NaN()}}, nil, "Late.Share is NaN: use up to 0.2, or 0 for none"},
		"endless":      {Config{Late: Late{Window: 1, Share: math.Inf(1)}}, nil, "Late.Share is +Inf: use up to 0.2, or 0 for none"},
		"share alone":  {Config{Late: Late{Share: 0.1}}, nil, "set Late.Window too, or leave Share out"},
		"world alone":  {Config{Late: Late{World: true}}, nil, "Late.World is set without a Window"},
		"long":         {Config{Late: Late{Window: time.Second}}, nil, "use up to 500ms, or 0 for none"},
		"history":      {Config{Late: Late{Window: 400 * time.Millisecond}}, func(p *foretick.Protocol, _ *ecs.Component[lateSpot], _ *ecs.Prefab) { p.SetTickRate(60) }, "use 266.666666ms at most"},
		"other builds": {Config{Late: Late{Window: 1}, AllowOtherBuilds: true}, nil, "leave AllowOtherBuilds out"},
		"write other": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Shared("push", none, ecs.Read(at), ecs.WriteOther(at))
		}, "raise an Event and write in its OnServer handler"},
		"whole world": {Config{Late: Late{Window: 1, World: true}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Shared("touch", none, ecs.Read(at), ecs.WriteOther(at))
		}, ""},
		"physics": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Prefab(new(ecs.Prefab), "crate", at)
			p.Shared("push", none, ecs.Read(at), ecs.WriteOther(at))
		}, "let a Server system move it"},
		"without rows": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Shared("rowless", func(*foretick.Frame, ecs.Rows) {}, ecs.Once(), ecs.Write(at))
		}, `shared system "rowless" is declared with ecs.Once`},
		"singleton": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, foretick.Predicted())
			p.Shared("count", none, ecs.Read(at), ecs.Write(&score))
		}, "raise an Event and write in its OnServer handler"},
		"score": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score)
			p.Server("count", none, ecs.Read(at), ecs.Write(&score))
		}, ""},
		"clock": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, foretick.Predicted())
			p.Shared("clock", none, ecs.Once(), ecs.Write(&score))
			p.Shared("look", none, ecs.Write(at), ecs.Read(&score))
		}, ""},
		"clock that looks": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, foretick.Predicted())
			p.Shared("count", none, ecs.Once(), ecs.Write(&score), ecs.ReadOther(at))
		}, "raise an Event and write in its OnServer handler"},
		"predicted singleton": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, foretick.Predicted())
			p.Server("count", none, ecs.Once(), ecs.Write(&score))
			p.Shared("look", none, ecs.Write(at), ecs.Read(&score))
		}, ""},
		"strings": {Config{Late: Late{Window: 1}}, func(p *foretick.Protocol, _ *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var name ecs.Component[lateName]
			p.Component(&name, foretick.Predicted())
			p.Prefab(new(ecs.Prefab), "named", &name)
		}, "use arrays and numbers"},
	} {
		row.cfg.Protocol, row.cfg.Transport = lateGame(row.more), sim.NewNetwork(1).Listen()
		require.NoError(t, row.cfg.Protocol.Err(), name)
		_, err := New(row.cfg)
		if row.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, row.want, name)
		require.ErrorContains(t, err, "server.Config.Late", name)
	}
	var cmd ecs.Component[latePress]
	p := lateGame(func(p *foretick.Protocol, _ *ecs.Component[lateSpot], _ *ecs.Prefab) {})
	_ = cmd
	_, err := New(Config{Protocol: p, Transport: sim.NewNetwork(1).Listen(), Late: Late{Window: time.Millisecond}})
	require.NoError(t, err)
	_, err = New(Config{Protocol: foretick.NewProtocol("bare", 1), Transport: sim.NewNetwork(1).Listen(), Late: Late{Window: 1}})
	require.ErrorContains(t, err, "declare one with Protocol.Command")
}

// Without Late a player has none of their data.
func TestNoLateInputsCostNothing(t *testing.T) {
	p := &player{}
	tick, ticking, players := foretick.Tick(1), true, []*late.Player{&p.late}
	l := late.New(late.Config{Tick: &tick, Ticking: &ticking, Players: &players}, nil)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		l.BeginTick(&p.late)
		l.Block(&p.late)
		l.BlockAll()
		l.Save()
		l.Withholds(&p.late)
		l.RerunParts()
	}))
	require.Equal(t, late.Player{}, p.late)
}

// A server sends the share that it allows, and never 0 if there is a share.
func TestServerTellsTheShareOfLateInputs(t *testing.T) {
	for share, told := range map[float64]uint8{0: 0, 1e-9: 1, 0.05: 13, 0.2: 52} {
		s, err := New(Config{Protocol: lateGame(nil), Transport: sim.NewNetwork(1).Listen(), Late: Late{Window: 200 * time.Millisecond, Share: share}})
		require.NoError(t, err)
		p := &player{}
		p.outbox.every = 1
		w := s.packets.welcomeFor(p)
		require.Equal(t, told, w.LateShare, "%v", share)
		require.EqualValues(t, 6, w.Late)
	}
}

// The server forgets what is hidden from players for entities that are gone, but not for one that a
// late input may bring back.
func TestLateSweepKeepsWhoMayComeBack(t *testing.T) {
	type atPos struct{ X float32 }
	type atCmd struct{ X float32 }
	var pos ecs.Component[atPos]
	var cmd ecs.Component[atCmd]
	p := foretick.NewProtocol("sweep", 1)
	p.Component(&pos)
	p.Command(&cmd)
	for _, late := range []time.Duration{0, 200 * time.Millisecond} {
		s, err := New(Config{Protocol: p, Transport: sim.NewNetwork(1).Listen(), Late: Late{Window: late}})
		require.NoError(t, err)
		hides, last := map[ecs.Entity]bool{}, foretick.Tick(0)
		for i := range 40 {
			hides[1<<40+ecs.Entity(i)] = true // these are gone
		}
		at := func(tick foretick.Tick) int {
			s.sim.frame.Tick = tick
			sweep(&s.interest, hides, &last)
			return len(hides)
		}
		if late == 0 {
			require.Zero(t, at(100))
			continue
		}
		window := s.late.Window
		require.Equal(t, 40, at(100))
		s.interest.appears(ecs.Entity(1<<40), 1) // one came back, and is gone again
		require.Equal(t, 40, at(101+window))
		require.Equal(t, 40, at(100+2*window), "swept not long ago")
		require.Equal(t, 1, at(101+3*window), "but for the one that is gone since")
		require.Contains(t, hides, ecs.Entity(1<<40))
	}
}

// none is a system that does nothing.
func none[F any](F, ecs.Rows) {}
