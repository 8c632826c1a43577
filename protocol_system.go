package foretick

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick/ecs"
)

// Stages declares the stages of a tick, in order. [ecs.Stage] puts a system into one.
// Without Stages there is a single stage. Call it at most once.
func (p *Protocol) Stages(names ...string) {
	switch {
	case p.late("Stages"):
	case p.stages != nil:
		p.faultf("Stages was declared twice: name all stages in one call")
	case len(names) == 0:
		p.faultf("Stages names none: name at least one, or leave the call out")
	default:
		p.stages = names
	}
}

// InOrder makes the systems run in their order of declaration, stage by stage, whatever
// they read and write. [ecs.Before] and [ecs.After] still apply. Without InOrder the
// declared accesses set the order: creators of a component run before its writers, and
// writers before systems that only read it. Two systems that both write a component, or
// that have no component in common, run in order of declaration, whether they are Shared or
// Server. [ecs.Before] and [ecs.After] change that, and [Protocol.Graph] shows the result.
// Server and clients must have the same order of shared systems: it is part of the hash.
func (p *Protocol) InOrder() {
	if !p.late("InOrder") {
		p.compiled.schedule.InOrder()
	}
}

// stageMain is the stage of a game that declares none.
const stageMain = "tick"

// Shared declares a system that both ends run. The server runs it for every row. A client
// runs it for its own player's rows, and for those of other players that it predicts (see
// [PredictRemote]). run is called several times a tick, each time with rows of one owner and
// one set of components, and must loop over them. access declares the components of its rows, and everything that the
// system reads and writes: see [ecs.Read] and the other options there.
//
// Shared physics objects are unowned entities that shared systems write with
// [ecs.WriteOther]: a crate that players push, a ball. Spawn them for [ecs.Nobody]. Every
// client predicts them together with its own player. It runs the shared systems for them,
// compares them with each snapshot, and rolls them back and replays them with the player.
// On a client their rows have the owner [ecs.Common]. An unowned entity without such a
// write is drawn in the past, like remote players.
//
// A shared system reads other entities with [ecs.ReadOther]. On a client they have the
// values of the newest snapshot, from the end of a tick. On the server they have their
// values at that point of the running tick. Entities that the client predicts are the
// exception: both ends run the systems for them. So let systems that read other bodies run
// before those that move them, and let each body write only itself. Bodies that touch then
// get the same result on both ends, in any order of rows.
//
// With [ecs.ReadOwn] it reads other entities of the same player alone, such as the holder of a
// weapon. That client predicts them, and receives their fields with the tag owner too.
//
// What a shared system writes of an entity that its client does not predict lasts for that
// tick. The next tick finds the newest snapshot's values again, in every run.
//
// With [ecs.Tags] both ends run it in matches whose [ServerConfig].Tags has all of its tags.
//
// With [ecs.Partial] the system also draws the own player between two ticks: see
// [ClientConfig].PartialTicks.
//
// A client runs it again in each correction, so it plays no sounds, writes no logs and sends
// nothing: raise an [Event], and do that in [Event.OnPredicted].
//
// An [ecs.Once] system gets no rows. On a client its queries find every entity. Its writes
// to values that are not predicted last for one rendered frame.
func (p *Protocol) Shared(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	if run != nil && slices.ContainsFunc(access, ecs.Access.IsStructural) {
		run = act(run)
	}
	if run != nil && slices.ContainsFunc(access, func(a ecs.Access) bool { return a.IsWriteOther() || a.IsWriteSingleton() }) {
		run = pushing(run)
	}
	if run != nil && slices.ContainsFunc(access, ecs.Access.IsPartial) {
		run = p.partial(name, run)
	}
	if run != nil {
		s := &sharedSystem{name: name}
		p.shared = append(p.shared, s)
		run = s.running(run)
	}
	p.system(name, run, access)
}

// Server declares a system that only the server runs, in each tick. run gets the rows of all
// players, and of entities that no player owns, in the same way as in [Protocol.Shared]. With
// [ecs.Once] it is called once a tick and gets no rows. Its place among all systems, Shared
// ones too, follows from the declared accesses: see [Protocol.InOrder].
//
// It may write predicted components. No client can know that in advance, so the owner's
// client is corrected when the snapshot arrives, with the cause [prediction.ServerEffect].
func (p *Protocol) Server(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	p.system(name, run, append(access[:len(access):len(access)], ecs.Tags(TagServer)))
}

// Render declares a system that a client runs once per rendered frame, after everything
// else, on the values that are drawn. A server runs it in [Server.Draw], if it asks for that.
// With the tag [TagClient] or [TagServer] it runs on one end alone.
func (p *Protocol) Render(name string, run func(*Frame, ecs.Rows), access ...ecs.Access) {
	p.system(name, run, append(access[:len(access):len(access)], ecs.Tags(TagRender), ecs.Render()))
}

func (p *Protocol) system(name string, run func(*Frame, ecs.Rows), access []ecs.Access) {
	if !p.able(fmt.Sprintf("system %q", name), run != nil) || !p.named("a system", name) {
		return
	}
	p.systems = append(p.systems, name)
	p.compiled.schedule.Add(name, run, access...)
}
