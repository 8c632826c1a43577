package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// RemoteConfig configures [PredictRemote]. The zero value predicts avatars with all shared
// systems.
type RemoteConfig struct {
	// Also names further prefabs that clients predict while another player owns them, though no command
	// moves them. An example is a rocket: unless it is named here, it is drawn in the past, but its
	// shooter is not. A prefab that is ClientOnly is an error: see SpawnConfig.
	Also []*ecs.Prefab
	// Skip names shared systems that a client does not run for other players. Skip systems
	// that read fields which only an owner receives, such as ammunition, and systems whose
	// results nobody sees on a client.
	Skip []string
}

// PredictRemote makes clients predict other players' avatars too: every entity of a prefab
// with the command c that another player owns. They are drawn at the place they will have
// when the player's own command takes effect. Without it they are drawn in the past. So
// ramming or blocking another player shows at once, with the same result as on the server.
// The price: when another player acts differently than predicted, its avatar moves to the
// right place as a fading correction. It suits games whose bodies touch (cars, boats,
// balls). It suits games of precise aim less.
//
// guess sets *cmd to the command that the avatar's player is expected to give in tick
// f.Tick. A client calls it before each tick that it predicts, in replays too. The world is
// then as the tick before left it, and cmd is zero. The client rounds the result as the
// wire does, and runs the shared systems with it. ahead is the number of ticks since the
// newest snapshot, from 1. A guess that returns to neutral as ahead grows overshoots less.
//
// guess may read the avatar's components that clients receive, and must not change
// anything: builds with the tag foretick_debug panic with [UsageError] if it does. Like a
// shared system, it must return the same for the same state. To know another player's stick
// or throttle, store it: let the system that reads the command write it to a component that
// others receive.
//
// Predicted remote entities are compared with each snapshot. They are rolled back,
// corrected and replayed together with the player's own entities. Wrong guesses are counted
// in [stats.Client], and are not mispredictions of the player. If one changes the player's
// own state, that correction is a misprediction, with the cause [prediction.RemoteInput].
//
// On a client, other players' avatars raise no events, and entities that they spawn or
// destroy do not last. The server's own events and spawns reach the client as usual. A shot
// is judged at the tick for which the player saw its target. That tick is close to the
// server's present: see [Frame.Rewind]. It is judged against the target's true position.
// While a correction fades, that position differs from the one on the screen.
//
// A client runs and replays the systems of every player that it receives. With many
// players, limit their number with [Interest].
//
// Clients compute with the values that they receive. So Err refuses a predicted component
// of such a prefab if others receive it in coarser steps than it is simulated in: see
// [FullPrecision]. Err also refuses a shared system that would read fields of others that a
// client does not receive: see [RemoteConfig].Skip.
func PredictRemote[T any](p *Protocol, c *ecs.Component[T], guess func(f *Frame, avatar ecs.Entity, ahead int, cmd *T), cfg RemoteConfig) {
	switch {
	case !p.isCommand("PredictRemote", c):
		return
	case guess == nil:
		p.faultf("PredictRemote has no function: say what others are taken to press")
		return
	case p.compiled.Remote.Predicts:
		p.faultf("PredictRemote was declared twice: name all that it concerns in one call")
		return
	}
	p.compiled.Remote.Predicts = true
	p.compiled.Handlers.Guess = func(f *Frame, avatar ecs.Entity, ahead int, at unsafe.Pointer) {
		guess(f, avatar, ahead, (*T)(at))
	}
	p.along, p.skipped = slices.Clone(cfg.Also), slices.Clone(cfg.Skip)
}

// FullPrecision sends a predicted component to every client at simulation precision, not
// only to its owner. Clients need it for components of other players that they predict: see
// [PredictRemote]. It costs about four bits more for a number that moves.
func FullPrecision() ComponentOption {
	return ComponentOption{func(c *layout.Component) { c.FullPrecision = true }}
}

// checkRemotePrediction finds the prefabs that are predicted remotely. It notes a fault for each that
// no client could predict.
func (p *Protocol) checkRemotePrediction() {
	if !p.compiled.Remote.Predicts {
		return
	}
	for i := range p.compiled.Prefabs {
		k := &p.compiled.Prefabs[i]
		k.RemotePredicted = !k.ClientOnly() && !k.Interpolated && (k.ECS.Mask().Has(p.compiled.Command.ID) || slices.Contains(p.along, k.ECS))
	}
	for _, k := range p.along {
		if i := p.compiled.PrefabOf(k); i < 0 && !slices.Contains(p.unmade, k) {
			p.faultf("RemoteConfig.Also names a prefab that is not declared with Protocol.Prefab")
		} else if i >= 0 && p.compiled.Prefabs[i].Interpolated {
			p.faultf("RemoteConfig.Also names prefab %q, which is Interpolated: leave it out there, or drop Interpolated", k.Name())
		} else if i >= 0 && p.compiled.Prefabs[i].ClientOnly() {
			p.faultf("RemoteConfig.Also names prefab %q, whose policy is ClientOnly: of such each client keeps its own alone", k.Name())
		}
	}
	for i := range p.compiled.Components {
		if f := p.compiled.Components[i].Schema.Coarse(); f >= 0 && p.compiled.Components[i].Predicted && p.remotePredicted(p.compiled.Components[i].ID) {
			field := p.compiled.Components[i].Schema.Fields()[f]
			p.faultf("PredictRemote: others are told %s.%s in steps of %.7g and it is simulated in steps of %.7g, so that no prediction could be exact: declare %s with Component(…, Predicted(), FullPrecision())", p.compiled.Components[i].Name, field.Name, field.Step, field.Sim, p.compiled.Components[i].Name)
		}
	}
	systems := p.compiled.Schedule.Systems()
	for _, name := range p.skipped {
		if !slices.ContainsFunc(systems, func(s ecs.SystemInfo) bool { return s.Name == name && layout.Shared(s) }) {
			p.faultf("RemoteConfig.Skip names %q, which is no shared system", name)
		}
	}
	for _, s := range systems {
		runs := layout.Shared(s) && !slices.Contains(p.skipped, s.Name)
		p.compiled.Remote.Runs = append(p.compiled.Remote.Runs, runs)
		if field := p.keptBack(s); runs && field != "" {
			p.faultf("shared system %q reads %s, which other players do not receive, and PredictRemote would run it for them: name it in RemoteConfig.Skip, or put that field into another component", s.Name, field)
		}
	}
}

// remotePredicted reports whether an entity of a remotely predicted prefab has a component, or may get
// it later.
func (p *Protocol) remotePredicted(id ecs.ID) bool {
	return !p.inborn(id) || slices.ContainsFunc(p.compiled.Prefabs, func(k layout.Prefab) bool { return k.RemotePredicted && k.ECS.Mask().Has(id) })
}

// inborn reports whether the entities of some prefab are spawned with a component. Then no entity of
// another prefab is expected to get the component later.
func (p *Protocol) inborn(id ecs.ID) bool {
	return slices.ContainsFunc(p.compiled.Prefabs, func(k layout.Prefab) bool { return k.ECS.Mask().Has(id) })
}

// keptBack returns the first field that a system may read from remotely predicted entities although
// other players do not receive it, or "" if there is none.
func (p *Protocol) keptBack(s ecs.SystemInfo) string {
	fits := func(k layout.Prefab) bool {
		return k.RemotePredicted && !slices.ContainsFunc(s.With.IDs(), func(id ecs.ID) bool { return p.inborn(id) && !k.ECS.Mask().Has(id) })
	}
	if s.Once || !slices.ContainsFunc(p.compiled.Prefabs, fits) {
		return ""
	}
	for _, id := range slices.Concat(s.Reads, s.Writes, s.OwnReads) {
		i := p.compiled.Index(id)
		if i < 0 {
			continue
		}
		for _, f := range p.compiled.Components[i].Schema.Fields() {
			if f.Audience != 0 {
				return p.compiled.Components[i].Name + "." + f.Name
			}
		}
	}
	return ""
}
