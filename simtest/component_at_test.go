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

	// safe has a field that some players see, and one that the player of the test never sees.
	safe struct {
		Angle float32 `net:"angle,bits=14,lerp"`
		Code  uint16  `net:"to=wardens"`
		Owner uint16  `net:"owner"`
	}
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

// For a shot from a frame that showed a withdrawn field, ComponentAt returns the prefab's default as the screen did,
// and the value for a shot from a frame that had it.
func TestComponentAtOfWithdrawnFields(t *testing.T) {
	const codeBefore, ownerBefore = 9, 7
	type shot struct {
		saw, drawn safe
	}
	var shots []shot
	declare := func() (p *foretick.Protocol, cmd *ecs.Component[trigger], box *ecs.Component[safe], boxes *ecs.Query) {
		cmd, box = new(ecs.Component[trigger]), new(ecs.Component[safe])
		var thing, player ecs.Prefab
		var fired foretick.Event[pulled]
		p = foretick.NewProtocol("safe", 1)
		wardens := p.Audience("wardens")
		p.Component(box)
		p.Command(cmd)
		p.Prefab(&thing, "thing", box)
		p.Prefab(&player, "player", cmd)
		foretick.Default(p, &thing, box, safe{Code: codeBefore, Owner: ownerBefore})
		foretick.TrackHistory(p, box)
		boxes = p.Query(ecs.With(box))
		p.OnJoin(func(f *foretick.ServerFrame, who foretick.PlayerID) { f.Spawn(&player, who) })
		p.Server("turn", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range box.Slice(rows) {
				box.Slice(rows)[i] = safe{Angle: float32(f.Tick%31) / 10, Code: 1000, Owner: 2000}
				f.SetAudience(ecs.Common, rows.Entity(i), wardens, f.Tick/90%2 == 1)
			}
		}, ecs.Write(box))
		p.Server("place", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick == 1 {
				f.Spawn(&thing, ecs.Nobody)
			}
		}, ecs.Once(), ecs.Structural(), ecs.Create(box))
		p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
			for i, c := range cmd.Slice(rows) {
				if c.Fire {
					fired.Raise(f, rows.Entity(i), pulled{})
				}
			}
		}, ecs.Read(cmd))
		fired.OnPredicted(p, func(f *foretick.Frame, by foretick.By, _ pulled) {
			for _, rows := range boxes.All(f.World) {
				at, ok := foretick.ComponentAt(f.Rewind(by.Player), box, rows.Entity(0))
				require.True(t, ok)
				shots[len(shots)-1].saw = at
			}
		})
		return p, cmd, box, boxes
	}
	truth, _, _, _ := declare()
	p, cmd, box, boxes := declare()
	m := simtest.New(5)
	_, err := m.Serve(server.Config{Protocol: truth})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond}
	n := 0
	_, err = m.Join(client.Config{Protocol: p, Sample: client.Sample(cmd, func(v client.View) trigger {
		if n++; m.Net.Now() < 3*time.Second || n%47 != 0 {
			return trigger{}
		}
		for _, rows := range boxes.All(v.World) {
			shots = append(shots, shot{drawn: box.Slice(rows)[0]})
		}
		return trigger{Fire: true}
	})}, simtest.Seat{Up: link, Down: link, FrameRate: 144})
	require.NoError(t, err)
	m.Run(20 * time.Second)
	count := map[uint16]int{}
	for _, s := range shots[:len(shots)-1] { // the last may have no tick yet
		require.InDelta(t, s.drawn.Angle, s.saw.Angle, 1e-5)
		s.saw.Angle, s.drawn.Angle = 0, 0
		require.Equal(t, s.drawn, s.saw)
		require.EqualValues(t, ownerBefore, s.saw.Owner)
		count[s.saw.Code]++
	}
	require.Greater(t, count[1000], 10)
	require.Greater(t, count[codeBefore], 10)
}
