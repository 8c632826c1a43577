package foretick

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/stats"
)

// Internals returns the client's internal state for the packages simtest, inspect and expert.
// Games have no use for it: its type is internal.
func (c *Client) Internals() probe.Client { return clientInternals{c} }

type clientInternals struct{ c *Client }

func (in clientInternals) Hash() uint64 { return in.c.world.Hash(in.c.p.order) }

func (in clientInternals) Losses(dst []stats.Loss) []stats.Loss {
	return append(dst, in.c.losses.list...)
}

func (in clientInternals) SetTechniques(t probe.Techniques) error { return in.c.setTechniques(t) }

func (in clientInternals) ReceivedValue(component ecs.ID, e ecs.Entity, v unsafe.Pointer) (at Tick, ok bool) {
	return in.c.receivedValue(component, e, v)
}

func (in clientInternals) BuildDifference() *schema.BuildDifference {
	return (*schema.BuildDifference)(in.c.link.builds.difference)
}

func (in clientInternals) SetArchitecture(name string) { in.c.architecture = name }

func (in clientInternals) OnMessage(fn func(probe.MessageReceived)) {
	in.c.hooks.message = append(in.c.hooks.message, fn)
}

func (in clientInternals) OnRequest(fn func(probe.RequestSent)) {
	in.c.hooks.request = append(in.c.hooks.request, fn)
}

func (in clientInternals) ScreenHash() probe.ScreenHash {
	c := in.c
	t, ok := c.ghosts.receiver.Newest()
	if !ok || c.view.State < Syncing || c.view.State == Resuming || c.view.State == Closed {
		return probe.ScreenHash{}
	}
	out := probe.ScreenHash{Tick: t}
	out.Digest, out.Fields = c.ghosts.receiver.Hash(t)
	return out
}

func (in clientInternals) Newest() Tick {
	t, _ := in.c.ghosts.receiver.Newest()
	return t
}

func (in clientInternals) Count() int {
	n := 0
	for _, g := range in.c.ghosts.receiver.Ghosts() {
		if g.Data != 0 {
			n++
		}
	}
	in.c.timeline.spawning.waiting.Open(func(_ Tick, s spawned) bool {
		if in.c.world.Alive(s.e) {
			n++
		}
		return true
	})
	return n + in.c.timeline.clientOnlyCount()
}

func (in clientInternals) Entity(w schema.WireID) probe.ClientEntity {
	g := in.c.ghosts.ghost(w)
	if w == 0 || g == nil {
		return probe.ClientEntity{}
	}
	told := in.Newest()
	for k := 0; told != 0; k, told = k+1, told-1 {
		if _, ok := g.At(told); ok {
			break
		}
		if k > in.c.cfg.History { // nothing older is remembered
			told = 0
			break
		}
	}
	if v := g.Newest(); int32(v.Tick-told) > 0 {
		told = v.Tick // it came in pieces, and the snapshot of its tick did not
	}
	return probe.ClientEntity{
		Told: told, Known: true, Alien: in.c.ghosts.alien(g), Own: g.Mine,
		Alive: g.Data != 0 && in.c.world.Alive(ecs.Entity(g.Data)),
	}
}

func (in clientInternals) Wire(local ecs.Entity) schema.WireID {
	if id := in.c.p.identity.Find(in.c.world, local); id != nil {
		return schema.WireID(id.Net)
	}
	return 0
}

func (in clientInternals) Components() int { return len(in.c.p.Components) }

func (in clientInternals) Compare(w schema.WireID, comp int, theirs []int32, a schema.Audience, visit func(probe.Field)) (name string, known, both bool) {
	c, own := in.c, &in.c.p.Components[comp]
	g := c.ghosts.ghost(w)
	if own.Unknown || g == nil {
		return own.Name, false, false
	}
	at := c.world.Pointer(ecs.Entity(g.Data), own.ID)
	if at == nil || theirs == nil {
		return own.Name, true, (at == nil) == (theirs == nil)
	}
	ours, sent := make([]int32, own.Schema.Words()), make([]int32, own.Schema.Words())
	own.Schema.Quantise(at, c.ghosts.receiver.Grid(g, comp), wireRefs{&c.ghosts}, ours)
	own.Schema.Known(theirs, c.ghosts.receiver.Grid(g, comp), sent)
	for k, f := range own.Schema.Fields() {
		if f.Audience != 0 && f.Audience&a == 0 || !own.Schema.Knows(k) {
			continue
		}
		value := func(words []int32) any {
			all := make([]int32, own.Schema.Words())
			copy(all[f.Word:], words)
			return own.Schema.Value(k, all, c.ghosts.receiver.Grid(g, comp))
		}
		visit(probe.Field{Name: f.Name, Ref: f.Ref, Ours: ours[f.Word : f.Word+f.Words], Theirs: sent[f.Word : f.Word+f.Words], Singleton: own.Singleton >= 0, Value: value})
	}
	return own.Name, true, true
}

func (in clientInternals) SampleWhile(wanted func() bool) {
	if s := in.c.cfg.Sample; s != nil {
		in.c.cfg.Sample = interrupted{s, wanted}
	}
}

func (in clientInternals) OnSample(fn func(shown Tick, command unsafe.Pointer)) {
	if s := in.c.cfg.Sample; s != nil {
		in.c.cfg.Sample = overheard{s, fn}
	}
}

func (in clientInternals) SyncTest(ticks int, found func(probe.Desync)) error {
	c := in.c
	switch {
	case c.begun:
		return errors.New("foretick: a sync test begins before the client's first Step")
	case ticks >= c.cfg.History:
		return fmt.Errorf("foretick: a sync test goes %d ticks back: use less than ClientConfig.History, which is %d", ticks, c.cfg.History)
	}
	c.hooks.desync, c.hooks.syncTest = found, max(ticks, 0)
	if ticks > 0 {
		c.cfg.Protocol.compiled.watch(true)
	}
	return nil
}
