package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/transport/sim"
)

// The server may send a reference as none until it has received a packet from a client that has the
// entity. The number of ticks until then, and the packet's number, make no difference.
func TestReferenceThatTheServerCouldNotSendYet(t *testing.T) {
	type leash struct {
		To ecs.Entity
		N  uint8
	}
	var c ecs.Component[leash]
	var dog ecs.Prefab
	p := foretick.NewProtocol("leash", 1)
	p.Component(&c, foretick.Predicted())
	p.Prefab(&dog, "dog", &c)
	net := sim.NewNetwork(1)
	client, err := New(Config{Protocol: p, Transport: net.Dial(net.Listen(), sim.LAN, sim.LAN)})
	require.NoError(t, err)
	tl := &client.timeline
	var comp *layout.Component
	for i := range tl.p.Components {
		if len(tl.p.Components[i].Refs) > 0 {
			comp = &tl.p.Components[i]
		}
	}
	const key = 1<<31 | 7
	tl.scenes.appeared = []appeared{{wire: 5, tick: 100, next: 65535}}
	tl.spawning.named = []naming{{wire: 6, key: key, until: 100, next: 1}}
	value := func(ref uint32, n int32) []int32 {
		words := make([]int32, comp.Schema.Words())
		words[comp.Refs[0]] = int32(ref)
		words[1-comp.Refs[0]] = n
		return words
	}
	own := uint32(key)
	require.True(t, tl.scenes.unnamed(5), "the server had no packet yet")
	client.input.delivered(65534, 900)
	require.True(t, tl.scenes.unnamed(5), "an earlier packet")
	require.True(t, tl.spawning.untoldSpawn(own, 900))
	require.True(t, tl.names.cameLater(comp, value(0, 3), value(5, 3), 900))
	require.True(t, tl.names.cameLater(comp, value(0, 3), value(own, 3), 900), "what was spawned here")
	require.False(t, tl.names.cameLater(comp, value(0, 3), value(own, 4), 900), "the rest differs")
	require.False(t, tl.names.cameLater(comp, value(0, 3), value(9, 3), 900), "another entity")
	require.True(t, tl.names.cameLater(comp, value(5, 3), value(0, 3), 900), "it stayed while the server could not send it")
	require.True(t, tl.names.cameLater(comp, value(own, 3), value(0, 3), 900), "likewise")
	require.False(t, tl.names.cameLater(comp, value(5, 3), value(0, 4), 900), "the rest differs")
	require.False(t, tl.names.cameLater(comp, value(9, 3), value(0, 3), 900), "another entity")
	tl.scenes.forgetScenes(900)
	require.Len(t, tl.scenes.appeared, 1)
	client.input.delivered(0, 901)
	require.False(t, tl.scenes.unnamed(5), "a later packet, across the end of the circle")
	require.True(t, tl.spawning.untoldSpawn(own, 901))
	client.input.delivered(1, 902)
	require.False(t, tl.spawning.untoldSpawn(own, 902))
	tl.scenes.appeared = append(tl.scenes.appeared, appeared{wire: 7, tick: 902, next: 1})
	tl.scenes.forgetScenes(902)
	require.Len(t, tl.scenes.appeared, 1, "known for long")
	require.True(t, tl.names.cameLater(comp, value(7, 3), value(0, 3), 903))
	tl.scenes.appeared[0].known = true
	require.False(t, tl.names.cameLater(comp, value(7, 3), value(0, 3), 903), "its references were compared before")
	tl.scenes.forgetScenes(940)
	require.Empty(t, tl.scenes.appeared)
}
