package simtest_test

import (
	"math"
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

// gymnast has a field of each kind without a step whose corrections fade.
type gymnast struct {
	Turn  [4]float32 `net:"quat,slerp"`
	Free  float32    `net:"lerp"`
	Fine  float64    `net:"lerp"`
	Count uint8      `net:"lerp"`
	Deep  int64      `net:"lerp"`
}

func aboutZ(angle float64) [4]float32 {
	return [4]float32{2: float32(math.Sin(angle / 2)), 3: float32(math.Cos(angle / 2))}
}

// A correction of a rotation, of a float without a step and of an integer fades too: by
// half in each half-life, integers rounded.
func TestCorrectionsOfEveryFieldFade(t *testing.T) {
	const half = 100 * time.Millisecond
	var query *ecs.Query
	game := func(at *ecs.Component[gymnast], prefab *ecs.Prefab) *foretick.Protocol {
		p := foretick.NewProtocol("poses", 1)
		p.Component(at, foretick.Predicted())
		p.Prefab(prefab, "body", at)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
			*at.Get(f.World, f.Spawn(prefab, player)) = gymnast{Turn: aboutZ(0.4), Count: 2, Deep: -1}
		})
		p.Shared("stand", func(*foretick.Frame, ecs.Rows) {}, ecs.Write(at))
		p.Server("shove", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, at := 0, at.Slice(rows); i < len(at) && f.Tick == 90; i++ {
				at[i] = gymnast{Turn: aboutZ(1.4), Free: 1, Fine: -1, Count: 0, Deep: 1}
			}
		}, ecs.Write(at))
		query = p.Query(ecs.With(at))
		return p
	}
	m := simtest.New(3)
	var sat, cat ecs.Component[gymnast]
	var sk, ck ecs.Prefab
	_, err := m.Serve(server.Config{Protocol: game(&sat, &sk)})
	require.NoError(t, err)
	var drawn []gymnast
	link := sim.Link{Latency: 50 * time.Millisecond}
	_, err = m.Join(client.Config{Protocol: game(&cat, &ck), SmoothHalfLife: half}, simtest.Seat{Up: link, Down: link, FrameRate: 100, After: func(v client.View) {
		if v.State == client.Playing && m.Net.Now() > 2900*time.Millisecond {
			drawn = append(drawn, cat.Slice(query.All(v.World)[0])[0])
		}
	}})
	require.NoError(t, err)
	m.Run(6 * time.Second)
	first := -1
	for i := range drawn {
		if drawn[i].Free != 0 {
			first = i
			break
		}
	}
	require.Positive(t, first)
	turned := func(p gymnast) float64 { return 2 * math.Atan2(float64(p.Turn[2]), float64(p.Turn[3])) }
	require.InDelta(t, 0.4, turned(drawn[first-1]), 0.01)
	k := math.Exp2(-float64(10*time.Millisecond) / float64(half)) // factor of one frame
	for i := first; i < first+60; i++ {
		d, faded := drawn[i], math.Pow(k, float64(i-first+1))
		require.InDelta(t, faded, 1.4-turned(d), 0.01, "frame %d", i-first)
		require.InDelta(t, faded, 1-float64(d.Free), 0.001, "frame %d", i-first)
		require.InDelta(t, faded, 1+d.Fine, 0.001, "frame %d", i-first)
		require.InDelta(t, 2*faded, float64(d.Count), 0.501, "frame %d", i-first)
		require.InDelta(t, 1-2*faded, float64(d.Deep), 0.501, "frame %d", i-first)
	}
	last := drawn[len(drawn)-1]
	require.InDelta(t, 1.4, turned(last), 0.001)
	last.Turn = [4]float32{}
	require.Equal(t, gymnast{Free: 1, Fine: -1, Deep: 1}, last, "and ends where it is")
}
