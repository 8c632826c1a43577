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

type leash struct {
	To ecs.Entity
	N  uint8
}

// overheard keeps all sent packets.
type overheard struct{ packets [][]byte }

func (o *overheard) Packet(_ *simtest.Match, _, _ int, b []byte) error {
	o.packets = append(o.packets, append([]byte{}, b...))
	return nil
}
func (*overheard) Tick(*simtest.Match) error { return nil }

// On a client, a reference to an entity that it does not know is none. Every packet of the match is
// the same whichever hidden entity the reference names.
func TestUnknownReferencesAreNone(t *testing.T) {
	play := func(hidden int) (packets [][]byte, seen int) {
		var pos, cpos ecs.Component[leash]
		var k, ck ecs.Prefab
		protocol := func(c *ecs.Component[leash], k *ecs.Prefab) *foretick.Protocol {
			p := foretick.NewProtocol("leashes", 1)
			p.Component(c)
			p.Prefab(k, "dog", c)
			return p
		}
		m := simtest.New(2)
		heard := &overheard{}
		m.Watch(heard)
		srv, err := m.Serve(server.Config{Protocol: protocol(&pos, &k)})
		require.NoError(t, err)
		link := sim.Link{Latency: 20 * time.Millisecond}
		var dogs [4]ecs.Entity
		for i := range dogs {
			dogs[i] = srv.Frame().Spawn(&k, ecs.Nobody)
			pos.Get(srv.World(), dogs[i]).N = uint8(i)
		}
		cli, err := m.Join(client.Config{Protocol: protocol(&cpos, &ck)}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			for _, rows := range ecs.NewQuery(v.World.Types(), ecs.With(&cpos)).All(v.World) {
				for _, l := range cpos.Slice(rows) {
					if l.N == 0 && l.To != ecs.None {
						seen++
					}
				}
			}
		}})
		require.NoError(t, err)
		m.Run(2 * time.Second)
		me := cli.View().Player
		for _, i := range []int{2, 3} {
			require.True(t, srv.Frame().SetVisible(me, dogs[i], false))
		}
		m.Run(3 * time.Second)
		pos.Get(srv.World(), dogs[0]).To = dogs[hidden]
		m.Run(6 * time.Second)
		return heard.packets, seen
	}
	_, seen := play(1)
	require.NotZero(t, seen, "what it knows it is told")
	a, seenA := play(2)
	b, seenB := play(3)
	require.Zero(t, seenA+seenB)
	require.Equal(t, len(a), len(b))
	for i := range a {
		require.Equal(t, a[i], b[i], "packet %d of %d", i, len(a))
	}
}
