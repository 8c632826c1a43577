package game

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
)

// UsableSystems returns the systems of a schedule. Ever is kept from before. It is true for systems that need no
// rows, and for those that runs, given their tags, reports false for.
func UsableSystems(infos []ecs.SystemInfo, before []probe.Used, runs func(tags []string) bool) (all []probe.Used) {
	for _, sys := range infos {
		none := sys.Once || sys.Render || !runs(sys.Tags)
		all = append(all, probe.Used{Name: sys.Name, Ever: none || usedBefore(before, sys.Name)})
	}
	return all
}

// UsableFields returns the fields of the command. Ever is kept from before.
func (p *Facts) UsableFields(before []probe.Used) (all []probe.Used) {
	if p.Command == nil {
		return nil
	}
	for _, f := range p.Command.Schema.Fields() {
		name := p.Command.Name + "." + f.Name
		all = append(all, probe.Used{Name: name, Ever: usedBefore(before, name)})
	}
	return all
}

func usedBefore(all []probe.Used, name string) bool {
	return slices.Contains(all, probe.Used{Name: name, Ever: true})
}

func notUsed(u probe.Used) bool { return !u.Ever }

// UseSystems sets Ever of the systems that match a row of a world now. all are those of UsableSystems, and entities
// finds the rows.
func UseSystems(w *ecs.World, entities *ecs.Query, infos []ecs.SystemInfo, all []probe.Used) {
	if !slices.ContainsFunc(all, notUsed) {
		return
	}
	for _, rows := range entities.All(w) {
		if rows.Len() == 0 {
			continue
		}
		mask := ecs.Engine(w).Mask(rows.Entity(0))
		for i := range all {
			all[i].Ever = all[i].Ever || mask.Contains(infos[i].With) && !mask.Overlaps(infos[i].Without)
		}
	}
}

// UseCommand sets Ever of the command's fields that are not zero now for some player. all are those of UsableFields,
// and commands finds the rows with a command.
func (p *Facts) UseCommand(w *ecs.World, commands *ecs.Query, all []probe.Used) {
	if !slices.ContainsFunc(all, notUsed) {
		return
	}
	c := p.Command
	zero, words := make([]int32, c.Schema.Words()), make([]int32, c.Schema.Words())
	c.Schema.Quantise(c.New(), schema.GridPublic, sameEntity{}, zero)
	for _, rows := range commands.All(w) {
		at := rows.Column(c.ID)
		for i := range rows.Len() {
			c.Schema.Quantise(unsafe.Add(at, uintptr(i)*c.Size), schema.GridPublic, sameEntity{}, words)
			for f := range all {
				all[f].Ever = all[f].Ever || c.Schema.Differs(f, zero, words)
			}
		}
	}
}

// sameEntity keeps references as they are, as far as 32 bits allow.
type sameEntity struct{}

func (sameEntity) Net(entity uint64) uint32 { return uint32(entity) }

func (sameEntity) Entity(ref uint32) uint64 { return uint64(ref) }
