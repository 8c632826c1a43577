package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// Singleton declares the state of a match: a value that the server's world has once and
// every client receives, such as the score, the round, or the weather. Read and write it
// with [ecs.Singleton.Get]. Clients have the newest value that they received: it is not
// interpolated.
//
// The value is sent before all entities and no limit of the send rate delays it. A client
// has it in its first frame in state Playing, also when it joins late. The net tags of its
// fields set how they are sent. Fields may be for the game's own audiences (to=NAME), not
// for owners and teams. server.Server.NextLevel keeps the value: the level's build function
// resets what belongs to a level.
//
// Server systems, hooks and handlers write it, and render systems read it. With [Predicted] shared
// systems may read and write it too; without, Err refuses them. Every client then computes it ahead of
// the server, compares it, and rolls it back together with its own player, like a shared physics
// object. A shared system that writes it for its rows runs on a client for that client's player alone.
// The changes that other players' rows make to the value arrive from the server, as a correction.
func (p *Protocol) Singleton(h ecs.Handle, opts ...ComponentOption) {
	if !p.given("Singleton", h) {
		return
	}
	row, name := ecs.RowOf(h), game.TypeName(h.Type())
	if row == nil {
		p.faultf("Singleton is given the component %s: declare it with Component, or make it an ecs.Singleton", name)
		return
	}
	if h.Registered() {
		p.faultf("singleton %s is registered already: declare it with Protocol.Singleton alone, not with RegisterSingleton", name)
		return
	}
	n := len(p.compiled.Components)
	p.Component(row, opts...)
	if len(p.compiled.Components) == n {
		_ = p.compiled.Types.RegisterSingleton(h, ecs.Named(name), ecs.CopierAt(func(_, _ unsafe.Pointer) {})) // so that systems do not report it again
		return
	}
	c := &p.compiled.Components[n]
	deep, _ := c.Schema.Copier() // cannot fail: Component has called it
	options := []ecs.TypeOption{ecs.Named(name)}
	if deep != nil {
		options = append(options, ecs.CopierAt(deep))
	}
	if err := p.compiled.Types.RegisterSingleton(h, options...); err != nil {
		p.addFault(err)
		return
	}
	p.checkSingletonFields(c)
	c.Singleton = int(h.ID())
	p.compiled.Singletons = append(p.compiled.Singletons, game.SingletonType{ID: h.ID(), Row: row, Size: c.Size, Predicted: c.Predicted, Deep: deep})
}

// checkSingletonFields refuses fields with an audience that a singleton cannot have.
func (p *Protocol) checkSingletonFields(c *layout.Component) {
	for _, f := range c.Schema.Fields() {
		if f.Audience&(schema.ToOwner|schema.ToAllies|schema.ToEnemies) != 0 {
			p.faultf("singleton %s: field %s is for an owner or a team, and a singleton has neither: drop the tag, or, with a server, declare an audience with Protocol.Audience and tag the field to=NAME", c.Name, f.Name)
		}
	}
}

// checkSingletonUse refuses shared systems that use a singleton which is not rolled back. After a write
// each end would have its own value, and a replay would write again. A read would see the newest value
// that arrived, which is some ticks older than the server's own: each change would be a misprediction.
func (p *Protocol) checkSingletonUse(s ecs.SystemInfo) {
	of := func(id ecs.ID) int {
		return slices.IndexFunc(p.compiled.Singletons, func(v game.SingletonType) bool { return v.ID == id })
	}
	for _, id := range s.SingleWrites {
		if i := of(id); i < 0 || !p.compiled.Singletons[i].Predicted {
			p.faultf("shared system %q writes singleton %s, which is not predicted: declare it with Protocol.Singleton(…, Predicted()), or, with a server, make the system Server", s.Name, p.compiled.Types.Singletons()[id].Name)
		}
	}
	for _, id := range s.SingleReads {
		if i := of(id); i >= 0 && !p.compiled.Singletons[i].Predicted && !slices.Contains(s.SingleWrites, id) {
			p.faultf("shared system %q reads singleton %s, which is not predicted, and would be corrected at each change: declare it with Protocol.Singleton(…, Predicted()), or, with a server, make the system Server", s.Name, p.compiled.Types.Singletons()[id].Name)
		}
	}
}

// declareSingletonRow declares the prefab that carries the singletons, after the game's prefabs.
func (p *Protocol) declareSingletonRow() {
	if len(p.compiled.Singletons) == 0 {
		return
	}
	var rows []ecs.Handle
	for _, v := range p.compiled.Singletons {
		rows = append(rows, v.Row)
	}
	p.Prefab(&p.compiled.SingletonRow, game.SingletonPrefab, rows...)
}
