package snapshot_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// A displaced value is sent to all but the owner, for one Put, and each change of it is news. Both kinds of
// viewers read the value that is meant for them, on paths that lose packets.
func TestDisplacedForOthers(t *testing.T) {
	type spot struct {
		X float32 `net:"min=-10,max=10,step=0.1,lerp"`
		N uint8
	}
	s, err := schema.Compile(reflect.TypeFor[spot](), schema.Options{Predicted: true})
	require.NoError(t, err)
	r := schema.NewRegistry()
	_, err = r.Component(s)
	require.NoError(t, err)
	_, err = r.Prefab("spot", []int{0}, nil)
	require.NoError(t, err)
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	recv := map[uint16]*snapshot.Receiver{}
	send := map[uint16]*snapshot.Sender{}
	for _, owner := range []uint16{1, 2} {
		send[owner], recv[owner] = src.NewSender(owner, snapshot.SenderConfig{}), snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	}
	at := spot{X: 9}
	for tick, row := range []struct {
		by    float32
		told  float64
		after func()
	}{{by: 0, told: 9}, {by: -2, told: 7}, {by: -1, told: 8}, {by: -1, told: 8}, {by: 5, told: 10}, {by: 0, told: 9}, {by: 0, told: 9}} {
		tick := schema.Tick(tick + 1)
		src.Begin(tick)
		if row.by != 0 {
			src.Displace(0, 0, schema.Offset{row.by})
			src.Displace(7, 0, schema.Offset{1}) // there is no such component …
			src.Displace(0, 9, schema.Offset{1}) // … and no such field
		}
		src.Put(1, 0, 1, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&at)}, nil)
		src.End()
		require.InDelta(t, 9, s.Number(0, src.OwnerWords(1, 0), schema.GridSim), 0.001)
		require.InDelta(t, row.told, s.Number(0, src.PublicWords(1, 0), schema.GridPublic), 0.051)
		for owner, to := range send {
			var sent snapshot.Sent
			_, err := recv[owner].Read(to.Append(nil, 1000, &sent))
			require.NoError(t, err)
			to.Delivered(&sent)
			g := recv[owner].Ghosts()[0]
			now, ok := g.At(tick)
			require.True(t, ok)
			want := row.told
			if owner == 1 {
				want = 9
			}
			require.InDelta(t, want, s.Number(0, now.Component(0), now.Grid(0)), 0.051, "tick %d, to %d", tick, owner)
		}
	}
	dice := rand.New(rand.NewPCG(1, 2))
	var pending [3][8]*snapshot.Sent
	for range 3000 {
		tick := src.Tick() + 1
		src.Begin(tick)
		if dice.IntN(3) > 0 {
			at.X = float32(dice.IntN(12)) / 4
			at.N = uint8(dice.IntN(20) / 19)
		}
		if dice.IntN(2) > 0 {
			src.Displace(0, 0, schema.Offset{float32(dice.IntN(9)-4) / 16})
		}
		src.Put(1, 0, 1, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&at)}, nil)
		src.End()
		for owner, to := range send {
			sent := &snapshot.Sent{}
			b := to.Append(nil, 1000, sent)
			old := pending[owner][tick%8]
			if pending[owner][tick%8] = sent; dice.IntN(8) == 0 {
				pending[owner][tick%8] = nil
				to.Lost(sent)
			} else {
				_, err := recv[owner].Read(b)
				require.NoError(t, err)
				now, ok := recv[owner].Ghosts()[0].At(tick)
				require.True(t, ok)
				want := src.PublicWords(1, 0)
				if owner == 1 {
					want = src.OwnerWords(1, 0)
				}
				require.Equal(t, want, now.Component(0), "tick %d, to %d", tick, owner)
			}
			if old != nil {
				to.Delivered(old)
			}
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		src.Begin(src.Tick() + 1)
		src.Displace(0, 0, schema.Offset{float32(src.Tick()%3) - 1})
		src.Put(1, 0, 1, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&at)}, nil)
		src.End()
	}))
}
