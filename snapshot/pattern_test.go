package snapshot_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/schematest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

type (
	wild struct{ schematest.Wild[entityRef] }
	tame struct{ schematest.Wild[entityRef] } // predicted
	own  struct {
		All schematest.Wild[entityRef] `net:"owner"`
	}
	shared struct {
		F     [2]float64 `net:"allies"`
		G     float32    `net:"enemies"`
		Mark  entityRef  `net:"to=scouts"`
		Parts []float32  `net:"max=3,to=guests"`
	}
)

// limitedRefs are references as an ecs has them: a few values name an entity, all others
// name none.
type limitedRefs struct{}

func (limitedRefs) Net(e uint64) uint32    { return uint32(e % 5) }
func (limitedRefs) Entity(r uint32) uint64 { return uint64(r) }

// A value of each class arrives as the words that it is sent as, whatever bits it holds: at
// its owner, at an ally and at others, when it is new and when it changes.
func TestEveryPatternArrives(t *testing.T) {
	reg := schema.NewRegistry()
	schemas := []*schema.Schema{
		compile[wild](t, schema.Options{}), compile[tame](t, schema.Options{Predicted: true}),
		compile[own](t, schema.Options{}), compile[shared](t, schema.Options{Predicted: true}),
	}
	for _, s := range schemas {
		_, err := reg.Component(s)
		require.NoError(t, err)
	}
	_, err := reg.Prefab("all", []int{0, 1, 2, 3}, nil)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	src := snapshot.NewSource(reg, snapshot.SourceConfig{})
	type end struct {
		*snapshot.Sender
		*snapshot.Receiver
		sent snapshot.Sent
	}
	var ends []*end
	for viewer := range uint16(3) {
		e := &end{Sender: src.NewSender(viewer, snapshot.SenderConfig{}), Receiver: snapshot.NewReceiver(reg, snapshot.ReceiverConfig{Viewer: viewer})}
		e.SetTeam(uint8(1 + viewer%2))
		ends = append(ends, e)
	}
	ends[2].SetAudience(0, scouts|guests, true)
	var a wild
	var b tame
	var c own
	var d shared
	for tick := schema.Tick(1); tick < 400; tick++ {
		if tick%4 != 0 { // in others it stays, which makes other baselines
			for _, v := range []any{&a, &b, &c, &d} {
				schematest.Scatter(r, reflect.ValueOf(v).Elem())
			}
		}
		src.Begin(tick)
		src.Put(snapshot.NetID(1+tick/100), 0, 1, schema.MaskOf(0, 1, 2, 3), []unsafe.Pointer{ptr(&a), ptr(&b), ptr(&c), ptr(&d)}, limitedRefs{})
		src.SetTeam(snapshot.NetID(1+tick/100), 2)
		src.End()
		for _, e := range ends {
			p := e.Append(nil, 1<<16, &e.sent)
			got, err := e.Read(p)
			require.NoError(t, err, "viewer %d in tick %d: %+v", e.Viewer(), tick, []any{a, b, c, d})
			require.Equal(t, tick, got)
			e.Delivered(&e.sent)
			for _, g := range e.Ghosts() {
				if g.Gone != 0 {
					continue
				}
				s := g.Newest()
				require.Equal(t, g.Mine, e.Viewer() == 1)
				for i, sch := range schemas {
					want := src.Words(snapshot.NetID(1+tick/100), i, s.Audience)
					require.Equal(t, want == nil, s.Component(i) == nil)
					for f, field := range sch.Fields() {
						if want != nil && !field.Ref { // references are named otherwise on the wire
							require.False(t, sch.Differs(f, want, s.Component(i)), "%s of component %d at viewer %d in tick %d", field.Name, i, e.Viewer(), tick)
						}
					}
				}
			}
		}
	}
}
