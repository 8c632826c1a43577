package rollback

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
)

// refuseProtocol returns an error that names all that a protocol declares and that only a server can do. p has no
// faults of its own.
func refuseProtocol(p *compiled) error {
	r := refusals{p: p}
	r.refuseSystems()
	r.refuseMessages()
	r.refuseParts()
	r.refuseViews()
	r.refuseHooks()
	r.refuseCommand()
	if err := p.Types.WorldErr(); err != nil {
		r.errs = append(r.errs, fmt.Errorf("foretick: rollback sends whole worlds to players that join late: %w", err))
	}
	return errors.Join(r.errs...)
}

type refusals struct {
	p    *compiled
	errs []error
}

func (r *refusals) refuse(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("foretick: rollback: "+format, args...))
}

func (r *refusals) refuseSystems() {
	for _, s := range r.p.Schedule.Systems() {
		switch {
		case r.p.Handlers.EventSystems[s.Name] != nil || s.Render:
		case slices.Contains(s.Tags, foretick.TagServer):
			r.refuse("system %q runs on servers only, and no peer is one: declare it with Shared", s.Name)
		case slices.Contains(s.Tags, foretick.TagClient):
			r.refuse("system %q has the tag %q and runs in ticks: declare it with Render, or drop the tag", s.Name, foretick.TagClient)
		}
	}
}

func (r *refusals) refuseMessages() {
	for _, m := range r.p.Messages {
		r.refuse("message %s: only servers send messages. Raise an Event, which every peer sees", m.Name)
	}
	for _, q := range r.p.Requests {
		r.refuse("request %s: only servers handle requests. Put it into the command, as a number of its own", q.Name)
	}
}

// refuseParts refuses components and prefabs of which not every peer has the same.
func (r *refusals) refuseParts() {
	for _, a := range r.p.Audiences {
		r.refuse("audience %q: every peer has all values, so nothing can be kept from a player", a)
	}
	for i := range r.p.Components {
		c := &r.p.Components[i]
		for _, f := range c.Schema.Fields() {
			if f.Audience != 0 {
				r.refuse("component %s: field %s has an audience, but every peer has all values: drop the tag", c.Name, f.Name)
				break
			}
		}
	}
	for _, l := range r.p.Locals {
		r.refuse("component %s is declared with LocalComponent, and would be rolled back: keep it outside of the world, or declare it with Component", r.p.Types.Info(l.ID).Name)
	}
	for i := range r.p.Prefabs {
		switch k := &r.p.Prefabs[i]; {
		case k.Interpolated:
			r.refuse("prefab %q is Interpolated: every peer computes all entities, so drop that", k.ECS.Name())
		case k.ClientOnly():
			r.refuse("prefab %q is ClientOnly: every peer has the same entities, so drop that", k.ECS.Name())
		}
	}
}

// refuseViews refuses what belongs to views of the past, and to what players receive.
func (r *refusals) refuseViews() {
	if len(r.p.Hitboxes) > 0 {
		r.refuse("Hitbox: nothing is rewound. All players see one world, so a system can ask it for what a shot hits")
	}
	for _, t := range r.p.Tracks {
		r.refuse("TrackHistory of %s: nothing is rewound, so read the component", r.p.Components[t.Component].Name)
	}
	for _, l := range r.p.Lives {
		r.refuse("LifeID of %s: nothing is rewound or interpolated, so drop it", r.p.Components[l.Component].Name)
	}
	if r.p.Interest != nil {
		r.refuse("Interest: every peer has all entities")
	}
	for i, fn := range r.p.Handlers.Relevant {
		if fn != nil {
			r.refuse("Relevant of prefab %q: every peer has all entities", r.p.Prefabs[i].ECS.Name())
		}
	}
}

func (r *refusals) refuseHooks() {
	if r.p.Handlers.Check != nil {
		r.refuse("CheckCommand: no server checks commands. Let the system that reads the command leave out what the rules forbid")
	}
	for _, h := range []struct {
		name string
		n    int
	}{
		{"OnDisconnect", len(r.p.Handlers.Disconnects)}, {"OnReconnect", len(r.p.Handlers.Reconnects)}, {"OnLevel", len(r.p.Handlers.Levels)},
	} {
		if h.n > 0 {
			r.refuse("%s is not called on peers: drop it", h.name)
		}
	}
	if len(r.p.Handlers.Appearances) > 0 {
		r.refuse("OnAppear and OnVanish are not called on peers: drop them, and read the world in a Render system or after Step")
	}
}

// refuseCommand refuses a protocol without input, and a command that the relay cannot carry.
func (r *refusals) refuseCommand() {
	switch c := r.p.Command; {
	case c == nil:
		r.refuse("the protocol has no command, and inputs are all that peers exchange: declare one with Protocol.Command")
	case len(commandFields(r.p)) > settled.MaxFields:
		r.refuse("command %s has %d fields: use up to %d", c.Name, len(commandFields(r.p)), settled.MaxFields)
	}
}

// commandFields returns the fields of the command for the relay.
func commandFields(p *compiled) (out []settled.Field) {
	widths := p.Command.Schema.PackedFields()
	for _, f := range p.Command.Schema.Fields() {
		n := 1
		if f.Quat {
			n = 4 // a rotation is packed as four numbers
		}
		for range min(n, len(widths)-len(out)) {
			of := settled.Field(widths[len(out)])
			if f.OneShot || f.Sum {
				of |= settled.FieldOnce
			}
			out = append(out, of)
		}
	}
	return out
}

// tagsHash returns a hash of the tags of a world, in any order.
func tagsHash(tags []string) uint64 {
	var b []byte
	for _, t := range slices.Compact(slices.Sorted(slices.Values(tags))) {
		b = append(append(b, t...), 0)
	}
	return settled.SumOf(b)
}
