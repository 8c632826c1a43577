package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// Audience is a set of classes of players, as seen from an entity: who receives a
// component or a field. Fields name theirs by tags (owner, allies, enemies, to=NAME;
// see package snapshot), components by [For]. What a player does not receive leaves
// no trace in what he is sent.
type Audience = snapshot.Audience

// The audiences that every game has.
const (
	// ToOwner is the entity's owner.
	ToOwner = snapshot.ToOwner
	// ToAllies are the players of the entity's team, and its owner.
	ToAllies = snapshot.ToAllies
	// ToEnemies are the players of another team.
	ToEnemies = snapshot.ToEnemies
)

// For is who receives the fields of a component that name nobody themselves.
func For(a Audience) ComponentOption { return func(c *component) { c.audience |= a } }

// Audience declares an audience of the game's own, such as those who scanned a
// ship, for the tag to=NAME and for [For]. A player is of none until
// [Frame.SetAudience] says so. Declare audiences before the components that name
// them; there can be five.
func (p *Protocol) Audience(name string) Audience {
	switch {
	case p.late("Audience") || !p.named("Audience", name):
	case slices.Contains(p.audiences, name):
		p.faultf("Audience %q is declared twice", name)
	case len(p.audiences) == snapshot.MaxAudiences:
		p.faultf("Audience %q is one too many: there can be %d", name, snapshot.MaxAudiences)
	default:
		p.audiences = append(p.audiences, name)
		return snapshot.GameAudience(len(p.audiences) - 1)
	}
	return 0
}

// masked names a field of a component that the owner of an entity does not receive
// for being its owner, "" if there is none.
func (c *component) masked() string {
	for _, f := range c.schema.Fields() {
		if f.Audience != 0 && f.Audience&(ToOwner|ToAllies) == 0 {
			return f.Name
		}
	}
	return ""
}

// checkAudiences refuses what a client would have to predict without knowing it.
func (p *Protocol) checkAudiences() {
	for i := range p.components {
		c := &p.components[i]
		p.teams = p.teams || c.teamed()
		p.checkOthersFields(c)
		field := c.masked()
		if field == "" {
			continue
		}
		if c.predicted {
			p.faultf("component %s is predicted, but its owner does not receive %s: put that field into another component", c.name, field)
		}
		for _, s := range p.schedule.Systems() {
			if shared(s) && slices.Contains(s.Reads, c.id) {
				p.faultf("shared system %q reads %s, of which an owner does not receive %s: put that field into another component", s.Name, c.name, field)
			}
		}
	}
}

// checkOthersFields refuses shared systems that look through the world at a
// component of which a client does not receive all fields of others.
func (p *Protocol) checkOthersFields(c *component) {
	field := ""
	for _, f := range c.schema.Fields() {
		if field == "" && f.Audience != 0 {
			field = f.Name
		}
	}
	if field == "" {
		return
	}
	for _, s := range p.schedule.Systems() {
		if shared(s) && slices.Contains(s.OtherReads, c.id) && !slices.Contains(s.OtherWrites, c.id) {
			p.faultf("shared system %q reads %s of other entities, whose %s a client does not receive: put that field into another component, or make the system Server", s.Name, c.name, field)
		}
	}
}

// teamed tells whether teams decide who receives something of a component.
func (c *component) teamed() bool {
	for _, f := range c.schema.Fields() {
		if f.Audience&(ToAllies|ToEnemies) != 0 {
			return true
		}
	}
	return false
}

// SetTeam says which team a player is of, and with him whatever he owns; 0, as it
// is first, is none. It decides who is an ally and who an enemy, for audiences.
// What a player may see anew by it, or no more, changes with the next snapshot.
// False on a client and for a player who is not there.
func (f *Frame) SetTeam(player PlayerID, team uint8) bool {
	if f.server == nil {
		return false
	}
	p := f.server.player(player)
	if p == nil {
		return false
	}
	p.team = team
	if p.sender != nil {
		p.sender.SetTeam(team)
	}
	return true
}

// SetEntityTeam says which team an entity is of, whoever owns it, until told
// otherwise; without it an entity is of its owner's. False on a client and for an
// entity that is not there.
func (f *Frame) SetEntityTeam(e ecs.Entity, team uint8) bool {
	if f.server == nil || !f.World.Alive(e) {
		return false
	}
	s := f.server
	if s.entityTeams == nil {
		s.entityTeams = map[ecs.Entity]uint8{}
	}
	sweep(s.entityTeams, f.World)
	s.entityTeams[e] = team
	return true
}

// sweep forgets entities that are gone, once they are the greater part.
func sweep[V any](m map[ecs.Entity]V, w *ecs.World) {
	if len(m) <= 2*w.Len()+16 {
		return
	}
	for old := range m {
		if !w.Alive(old) {
			delete(m, old)
		}
	}
}

// SetAudience says whether a player is of an audience of the game's own, as seen
// from one entity, or for [ecs.None] from all. False on a client, and for a player
// or an entity that is not there.
func (f *Frame) SetAudience(player PlayerID, e ecs.Entity, a Audience, member bool) bool {
	if f.server == nil {
		return false
	}
	s := f.server
	p := s.player(player)
	if p == nil || e != ecs.None && s.p.identity.Find(f.World, e) == nil {
		return false
	}
	if p.members == nil {
		p.members = map[ecs.Entity]Audience{}
	}
	sweep(p.members, f.World)
	if m := p.members[e]; member {
		p.members[e] = m | a
	} else {
		p.members[e] = m &^ a
	}
	if p.sender != nil {
		p.sender.SetAudience(s.netOf(e), a, member)
	}
	return true
}

// netOf is an entity's network id, 0 for none.
func (s *Server) netOf(e ecs.Entity) snapshot.NetID {
	if id := s.p.identity.Find(s.world, e); id != nil {
		return snapshot.NetID(id.Net)
	}
	return 0
}

// reintroduce tells a new sender what the player is.
func (s *Server) reintroduce(p *player) {
	p.sender.SetTeam(p.team)
	for e, a := range p.members {
		if e == ecs.None || s.world.Alive(e) {
			p.sender.SetAudience(s.netOf(e), a, true)
		}
	}
}

// teamOf is an entity's team.
func (s *Server) teamOf(e ecs.Entity, owner PlayerID) uint8 {
	if len(s.entityTeams) > 0 {
		if t, ok := s.entityTeams[e]; ok {
			return t
		}
	}
	if p := s.player(owner); p != nil {
		return p.team
	}
	return 0
}
