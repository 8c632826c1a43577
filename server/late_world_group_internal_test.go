package server

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport/sim"
)

// comesLate makes a late command for a tick arrive in a game in which the whole world runs again.
func comesLate(s *Server, at foretick.Tick) {
	p, now := &player{}, s.sim.frame.Tick
	p.shooter.Join(s.past, 1, p)
	p.late.Join(1, &p.shooter, &p.inputs.replaced)
	s.sim.frame.Tick = at
	s.late.Ran(&p.late, s.p.Command.New(), 0)
	s.sim.frame.Tick = now
	s.late.Take(&p.late, &netcode.Command{Tick: at}, s.p.Command.New(), rewind.Command{})
}

// A tick that runs again ends with the groups that its last run made, whatever groups the earlier runs
// made.
func TestLateWorldUndoesGroups(t *testing.T) {
	type atPos struct{ X float32 }
	type atCmd struct{ X float32 }
	var pos ecs.Component[atPos]
	var cmd ecs.Component[atCmd]
	var kind ecs.Prefab
	var rider, horse, other ecs.Entity
	first, again := func(*foretick.ServerFrame) {}, func(*foretick.ServerFrame) {}
	p := foretick.NewProtocol("groups", 1)
	p.Component(&pos)
	p.Command(&cmd)
	p.Prefab(&kind, "k", &pos)
	at := foretick.Tick(0)
	p.Server("ride", func(f *foretick.ServerFrame, _ ecs.Rows) {
		switch {
		case f.Tick == 2:
			rider, horse, other = f.Spawn(&kind, ecs.Nobody), f.Spawn(&kind, ecs.Nobody), f.Spawn(&kind, ecs.Nobody)
		case f.Tick == at && f.Replay:
			again(f)
		case f.Tick == at:
			first(f)
		}
	}, ecs.Once(), ecs.Structural(), ecs.Create(&pos))
	net := sim.NewNetwork(1)
	srv, err := New(Config{Protocol: p, Transport: net.Listen(), Late: Late{Window: 200 * time.Millisecond, World: true}, Random: rand.NewChaCha8([32]byte{1})})
	require.NoError(t, err)
	epoch := time.Unix(1_700_000_000, 0)
	step := func() {
		for was := srv.Tick(); srv.Tick() == was; srv.Step(epoch.Add(net.Now())) {
			net.Run(net.Now() + time.Second/120)
		}
	}
	for srv.Tick() < 30 {
		step()
	}
	group := func(e ecs.Entity) ecs.Entity {
		for _, leader := range []ecs.Entity{rider, horse, other} {
			if g := srv.senders.source.Group(srv.sim.net(e)); g == uint32(srv.sim.net(leader)) {
				return leader
			}
		}
		return ecs.None
	}
	none := func(*foretick.ServerFrame) {}
	with := func(e, leader *ecs.Entity) func(*foretick.ServerFrame) {
		return func(f *foretick.ServerFrame) {
			if leader == nil {
				f.SetGroup(*e, ecs.None)
			} else {
				f.SetGroup(*e, *leader)
			}
		}
	}
	for _, row := range []struct {
		name                string
		first, again        func(*foretick.ServerFrame)
		after, later, leads *ecs.Entity // rider's leader after the first run and after the second; horse's after the second
	}{
		{"made by the first run alone", with(&rider, &horse), none, &horse, nil, nil},
		{"made by the second alone", none, with(&rider, &horse), nil, &horse, &horse},
		{"kept", none, none, &horse, &horse, &horse},
		{"left by the first run alone", with(&rider, nil), none, nil, &horse, &horse},
		{"another one", with(&rider, &other), with(&rider, nil), &other, nil, &horse},
	} {
		is := func(e *ecs.Entity) ecs.Entity {
			if e == nil {
				return ecs.None
			}
			return *e
		}
		first, again, at = row.first, row.again, srv.Tick()+1
		step()
		require.Equal(t, is(row.after), group(rider), row.name)
		step()
		comesLate(srv, at)
		step()
		require.Equal(t, is(row.later), group(rider), row.name)
		require.Equal(t, is(row.leads), group(horse), row.name)
		for range 10 {
			step()
		}
		require.Equal(t, is(row.later), group(rider), row.name)
	}
}
