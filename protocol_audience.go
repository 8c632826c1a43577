package foretick

import (
	"slices"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// For sets the audience of those fields of a component that have no audience tag, for
// example [schema.ToOwner]. A player's packets hold no trace of the fields that it does not
// receive.
func For(a schema.Audience) ComponentOption { return func(c *layout.Component) { c.Audience |= a } }

// Audience declares an audience of the game, such as the players who scanned a ship, for
// the tag to=NAME and for [For]. It has no members until [Frame.SetAudience] adds them.
// Declare audiences before the components that name them. There can be five: a sixth is an
// error of [Protocol.Err].
func (p *Protocol) Audience(name string) schema.Audience {
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
		if !layout.Shared(s) || !slices.Contains(s.OtherReads, c.ID) || slices.Contains(s.OtherWrites, c.ID) {
			continue
		}
		hidden := c.HiddenFromOwner()
		switch own := slices.Contains(s.OwnReads, c.ID); {
		case own && hidden != "":
			p.faultf("shared system %q reads %s, of which an owner does not receive %s: put that field into another component", s.Name, c.Name, hidden)
		case !own && hidden == "":
			p.faultf("shared system %q reads %s of other entities, whose %s a client does not receive: declare it with ecs.ReadOwn if they are the same player's, such as the holder of a thing; else put that field into another component, or make the system Server", s.Name, c.Name, field)
		case !own:
			p.faultf("shared system %q reads %s of other entities, whose %s a client does not receive: put that field into another component, or make the system Server", s.Name, c.Name, field)
		}
	}
}
