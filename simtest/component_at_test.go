package simtest_test

import (
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

type (
	wing struct {
		Angle float32 `net:"angle,bits=14,lerp"`
	}
	trigger struct {
		Fire bool `net:"oneshot"`
	}
	pulled struct{}
)

// For a shot, ComponentAt returns on both ends what the frame with the press showed, and not what a later frame of
// the same tick did. No shared system reads the component.
func TestComponentAtOfThePress(t *testing.T) {
	declare := func(saw func(tick foretick.Tick, angle float32)) (*foretick.Protocol, *ecs.Component[trigger], *ecs.Prefab) {
		var door ecs.Component[wing]
		var cmd ecs.Component[trigger]
		var leaf, player ecs.Prefab
		var fired foretick.Event[pulled]
		p := foretick.NewProtocol("door", 1)
		p.Component(&door)
		p.Command(&cmd)
		p.Prefab(&leaf, "leaf", &door)
		p.Prefab(&player, "player", &cmd)
		foretick.TrackHistory(p, &door)
		doors := p.Query(ecs.With(&door))
		p.OnJoin(func(f *foretick.ServerFrame, who foretick.PlayerID) { f.Spawn(&player, who) })
		p.Server("swing", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range door.Slice(rows) {
				door.Slice(rows)[i].Angle = float32(f.Tick%31) / 10
			}
		}, ecs.Write(&door))
		p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
			for i, c := range cmd.Slice(rows) {
				if c.Fire {
					fired.Raise(f, rows.Entity(i), pulled{})
				}
			}
		}, ecs.Read(&cmd))
		look := func(f *foretick.Frame, by foretick.By) {
			for _, rows := range doors.All(f.World) {
				at, ok := foretick.ComponentAt(f.Rewind(by.Player), &door, rows.Entity(0))
				require.True(t, ok)
				saw(by.Tick, at.Angle)
			}
		}
		fired.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ pulled) { look(f.Frame, by) })
		fired.OnPredicted(p, func(f *foretick.Frame, by foretick.By, _ pulled) { look(f, by) })
		return p, &cmd, &leaf
	}
	judged, shown := map[foretick.Tick]float32{}, map[foretick.Tick]float32{}
	truth, _, leaf := declare(func(tick foretick.Tick, angle float32) { judged[tick] = angle })
	p, cmd, _ := declare(func(tick foretick.Tick, angle float32) { shown[tick] = angle })
	m := simtest.New(3)
	srv, err := m.Serve(server.Config{Protocol: truth})
	require.NoError(t, err)
	srv.Frame().Spawn(leaf, ecs.Nobody)
	link := sim.Link{Latency: 50 * time.Millisecond}
	n := 0
	_, err = m.Join(client.Config{Protocol: p, Sample: client.Sample(cmd, func(client.View) trigger {
		n++
		return trigger{m.Net.Now() > 3*time.Second && n%47 == 0}
	})}, simtest.Seat{Up: link, Down: link, FrameRate: 144})
	require.NoError(t, err)
	m.Run(20 * time.Second)
	require.Greater(t, len(judged), 40)
	for tick, angle := range judged {
		require.InDelta(t, angle, shown[tick], 1e-5, "tick %d", tick)
	}
}
