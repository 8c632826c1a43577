package rollbacktest

import (
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/seam"
)

// activity notes what the ticks of a match's replays use.
type activity struct {
	others  int // others counts the ticks in which a player joined or left. Their changes do not count.
	changes int // changes is the most ticks of a replay that changed the world, up to one more than others.
	command []probe.Used
	systems []probe.Used

	game     *game.Protocol[*foretick.Frame] // game is the protocol of the newest replay. All below is of that.
	infos    []ecs.SystemInfo
	entities *ecs.Query
	commands *ecs.Query
	values   []ecs.ID // values are all components but the command.
	changed  int
	newest   uint64 // newest is the digest of the newest tick's world. 0 means that there is none.
}

// digestSeed is the seed of digests of worlds, which are compared within a program only.
var digestSeed = maphash.MakeSeed()

// begin begins with the ticks of another replay.
func (a *activity) begin(p *foretick.Protocol, tags []string) {
	a.game = seam.Protocol(p).(*game.Protocol[*foretick.Frame])
	own := append([]string{foretick.TagRender, foretick.TagClient}, tags...)
	a.infos = a.game.Schedule.Systems()
	a.systems = game.UsableSystems(a.infos, a.systems, func(tags []string) bool {
		return !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(own, tag) })
	})
	a.command = a.game.UsableFields(a.command)
	a.entities = ecs.NewQuery(a.game.Types, ecs.With(&a.game.Identity))
	a.commands = ecs.NewQuery(a.game.Types, ecs.With(a.game.Command.Handle))
	a.values = a.values[:0]
	for id := range ecs.ID(a.game.Types.Len()) {
		if id != a.game.Command.ID {
			a.values = append(a.values, id)
		}
	}
	a.changed, a.newest = 0, 0
}

// look notes what a tick used.
func (a *activity) look(w *ecs.World) {
	game.UseSystems(w, a.entities, a.infos, a.systems)
	a.game.UseCommand(w, a.commands, a.command)
	if a.changes > a.others {
		return
	}
	var h maphash.Hash
	h.SetSeed(digestSeed)
	maphash.WriteComparable(&h, w.Hash(nil, a.values...))
	for _, info := range a.game.Types.Singletons() {
		_, _ = h.Write(unsafe.Slice((*byte)(ecs.Engine(w).SingletonPointer(info.ID)), info.Size)) // it never fails
	}
	now := h.Sum64() | 1
	if a.newest != 0 && now != a.newest {
		a.changed++
	}
	a.newest, a.changes = now, max(a.changes, a.changed)
}

// still returns why the match tested nothing, or "".
func (a *activity) still() string {
	switch {
	case !slices.ContainsFunc(a.command, func(u probe.Used) bool { return u.Ever }):
		return "no field of the command was ever set: let Player.Sample press something, and let OnJoin give each player an entity with the command"
	case a.changes <= a.others:
		return "in the replays of those who were there at the end, no value of the world changed but in ticks in which a player joined or left: let a system do what the command asks for, or the game begin again when it is over"
	}
	return ""
}

// unused returns the names of what was never used.
func unused(all []probe.Used) (names []string) {
	for _, u := range all {
		if !u.Ever {
			names = append(names, u.Name)
		}
	}
	return names
}
