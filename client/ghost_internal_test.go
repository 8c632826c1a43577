package client

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

// The newest value of others is the present one, even if it is old. If any remembered value differs
// from it, the component counts as one that changes.
func TestWhatIsRememberedOfOthers(t *testing.T) {
	type flag struct{ On bool }
	type keys struct{ X int8 }
	p, cmd, flags, body := foretick.NewProtocol("flags", 1), new(ecs.Component[keys]), new(ecs.Component[flag]), new(ecs.Prefab)
	p.Component(flags, foretick.Predicted())
	p.Command(cmd)
	p.Prefab(body, "body", flags, cmd)
	net := sim.NewNetwork(1)
	c, err := New(Config{Protocol: p, Transport: net.Dial(net.Listen(), sim.LAN, sim.LAN), Sample: Sample(cmd, func(View) keys { return keys{} })})
	require.NoError(t, err)
	gs := c.timeline.ghosts
	at := slices.IndexFunc(gs.p.Components, func(comp layout.Component) bool { return comp.Name == "flag" })
	gs.others = []int{at}
	gs.receiver = snapshot.NewReceiver(gs.p.Registry, snapshot.ReceiverConfig{Viewer: 1})
	src := snapshot.NewSource(gs.p.Registry, snapshot.SourceConfig{})
	sender := src.NewSender(1, snapshot.SenderConfig{})
	show := func(tick foretick.Tick, has bool, v flag) {
		src.Begin(tick)
		if has {
			src.Put(7, 0, 2, schema.MaskOf(at), []unsafe.Pointer{unsafe.Pointer(&v)}, nil)
		} else {
			src.Put(7, 0, 2, schema.Mask{}, nil, nil)
		}
		src.End()
		var sent snapshot.Sent
		_, err := gs.receiver.Read(sender.Append(nil, 1200, &sent))
		require.NoError(t, err)
		sender.Delivered(&sent)
	}
	show(1, true, flag{})
	g := gs.receiver.Ghosts()[0]
	g.Data = 1 // it is drawn
	show(2, true, flag{})
	for tick := foretick.Tick(3); tick < 50; tick++ {
		require.False(t, gs.restless(50, gs.others), "it never changed")
		show(tick, true, flag{})
	}
	show(50, true, flag{On: true})
	for tick := foretick.Tick(51); tick < 100; tick++ {
		show(tick, true, flag{})
		require.True(t, gs.restless(tick, gs.others), "it was on in tick 50, before tick %d", tick)
	}
	show(100+2*unrest, false, flag{}) // no snapshot had the ticks before
	require.True(t, gs.hadComponents(g, 100+2*unrest, gs.others), "what ran had the value of tick 99")
	for tick := foretick.Tick(101 + 2*unrest); tick <= 101+3*unrest; tick++ {
		show(tick, false, flag{})
	}
	require.False(t, gs.hadComponents(g, 101+3*unrest, gs.others), "it had none for long")
}
