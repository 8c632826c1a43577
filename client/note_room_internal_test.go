package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// TestNotesGoWithTheirSnapshots: a snapshot that exceeds the rate includes its note. However little
// room there is, no snapshot is sent without the note with the reason of its player's corrections.
func TestNotesGoWithTheirSnapshots(t *testing.T) {
	type spot struct {
		X [24]int32
	}
	type keys struct { // so that a replacement for a command is long
		K [70]int8
	}
	net := sim.NewNetwork(1)
	listen := net.Listen()
	protocol := func() (*foretick.Protocol, *ecs.Component[keys], *ecs.Component[spot]) {
		p, cmd, at, prefab := foretick.NewProtocol("notes", 1), new(ecs.Component[keys]), new(ecs.Component[spot]), new(ecs.Prefab)
		p.Command(cmd)
		p.Component(at, foretick.Predicted())
		p.Prefab(prefab, "body", at, cmd)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(prefab, player) })
		p.Server("shove", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range at.Slice(rows) {
				for k := range at.Slice(rows)[i].X {
					at.Slice(rows)[i].X[k] += int32(f.Tick*uint32(k+7)) % 100_000 // it changes, and the client cannot predict it
				}
			}
		}, ecs.Write(at))
		return p, cmd, at
	}
	p, _, _ := protocol()
	s, err := server.New(server.Config{Protocol: p, Transport: listen, SendRate: 2000})
	require.NoError(t, err)
	q, cmd, _ := protocol()
	c, err := New(Config{Protocol: q, Transport: net.Dial(listen, sim.Link{Latency: 20 * time.Millisecond, Loss: 0.3}, sim.LAN),
		Sample: Sample(cmd, func(v View) keys { return keys{[70]int8{int8(v.Tick)}} })})
	require.NoError(t, err)
	noted, alone := 0, 0
	c.cfg.OnSnapshot = func(t foretick.Tick) {
		if c.reasons.NoteOf(t) != nil {
			noted++
		} else {
			alone++
		}
	}
	for end := net.Now() + 20*time.Second; net.Now() < end; {
		net.Run(net.Now() + time.Second/60)
		s.Step(time.Unix(0, 0).Add(net.Now()))
		c.Step(time.Unix(0, 0).Add(net.Now()))
	}
	require.Equal(t, Playing, c.View().State)
	t.Logf("%d snapshots with a note, %d without", noted, alone)
	require.Greater(t, noted, 30)
	require.Zero(t, alone)
}
