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

type choosing struct {
	Weapon uint8 `net:"max=9,oneshot"`
}

// Which of several keys was pressed arrives once for each press of a single frame, on both ends.
func TestChoicesArriveOnce(t *testing.T) {
	declare := func(cmd *ecs.Component[choosing], chosen *[]uint8) *foretick.Protocol {
		p, prefab := foretick.NewProtocol("arsenal", 1), new(ecs.Prefab)
		p.Command(cmd)
		p.Prefab(prefab, "player", cmd)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(prefab, player) })
		p.Shared("choose", func(f *foretick.Frame, rows ecs.Rows) {
			for _, c := range cmd.Slice(rows) {
				if c.Weapon != 0 && !f.Replay {
					*chosen = append(*chosen, c.Weapon)
				}
			}
		}, ecs.Read(cmd))
		return p
	}
	var srv, cl ecs.Component[choosing]
	var truth, shown, want []uint8
	m := simtest.New(5)
	_, err := m.Serve(server.Config{Protocol: declare(&srv, &truth)})
	require.NoError(t, err)
	n := 0
	link := sim.Link{Latency: 40 * time.Millisecond, Loss: 0.02}
	_, err = m.Join(client.Config{Protocol: declare(&cl, &shown), Sample: client.Sample(&cl, func(client.View) (c choosing) {
		if n++; m.Net.Now() > 3*time.Second && m.Net.Now() < 18*time.Second && n%53 == 0 {
			c.Weapon = uint8(n/53%9) + 1
			want = append(want, c.Weapon)
		}
		return c
	})}, simtest.Seat{Up: link, Down: link, FrameRate: 240})
	require.NoError(t, err)
	m.Run(20 * time.Second)
	require.Greater(t, len(want), 60)
	require.Equal(t, want, truth)
	require.Equal(t, want, shown)
}
