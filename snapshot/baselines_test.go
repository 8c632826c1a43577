package snapshot_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// A record whose components change is coded against three baselines as any other
// is: what moves evenly takes less than three quarters of what moves as far without a rule.
func TestChangingComponentsKeepThreeBaselines(t *testing.T) {
	type place struct {
		X, Y float32 `net:"min=0,max=4000,step=0.01"`
	}
	type mark struct{ N uint8 }
	const entities = 20
	play := func(even bool) (sent int) {
		reg := schema.NewRegistry()
		for _, s := range []*schema.Schema{compile[place](t, schema.Options{}), compile[mark](t, schema.Options{})} {
			_, err := reg.Component(s)
			require.NoError(t, err)
		}
		_, err := reg.Prefab("thing", []int{0, 1}, nil)
		require.NoError(t, err)
		src := snapshot.NewSource(reg, snapshot.SourceConfig{})
		s, r := src.NewSender(1, snapshot.SenderConfig{}), snapshot.NewReceiver(reg, snapshot.ReceiverConfig{Viewer: 1})
		dice := rand.New(rand.NewPCG(3, 4))
		var at [entities]place
		for tick := schema.Tick(1); tick <= 120; tick++ {
			src.Begin(tick)
			for i := range at {
				step := float32(10)
				if !even {
					step = dice.Float32() * 20 // as far on average
				}
				at[i].X += step
				at[i].Y += step
				has := []unsafe.Pointer{unsafe.Pointer(&at[i]), unsafe.Pointer(&mark{})}[:1+tick/10%2]
				src.Put(snapshot.NetID(1+i), 0, 1, setOf(1<<len(has)-1), has, nil)
			}
			src.End()
			var out snapshot.Sent
			p := s.Append(nil, 1<<16, &out)
			_, err := r.Read(p)
			require.NoError(t, err)
			s.Delivered(&out)
			if tick > 20 && tick%10 == 0 {
				sent += len(p)
			}
		}
		return sent
	}
	even, uneven := play(true), play(false)
	t.Logf("%.1f bytes an entity and tick; without a rule %.1f", float64(even)/10/entities, float64(uneven)/10/entities)
	require.Less(t, even, uneven*3/4)
}
