package rollback

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
)

// events calls the handlers of events. Those of OnServer run in each run of a tick, on every peer. Those of
// OnPredicted run once, and later either those of OnConfirmed or those of OnCancelled. Those of OnFinal run once
// the tick is settled, outside of the ticks, so they must not change the world.
type events struct {
	frames *frameState
	drains []func(*foretick.Frame) // drains call the handlers of OnServer.
	finals []func(*foretick.Frame) // finals call the handlers of OnFinal.
}

// newEvents finds the systems that call handlers, in the order in which a server runs them.
func newEvents(p *compiled, frames *frameState) events {
	ev := events{frames: frames}
	for _, s := range p.Schedule.Systems() {
		switch call := p.Handlers.EventSystems[s.Name]; {
		case call == nil:
		case slices.Contains(p.Drains, s.Name):
			ev.drains = append(ev.drains, call)
		default:
			ev.finals = append(ev.finals, call)
		}
	}
	return ev
}

// begin begins a run of a tick.
func (ev *events) begin(t foretick.Tick) {
	for _, q := range ev.frames.Queues {
		q.Begin(t)
	}
}

// drain calls the handlers of OnServer for what the tick raised. As in a system, entities that they destroy are
// gone once the handlers of an event have run. Events that handlers raise are handled in the same tick: no tick
// leaves anything but its world to the next one, so that a peer can begin with a world.
func (ev *events) drain(f *foretick.Frame) {
	for range game.MaxNesting {
		for _, call := range ev.drains {
			ecs.Engine(f.World).Lock()
			call(f)
			ecs.Engine(f.World).Unlock()
		}
		if !slices.ContainsFunc(ev.frames.Queues, game.EventQueue[*foretick.Frame].Pending) {
			return
		}
	}
}

// end cancels what an earlier run of the tick raised and this one did not.
func (ev *events) end(f *foretick.Frame) {
	for _, q := range ev.frames.Queues {
		q.End(ev.frames, f)
	}
}

// settle confirms the events of the ticks up to t, and calls the handlers of OnFinal for them.
func (ev *events) settle(f *foretick.Frame, t foretick.Tick) {
	for _, q := range ev.frames.Queues {
		q.Confirm(ev.frames, f, t)
		q.FindFinal()
	}
	if len(ev.finals) == 0 {
		return
	}
	var before uint64
	if game.DebugBuild {
		before = f.World.Hash(nil)
	}
	ev.frames.Telling = true
	for _, call := range ev.finals {
		call(f)
	}
	ev.frames.Telling = false
	if game.DebugBuild && f.World.Hash(nil) != before {
		misuse.Panicf("foretick: a handler of OnFinal writes the world. On a peer it runs once, when its tick is settled, and each peer's world is at another tick then: write in the system that raises the event, or in an OnServer handler")
	}
}

// save stores the events that wait.
func (ev *events) save(slot int) {
	for _, q := range ev.frames.Queues {
		q.Save(slot)
	}
}

// restore brings back the events that waited, but for those up to the tick settled, whose handlers ran since.
func (ev *events) restore(slot int, settled foretick.Tick) {
	for _, q := range ev.frames.Queues {
		q.Restore(slot)
		q.ForgetFinal(settled)
	}
}

// cancel cancels the events that are not confirmed.
func (ev *events) cancel(f *foretick.Frame) {
	for _, q := range ev.frames.Queues {
		q.Cancel(ev.frames, f)
	}
}

// clear forgets the events that wait.
func (ev *events) clear() {
	for _, q := range ev.frames.Queues {
		q.Clear()
	}
}
