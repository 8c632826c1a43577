package bridge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

func nothing(*foretick.Frame, []*thing) {}

func bodyOf(t *thing) *Body { return &t.body }
func gunOf(t *thing) *Gun   { return &t.gun }

func bound(g *Game) *bridge.Bridge[*thing] {
	b := bridge.New(func(string) *thing { return &thing{} }, func(*thing) {})
	bridge.Component(b, &g.Body, bodyOf)
	return b
}

// TestFaults: Protocol.Err names each fault with its fix.
func TestFaults(t *testing.T) {
	fresh := func(string) *thing { return &thing{} }
	gone := func(*thing) {}
	for name, c := range map[string]struct {
		do   func(g *Game, p *foretick.Protocol)
		want string
	}{
		"no spawn": {func(g *Game, p *foretick.Protocol) {
			b := bridge.New(nil, gone)
			bridge.Component(b, &g.Body, bodyOf)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "New has no function that spawns: give one"},
		"no remove": {func(g *Game, p *foretick.Protocol) {
			b := bridge.New(fresh, nil)
			bridge.Component(b, &g.Body, bodyOf)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "New has no function that removes: give one"},
		"no get": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Component[*thing, Gun](b, &g.Gun, nil)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "Component bridge_test.Gun has no function: give one"},
		"no in": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Convert(b, &g.Gun, nil, func(*thing, *Gun) {})
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "Convert bridge_test.Gun lacks a function: give one for each"},
		"nil component": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Component(b, nil, gunOf)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "Component is given a nil component: pass its address"},
		"twice": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Component(b, &g.Body, bodyOf)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "bridge_test.Body is bound twice: leave one call out"},
		"too late": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
			bridge.Component(b, &g.Gun, gunOf)
		}, "Component bridge_test.Gun after System: bind all components before"},
		"foreign": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Component(b, &new(Game).Gun, gunOf)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "bridge_test.Gun is bound, and is not a component of the Protocol: declare it"},
		"nothing bound": {func(g *Game, p *foretick.Protocol) {
			bridge.New(fresh, gone).System(p, "s", nothing, ecs.Write(&g.Body))
		}, "nothing is bound: call Component"},
		"no function": {func(g *Game, p *foretick.Protocol) {
			bound(g).System(p, "s", nil, ecs.Write(&g.Body))
		}, `system "s" has no function: give it one`},
		"unbound": {func(g *Game, p *foretick.Protocol) {
			bound(g).System(p, "s", nothing, ecs.Write(&g.Body, &g.Gun))
		}, `system "s" writes Gun, which is not bound: bind it with Component`},
		"unbound of others": {func(g *Game, p *foretick.Protocol) {
			bound(g).System(p, "s", nothing, ecs.Read(&g.Body), ecs.WriteOther(&g.Gun))
		}, `system "s" writes Gun, which is not bound`},
		"untouched": {func(g *Game, p *foretick.Protocol) {
			bound(g).System(p, "s", nothing, ecs.Read(&g.Stick))
		}, `system "s" reads and writes nothing that is bound: declare`},
		"render": {func(g *Game, p *foretick.Protocol) {
			bound(g).System(p, "s", nothing, ecs.Read(&g.Body), ecs.Render())
		}, `system "s" is declared with ecs.Render: drawn values are copied in`},
		"partial": {func(g *Game, p *foretick.Protocol) {
			bound(g).System(p, "s", nothing, ecs.Write(&g.Body), ecs.Partial())
		}, `system "s" is declared with ecs.Partial: it gets no rows`},
		"nil access": {func(g *Game, p *foretick.Protocol) {
			bound(g).System(p, "s", nothing, ecs.Write(&g.Body, nil))
		}, `system "s"`},
		"order twice": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Order(b, &g.ID, func(*ID) uint64 { return 0 })
			bridge.Order(b, &g.ID, func(*ID) uint64 { return 0 })
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "Order is given twice: leave one call out"},
		"order by nothing": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Order(b, &g.ID, nil)
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "Order has no function: give one"},
		"order by a foreign component": {func(g *Game, p *foretick.Protocol) {
			b := bound(g)
			bridge.Order(b, &new(Game).ID, func(*ID) uint64 { return 0 })
			b.System(p, "s", nothing, ecs.Write(&g.Body))
		}, "Order names bridge_test.ID, which is not a component of the Protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &Game{}
			p := g.declare()
			c.do(g, p)
			require.ErrorContains(t, p.Err(), c.want)
		})
	}
}

// TestOtherProtocol: a bridge can only have systems in one protocol.
func TestOtherProtocol(t *testing.T) {
	g, other := &Game{}, &Game{}
	b := bound(g)
	b.System(g.declare(), "s", nothing, ecs.Write(&g.Body))
	p := other.declare()
	b.System(p, "s", nothing, ecs.Write(&other.Body))
	require.ErrorContains(t, p.Err(), "the bridge has systems in another Protocol: make one with New for each end")
	require.Panics(t, func() { b.System(nil, "s", nothing) })
}

// TestNoPlace: spawn returned an own entity without one of the components.
func TestNoPlace(t *testing.T) {
	g := &Game{}
	p := g.declare()
	b := bridge.New(func(string) *thing { return &thing{} }, func(*thing) {})
	bridge.Component(b, &g.Body, func(*thing) *Body { return nil })
	b.System(p, "s", nothing, ecs.Write(&g.Body))
	m := simtest.New(1)
	s, err := m.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	g.begin(s)
	defer func() {
		require.ErrorContains(t, recover().(error), "has no place for bridge_test.Body: let spawn give it one")
	}()
	m.Run(time.Second)
	require.Fail(t, "nothing happened")
}

// TestLateInputs: Late is refused, because a bridge's systems cannot run again for one player.
func TestLateInputs(t *testing.T) {
	g := &Game{}
	_, err := simtest.New(1).Serve(server.Config{Protocol: g.Bridged(), Late: server.Late{Window: 100 * time.Millisecond}})
	require.Error(t, err)
	require.ErrorContains(t, err, `"drive"`)
}
