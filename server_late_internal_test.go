package foretick

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/netcode"
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

// lateGame declares a game that late inputs suit, with more in it.
func lateGame(more func(p *Protocol, at *ecs.Component[lateSpot], body *ecs.Prefab)) *Protocol {
	var (
		at   ecs.Component[lateSpot]
		cmd  ecs.Component[latePress]
		body ecs.Prefab
	)
	p := NewProtocol("late", 1)
	p.Component(&at, Predicted())
	p.Command(&cmd)
	p.Prefab(&body, "body", &at, &cmd)
	p.Shared("move", func(*Frame, ecs.Rows) {}, ecs.Read(&cmd), ecs.Write(&at))
	if more != nil {
		more(p, &at, &body)
	}
	return p
}

// A game in which one player's part cannot run again alone is refused, with what to do.
func TestLateInputsAreRefused(t *testing.T) {
	none := func(*Frame, ecs.Rows) {}
	for name, row := range map[string]struct {
		cfg  ServerConfig
		more func(p *Protocol, at *ecs.Component[lateSpot], body *ecs.Prefab)
		want string
	}{
		"none":         {ServerConfig{}, nil, ""},
		"fits":         {ServerConfig{LateInputs: 500 * time.Millisecond}, nil, ""},
		"negative":     {ServerConfig{LateInputs: -1}, nil, "use up to 500ms, or 0 for none"},
		"share":        {ServerConfig{LateInputs: 1, LateShare: 0.2}, nil, ""},
		"no share":     {ServerConfig{LateInputs: 1, LateShare: -0.01}, nil, "LateShare is -0.01: use up to 0.2, or 0 for none"},
		"large share":  {ServerConfig{LateInputs: 1, LateShare: 0.21}, nil, "LateShare is 0.21: use up to 0.2, or 0 for none"},
		"share of NaN": {ServerConfig{LateInputs: 1, LateShare: math.NaN()}, nil, "LateShare is NaN: use up to 0.2, or 0 for none"},
		"endless":      {ServerConfig{LateInputs: 1, LateShare: math.Inf(1)}, nil, "LateShare is +Inf: use up to 0.2, or 0 for none"},
		"share alone":  {ServerConfig{LateShare: 0.1}, nil, "set LateInputs too, or leave LateShare out"},
		"world alone":  {ServerConfig{LateWorld: true}, nil, "LateWorld is set without LateInputs"},
		"long":         {ServerConfig{LateInputs: time.Second}, nil, "use up to 500ms, or 0 for none"},
		"history":      {ServerConfig{LateInputs: 400 * time.Millisecond}, func(p *Protocol, _ *ecs.Component[lateSpot], _ *ecs.Prefab) { p.SetTickRate(60) }, "use 266.666666ms at most"},
		"other builds": {ServerConfig{LateInputs: 1, AllowOtherBuilds: true}, nil, "leave AllowOtherBuilds out"},
		"write other": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Shared("push", none, ecs.Read(at), ecs.WriteOther(at))
		}, "raise an Event and write in its OnServer handler"},
		"whole world": {ServerConfig{LateInputs: 1, LateWorld: true}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Shared("touch", none, ecs.Read(at), ecs.WriteOther(at))
		}, ""},
		"physics": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Prefab(new(ecs.Prefab), "crate", at)
			p.Shared("push", none, ecs.Read(at), ecs.WriteOther(at))
		}, "let a Server system move it"},
		"without rows": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			p.Shared("rowless", func(*Frame, ecs.Rows) {}, ecs.Once(), ecs.Write(at))
		}, `shared system "rowless" is declared with ecs.Once`},
		"singleton": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, Predicted())
			p.Shared("count", none, ecs.Read(at), ecs.Write(&score))
		}, "raise an Event and write in its OnServer handler"},
		"score": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score)
			p.Server("count", none, ecs.Read(at), ecs.Write(&score))
		}, ""},
		"clock": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, Predicted())
			p.Shared("clock", none, ecs.Once(), ecs.Write(&score))
			p.Shared("look", none, ecs.Write(at), ecs.Read(&score))
		}, ""},
		"clock that looks": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, Predicted())
			p.Shared("count", none, ecs.Once(), ecs.Write(&score), ecs.ReadOther(at))
		}, "raise an Event and write in its OnServer handler"},
		"predicted singleton": {ServerConfig{LateInputs: 1}, func(p *Protocol, at *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var score ecs.Singleton[lateScore]
			p.Singleton(&score, Predicted())
			p.Server("count", none, ecs.Once(), ecs.Write(&score))
			p.Shared("look", none, ecs.Write(at), ecs.Read(&score))
		}, ""},
		"strings": {ServerConfig{LateInputs: 1}, func(p *Protocol, _ *ecs.Component[lateSpot], _ *ecs.Prefab) {
			var name ecs.Component[lateName]
			p.Component(&name, Predicted())
			p.Prefab(new(ecs.Prefab), "named", &name)
		}, "use arrays and numbers"},
	} {
		row.cfg.Protocol, row.cfg.Transport = lateGame(row.more), sim.NewNetwork(1).Listen()
		require.NoError(t, row.cfg.Protocol.Err(), name)
		_, err := NewServer(row.cfg)
		if row.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, row.want, name)
		require.ErrorContains(t, err, "ServerConfig.Late", name)
	}
	var cmd ecs.Component[latePress]
	p := lateGame(func(p *Protocol, _ *ecs.Component[lateSpot], _ *ecs.Prefab) {})
	_ = cmd
	_, err := NewServer(ServerConfig{Protocol: p, Transport: sim.NewNetwork(1).Listen(), LateInputs: time.Millisecond})
	require.NoError(t, err)
	_, err = NewServer(ServerConfig{Protocol: NewProtocol("bare", 1), Transport: sim.NewNetwork(1).Listen(), LateInputs: 1})
	require.ErrorContains(t, err, "declare one with Protocol.Command")
}

// Without LateInputs a player has none of what they need.
func TestNoLateInputsCostNothing(t *testing.T) {
	p := &player{}
	tick, ticking, players := Tick(1), true, []*late.Player{&p.late}
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

// A client takes no larger share for its clock than it may have, and keeps commands no longer
// than it can, whatever a server tells it.
func TestClientCapsWhatItIsToldOfLateInputs(t *testing.T) {
	for _, share := range []uint8{0, 13, 51, 52, 255} {
		s := newSiege(t, false)
		s.up()
		w := s.welcome()
		w.Late, w.LateShare = max(6, share), share
		s.say(netcode.MessageWelcome, w.Append(nil))
		require.NotPanics(t, func() {
			for range 5 {
				s.snapshot(s.sender, 0, s.usual)
				s.flush(siegeTick)
			}
		}, "%d/256", share)
		require.Equal(t, Playing, s.client.view.State, "%d/256", share)
		require.Equal(t, min(int(w.Late), 32), s.client.input.late)
	}
}

// A server tells the share that it allows, and never none where there is one.
func TestServerTellsTheShareOfLateInputs(t *testing.T) {
	for share, told := range map[float64]uint8{0: 0, 1e-9: 1, 0.05: 13, 0.2: 52} {
		s, err := NewServer(ServerConfig{Protocol: lateGame(nil), Transport: sim.NewNetwork(1).Listen(), LateInputs: 200 * time.Millisecond, LateShare: share})
		require.NoError(t, err)
		p := &player{}
		p.outbox.every = 1
		w := s.packets.welcomeFor(p)
		require.Equal(t, told, w.LateShare, "%v", share)
		require.EqualValues(t, 6, w.Late)
	}
}

// What is hidden from players is forgotten of entities that are gone, but not of one that a late
// input may bring back.
func TestLateSweepKeepsWhoMayComeBack(t *testing.T) {
	type atPos struct{ X float32 }
	type atCmd struct{ X float32 }
	var pos ecs.Component[atPos]
	var cmd ecs.Component[atCmd]
	p := NewProtocol("sweep", 1)
	p.Component(&pos)
	p.Command(&cmd)
	for _, late := range []time.Duration{0, 200 * time.Millisecond} {
		s, err := NewServer(ServerConfig{Protocol: p, Transport: sim.NewNetwork(1).Listen(), LateInputs: late})
		require.NoError(t, err)
		hides, last := map[ecs.Entity]bool{}, Tick(0)
		for i := range 40 {
			hides[1<<40+ecs.Entity(i)] = true // gone
		}
		at := func(tick Tick) int {
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
