package foretick

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// The protocol follows values that shared systems compute from a component that clients receive
// rounded, from system to system. Whole numbers arrive exactly.
func TestWhatIsComputedFromRoundedReads(t *testing.T) {
	type (
		wind struct {
			X float32 `net:"min=-9,max=9,step=0.5"`
		}
		ammo   struct{ N uint8 }
		speed  struct{ X float32 }
		place  struct{ X float32 }
		health struct{ N uint8 }
	)
	var (
		winds   ecs.Component[wind]
		ammos   ecs.Component[ammo]
		speeds  ecs.Component[speed]
		places  ecs.Component[place]
		healths ecs.Component[health]
		ship    ecs.Prefab
	)
	p := NewProtocol("rounded", 1)
	p.Component(&winds)
	p.Component(&ammos)
	for _, h := range []ecs.Handle{&speeds, &places, &healths} {
		p.Component(h, Predicted())
	}
	p.Prefab(&ship, "ship", &winds, &ammos, &speeds, &places, &healths)
	none := func(*Frame, ecs.Rows) {}
	p.Shared("sail", none, ecs.Read(&winds), ecs.Write(&speeds))
	p.Shared("move", none, ecs.Read(&speeds), ecs.Write(&places))
	p.Shared("load", none, ecs.Read(&ammos), ecs.Write(&healths))
	require.NoError(t, p.Err())
	l := &p.compiled.Layout
	require.Len(t, l.Unpredicted.Read, 2)
	require.Len(t, l.Unpredicted.Rounded, 1)
	r := &l.Unpredicted.Rounded[0]
	require.Equal(t, "wind", l.Components[r.Component].Name)
	for name, want := range map[string]bool{"speed": true, "place": true, "health": false, "ammo": false} {
		for i := range l.Components {
			if l.Components[i].Name == name {
				require.Equal(t, want, r.Components.Has(l.Components[i].ID), name)
			}
		}
	}
	require.False(t, r.Entities)
}
