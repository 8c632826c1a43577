package client

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// When the client runs a tick again to find out whether the first of two commands made a difference, it
// notices every effect that a command can have.
func TestEveryDeedOfACommandIsNoticed(t *testing.T) {
	type (
		order struct{ Move, Fire, Clear, Add, Take, Wave bool }
		at    struct{ X int32 }
		mark  struct{ N uint8 }
		fuse  struct{ N uint8 }
	)
	now := order{}
	declare := func() (*foretick.Protocol, *ecs.Component[order]) {
		var (
			ats               ecs.Component[at]
			marks             ecs.Component[mark]
			fuses             ecs.Component[fuse]
			body, block, shot ecs.Prefab
		)
		p, cmd := foretick.NewProtocol("deeds", 1), new(ecs.Component[order])
		p.Component(&ats, foretick.Predicted())
		p.Component(&marks, foretick.Predicted())
		p.Component(&fuses, foretick.Predicted())
		p.Command(cmd)
		p.Prefab(&body, "body", &ats, cmd)
		p.Prefab(&block, "block", &marks)
		p.Prefab(&shot, "shot", &fuses)
		p.Spawns(&shot, foretick.SpawnConfig{})
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
			f.Spawn(&body, player)
			f.Spawn(&block, player)
		})
		blocks := p.Query(ecs.With(&marks))
		p.Shared("obey", func(f *foretick.Frame, rows ecs.Rows) {
			for i, o := range cmd.Slice(rows) {
				switch e := rows.Entity(i); {
				case o.Move:
					ats.Slice(rows)[i].X++
				case o.Fire:
					fuses.Get(f.World, f.SpawnBy(e, &shot)).N = 7
				case o.Clear:
					f.Destroy(blocks.FirstOwned(f.World, rows.Owner()))
				case o.Add:
					marks.Add(f.World, e, mark{})
				case o.Take:
					marks.Remove(f.World, blocks.FirstOwned(f.World, rows.Owner()))
				}
			}
		}, ecs.Read(cmd), ecs.Write(&ats), ecs.ReadOwn(&marks), ecs.Create(&fuses, &marks), ecs.Structural())
		return p, cmd
	}
	net := sim.NewNetwork(1)
	listener := net.Listen()
	sp, _ := declare()
	srv, err := server.New(server.Config{Protocol: sp, Transport: listener})
	require.NoError(t, err)
	cp, cmd := declare()
	c, err := New(Config{Protocol: cp, Transport: net.Dial(listener, sim.LAN, sim.LAN), Sample: Sample(cmd, func(View) order { return now })})
	require.NoError(t, err)
	for range 90 {
		net.Run(net.Now() + time.Second/30)
		srv.Step(time.Unix(0, 0).Add(net.Now()))
		c.Step(time.Unix(0, 0).Add(net.Now()))
	}
	tl := &c.timeline
	k := tl.predictor.Tick() - 1
	in, schema := tl.input.history.Find(k), tl.p.Command.Schema
	for name, row := range map[string]struct {
		first order
		want  bool
	}{
		"moves":               {order{Move: true}, true},
		"spawns":              {order{Fire: true}, true},
		"destroys":            {order{Clear: true}, true},
		"adds a component":    {order{Add: true}, true},
		"takes a component":   {order{Take: true}, true},
		"changes nothing":     {order{Wave: true}, false},
		"is the second again": {order{}, false},
	} {
		in.first = schema.Pack(unsafe.Pointer(&row.first), nil)
		certain, may := tl.causes.RanFirst(k, 1, k+1)
		require.False(t, certain, name)
		require.Equal(t, row.want, may, name)
	}
	tl.predictor.Present()
}
