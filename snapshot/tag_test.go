package snapshot_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

type (
	tagA   struct{}
	tagB   struct{}
	unsent struct {
		Cool int `net:"-"`
	}
	secret struct {
		Gold int16 `net:"owner"`
	}
)

// A component without words is there where it is in the set, and absent where it is not,
// whatever else the entity has. That it has nothing to send does not make it nil.
func TestNothingIsNotNil(t *testing.T) {
	schemas := []*schema.Schema{
		compile[tagA](t, schema.Options{}), compile[tagB](t, schema.Options{Predicted: true}),
		compile[unsent](t, schema.Options{}), compile[secret](t, schema.Options{}), compile[ident](t, schema.Options{}),
	}
	reg := schema.NewRegistry()
	for _, s := range schemas {
		_, err := reg.Component(s)
		require.NoError(t, err)
	}
	_, err := reg.Prefab("bare", []int{0, 1, 2}, nil)
	require.NoError(t, err)
	src := snapshot.NewSource(reg, snapshot.SourceConfig{})
	recv := [2]*snapshot.Receiver{snapshot.NewReceiver(reg, snapshot.ReceiverConfig{}), snapshot.NewReceiver(reg, snapshot.ReceiverConfig{})}
	send := [2]*snapshot.Sender{src.NewSender(1, snapshot.SenderConfig{}), src.NewSender(2, snapshot.SenderConfig{})}
	var a tagA
	var b tagB
	var c unsent
	var d secret
	var e ident
	all := []unsafe.Pointer{ptr(&a), ptr(&b), ptr(&c), ptr(&d), ptr(&e)}
	for tick := schema.Tick(1); tick <= 3; tick++ { // full, then against one baseline, then against three
		src.Begin(tick)
		for set := range uint64(32) {
			if tick == 2 {
				set ^= 31 // each has others for a tick
			}
			var p []unsafe.Pointer
			for i := range all {
				if set>>i&1 != 0 {
					p = append(p, all[i])
				}
			}
			id := set + 1
			if tick == 2 {
				id = set ^ 31 + 1
			}
			src.Put(snapshot.NetID(id), 0, 1, setOf(set), p, nil)
		}
		src.End()
		for v := range send {
			var sent snapshot.Sent
			_, err := recv[v].Read(send[v].Append(nil, 1<<16, &sent))
			require.NoError(t, err)
			send[v].Delivered(&sent)
			require.Len(t, recv[v].Ghosts(), 32)
			for i, g := range recv[v].Ghosts() {
				set := uint64(i)
				if tick == 2 {
					set ^= 31
				}
				for comp := range schemas {
					is := set>>comp&1 != 0 && (v == 0 || comp != 3)
					require.Equal(t, is, g.Newest().Component(comp) != nil, "component %d of set %b at viewer %d", comp, set, v+1)
					require.Equal(t, is, g.Newest().Keyframe(comp).Words != nil)
					at, ok := g.At(tick)
					require.True(t, ok)
					require.Equal(t, is, at.Component(comp) != nil)
					require.Len(t, g.Newest().Component(comp), map[bool]int{true: schemas[comp].Words()}[is])
					to := schema.Audience(0)
					if v == 0 {
						to = schema.ToOwner
					}
					require.Equal(t, is, src.Words(snapshot.NetID(i+1), comp, to) != nil)
				}
			}
		}
	}
}
