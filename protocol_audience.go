package foretick

import (
	"slices"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// Audience is a set of classes of players, as seen from an entity. It says who receives a
// component or a field. Fields name theirs with tags (owner, allies, enemies, to=NAME: see
// package schema), components with [For]. A player's packets hold no trace of
// the fields that it does not receive.
type Audience = schema.Audience

// The audiences that every game has.
const (
	// ToOwner is the entity's owner.
	ToOwner = schema.ToOwner
	// ToAllies are the players of the entity's team, and its owner. Team 0 is no team: an
	// entity without a team has no ally but its owner.
	ToAllies = schema.ToAllies
	// ToEnemies are the players of another team. Team 0 is no team: a player or an entity
	// without a team has no enemies.
	ToEnemies = schema.ToEnemies
)

// For sets the audience of those fields of a component that have no audience tag.
func For(a Audience) ComponentOption { return func(c *layout.Component) { c.Audience |= a } }

// Audience declares an audience of the game, such as the players who scanned a ship, for
// the tag to=NAME and for [For]. It has no members until [Frame.SetAudience] adds them.
// Declare audiences before the components that name them. There can be five: a sixth is an
// error of [Protocol.Err].
func (p *Protocol) Audience(name string) Audience {
	switch {
	case p.late("Audience") || !p.named("Audience", name):
	case slices.Contains(p.audiences, name):
		p.faultf("Audience %q is declared twice", name)
	case len(p.audiences) == schema.MaxAudiences:
		p.faultf("Audience %q is one too many: there can be %d", name, schema.MaxAudiences)
	default:
		p.audiences = append(p.audiences, name)
		return schema.GameAudience(len(p.audiences) - 1)
	}
	return 0
}

// checkAudiences refuses components that a client would have to predict without receiving
// them.
func (p *Protocol) checkAudiences() {
	for i := range p.compiled.Components {
		c := &p.compiled.Components[i]
		p.compiled.Teams = p.compiled.Teams || c.ByTeam()
		p.checkOthersFields(c)
		field := c.HiddenFromOwner()
		if field == "" {
			continue
		}
		if c.Predicted {
			p.faultf("component %s is predicted, but its owner does not receive %s: put that field into another component", c.Name, field)
		}
		for _, s := range p.compiled.schedule.Systems() {
			if layout.Shared(s) && slices.Contains(s.Reads, c.ID) {
				p.faultf("shared system %q reads %s, of which an owner does not receive %s: put that field into another component", s.Name, c.Name, field)
			}
		}
	}
}

// checkOthersFields refuses shared systems that read a component of other players of which
// a client does not receive all fields.
func (p *Protocol) checkOthersFields(c *layout.Component) {
	field := ""
	for _, f := range c.Schema.Fields() {
		if field == "" && f.Audience != 0 {
			field = f.Name
		}
	}
	if field == "" {
		return
	}
	for _, s := range p.compiled.schedule.Systems() {
		if layout.Shared(s) && slices.Contains(s.OtherReads, c.ID) && !slices.Contains(s.OtherWrites, c.ID) {
			p.faultf("shared system %q reads %s of other entities, whose %s a client does not receive: put that field into another component, or make the system Server", s.Name, c.Name, field)
		}
	}
}
