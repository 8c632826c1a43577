package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// remotePrediction is what a game declared with PredictRemote.
type remotePrediction struct {
	guess  func(f *Frame, avatar ecs.Entity, ahead int, at unsafe.Pointer)
	except []string
	along  []*ecs.Prefab
	runs   []bool // by system: over what others own, too
}

// RemoteOption goes with [PredictRemote].
type RemoteOption func(*remotePrediction)

// SkipSystems names shared systems that do not run for other players on a client: those
// that read what only an owner receives, such as his ammunition, or that are of no use
// there.
func SkipSystems(systems ...string) RemoteOption {
	return func(x *remotePrediction) { x.except = append(x.except, systems...) }
}

// AlsoPredict names prefabs that clients run ahead too while another player owns them, though
// no command moves them: a rocket, which else would be seen to fly behind the one who
// fired it.
func AlsoPredict(prefabs ...*ecs.Prefab) RemoteOption {
	return func(x *remotePrediction) { x.along = append(x.along, prefabs...) }
}

// PredictRemote has clients predict the avatars of other players, too: every entity of a
// prefab with the command c that another player owns. They stand on the screen where
// they will be when the player's own command takes effect, instead of where they were,
// so that to ram somebody, or to stand in his way, is felt at once and comes out on
// the server as it did here. The price is that whoever does something else than was
// foreseen is seen to move over to where he is, as a correction that fades. It suits
// games of bodies that touch (cars, boats, balls), and less those of aim.
//
// guess says what an avatar's player presses in the tick f.Tick: a client calls it
// ahead of each tick that it predicts, in replays too, with the world as the tick
// before left it, and runs the shared systems with its answer. ahead is how many ticks
// the newest snapshot lies back, from 1. cmd is zero when guess is called, and goes
// through the wire's rounding behind it. guess reads what clients are told of the
// avatar, changes nothing (builds with the tag foretick_debug panic with [UsageError]
// where it does), and must answer the same to the same, as a shared system does. Let
// the system that takes the command in keep what others need to go on with, a stick or
// a throttle, in a component of its own. A guess that grows neutral with ahead
// overshoots less.
//
// What was foreseen joins the island: it is held against each snapshot, and goes back,
// is corrected and runs again with what the player predicts of his own. That others are
// foreseen wrongly is counted in [ClientStats] and no misprediction of the player's;
// where it bears on him, his own correction is one, with the cause
// [prediction.RemoteInput].
//
// Events that others' avatars raise on a client, and what they spawn or destroy there,
// are passed over: those the server tells. A shot is judged where the player saw its
// target, and so hardly before the server's present, see [Frame.Rewind]; but where the
// target really was, which is beside the picture for as long as a correction fades.
//
// It costs a client the systems and the replays of all whom it is shown: where there are
// many, [Interest] bounds them.
//
// Clients compute with what they are told. So Err refuses a component of such a prefab
// that is predicted and told to others in coarser steps than it is simulated in (see
// [FullPrecision]), and a shared system that would read of others what they do not receive (see
// [SkipSystems]).
func PredictRemote[T any](p *Protocol, c *ecs.Component[T], guess func(f *Frame, avatar ecs.Entity, ahead int, cmd *T), opts ...RemoteOption) {
	switch {
	case p.commandOf("PredictRemote", c) == nil:
		return
	case guess == nil:
		p.faultf("PredictRemote has no function: say what others are taken to press")
		return
	case p.predictRemote != nil:
		p.faultf("PredictRemote was declared twice: name all that it concerns in one call")
		return
	}
	p.predictRemote = &remotePrediction{guess: func(f *Frame, avatar ecs.Entity, ahead int, at unsafe.Pointer) {
		guess(f, avatar, ahead, (*T)(at))
	}}
	for _, o := range opts {
		if o == nil {
			p.faultf("PredictRemote has a nil option: leave it out")
			continue
		}
		o(p.predictRemote)
	}
}

// FullPrecision has everybody receive a predicted component in the steps that it is simulated
// in, which its owner receives in any case: for what clients compute of others
// themselves (see [PredictRemote]). It costs about four bits more for a number that moves.
func FullPrecision() ComponentOption { return func(c *component) { c.exact = true } }

// checkRemotePrediction finds what is foreseen and refuses what no client could foresee.
func (p *Protocol) checkRemotePrediction() {
	x := p.predictRemote
	if x == nil {
		return
	}
	for i := range p.prefabs {
		k := &p.prefabs[i]
		k.remotePredicted = !k.local() && (k.ecs.Mask().Has(p.command.id) || slices.Contains(x.along, k.ecs))
	}
	for _, k := range x.along {
		if i := p.prefabOf(k); i < 0 && !slices.Contains(p.unmade, k) {
			p.faultf("AlsoPredict names a prefab that is not declared with Protocol.Prefab")
		} else if i >= 0 && p.prefabs[i].local() {
			p.faultf("AlsoPredict names prefab %q, whose policy is ClientOnly: of such each client keeps its own alone", k.Name())
		}
	}
	for i := range p.components {
		if f := p.components[i].schema.Coarse(); f >= 0 && p.components[i].predicted && p.remotePredicted(p.components[i].id) {
			field := p.components[i].schema.Fields()[f]
			p.faultf("PredictRemote: others are told %s.%s in steps of %.7g and it is simulated in steps of %.7g, so that no prediction could be exact: declare %s with Component(…, Predicted(), FullPrecision())", p.components[i].name, field.Name, field.Step, field.Sim, p.components[i].name)
		}
	}
	systems := p.schedule.Systems()
	for _, name := range x.except {
		if !slices.ContainsFunc(systems, func(s ecs.SystemInfo) bool { return s.Name == name && shared(s) }) {
			p.faultf("Except names %q, which is no shared system", name)
		}
	}
	for _, s := range systems {
		runs := shared(s) && !slices.Contains(x.except, s.Name)
		x.runs = append(x.runs, runs)
		if field := p.keptBack(s); runs && field != "" {
			p.faultf("shared system %q reads %s, which other players do not receive, and PredictRemote would run it for them: leave it out with Except(%q), or put that field into another component", s.Name, field, s.Name)
		}
	}
}

// remotePredicted tells whether what is foreseen has a component, or may be given it.
func (p *Protocol) remotePredicted(id ecs.ID) bool {
	return !p.inborn(id) || slices.ContainsFunc(p.prefabs, func(k prefab) bool { return k.remotePredicted && k.ecs.Mask().Has(id) })
}

// inborn tells whether some kind is born with a component: entities of the others are
// then not expected to be given it.
func (p *Protocol) inborn(id ecs.ID) bool {
	return slices.ContainsFunc(p.prefabs, func(k prefab) bool { return k.ecs.Mask().Has(id) })
}

// keptBack names the first field that a system may read of the rows of what is
// foreseen, and others are not told; "" without one.
func (p *Protocol) keptBack(s ecs.SystemInfo) string {
	fits := func(k prefab) bool {
		return k.remotePredicted && !slices.ContainsFunc(s.With.IDs(), func(id ecs.ID) bool { return p.inborn(id) && !k.ecs.Mask().Has(id) })
	}
	if s.Once || !slices.ContainsFunc(p.prefabs, fits) {
		return ""
	}
	for _, id := range slices.Concat(s.Reads, s.Writes) {
		i := p.index(id)
		if i < 0 {
			continue
		}
		for _, f := range p.components[i].schema.Fields() {
			if f.Audience != 0 {
				return p.components[i].name + "." + f.Name
			}
		}
	}
	return ""
}
