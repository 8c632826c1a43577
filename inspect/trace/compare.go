package trace

import (
	"slices"

	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/schema"
)

// comparison builds the table of one tick.
type comparison struct {
	l              *trace.Layout
	client, server *trace.Replay // records of both ends; nil: that end recorded nothing
	table          Table
	names          []uint32       // all entities seen so far
	before         [2]image       // both ends at the step before
	differed       map[place]bool // whether a place differed at the step before
}

// image is the state of one end at a step: its entities by their names on the connection.
type image map[uint32]*trace.Entity

// place is a field of an entity. The component −1 is the entity itself, and the field −1 the
// component itself.
type place struct {
	entity           uint32
	component, field int
}

// compare compares the records of a tick; one of them may be nil.
func compare(l *trace.Layout, client, server *trace.Replay) Table {
	c := comparison{l: l, client: client, server: server, differed: map[place]bool{}}
	for _, r := range []*trace.Replay{client, server} {
		if r != nil {
			c.table.Tick = r.Tick
			c.table.Partial = c.table.Partial || r.More || r.Cut
		}
	}
	c.table.Client, c.table.Server = client != nil, server != nil
	c.addStep(trace.Start(), BeforeSystems)
	for i, sys := range l.Systems {
		c.addStep(trace.Before(i), ServerAlone)
		c.addStep(trace.After(i), sys.Name)
		c.findFirst(len(c.table.Rows)-1, i)
	}
	c.addStep(l.End(), ServerAlone)
	return c.table
}

// addStep adds the row of a step.
func (c *comparison) addStep(step int, system string) {
	now := [2]image{c.reach(c.client, step), c.reach(c.server, step)}
	row := Row{System: system}
	for _, name := range c.names {
		c.addEntity(&row, name, now)
	}
	c.before = now
	if step == trace.Start() {
		c.begun(&row)
	}
	if len(row.Values) > 0 || system != ServerAlone && system != BeforeSystems {
		c.table.Rows = append(c.table.Rows, row)
		if system == ServerAlone {
			c.findFirst(len(c.table.Rows)-1, -1)
		}
	}
}

// begun sets Command and Inherited of the table if values differ already when the tick begins.
func (c *comparison) begun(row *Row) {
	for i := range row.Values {
		v := &row.Values[i]
		if !v.Differs {
			continue
		}
		if at := slices.IndexFunc(c.l.Components, func(x trace.Component) bool { return x.Name == v.Component }); at >= 0 && c.l.Components[at].Command {
			c.table.Command = true
		} else {
			c.table.Inherited = true
		}
	}
}

// reach returns copies of an end's entities at a step.
func (c *comparison) reach(r *trace.Replay, step int) image {
	if r == nil {
		return nil
	}
	r.Reach(step)
	out := image{}
	for i := range r.Present {
		e := r.Present[i]
		if !slices.Contains(c.names, e.Name) {
			c.names = append(c.names, e.Name)
		}
		if !e.Here {
			continue
		}
		e.Words = slices.Clone(e.Words)
		for k, words := range e.Words {
			e.Words[k] = slices.Clone(words)
		}
		out[e.Name] = &e
	}
	return out
}

// addEntity adds the values of an entity that changed or differ.
func (c *comparison) addEntity(row *Row, name uint32, now [2]image) {
	ends := [4]*trace.Entity{c.before[0][name], c.before[1][name], now[0][name], now[1][name]}
	var any *trace.Entity
	for _, e := range ends {
		if e != nil {
			any = e
		}
	}
	if any == nil {
		return
	}
	prefab := c.l.Prefabs[any.Prefab]
	v := Value{Entity: name, Prefab: prefab, Component: prefab, Field: WholeEntity}
	both := c.client != nil && c.server != nil
	here := func(e *trace.Entity) bool { return e != nil }
	differs := both && here(ends[2]) != here(ends[3]) && !c.table.Partial
	if c.noteDiffers(&v, place{name, -1, -1}, differs) || c.worthLine(here(ends[0]) != here(ends[2]) && c.client != nil, here(ends[1]) != here(ends[3]) && c.server != nil, row) {
		v.Before, v.After = c.pair(here(ends[0]), here(ends[1])), c.pair(here(ends[2]), here(ends[3]))
		row.addValue(v)
	}
	if both && here(ends[2]) != here(ends[3]) {
		return // only one end has values, so there is nothing to compare
	}
	for i := range c.l.Components {
		if c.l.Components[i].Schema != nil {
			c.addComponent(row, v, i, ends, both)
		}
	}
}

// worthLine reports whether to list that an entity appeared or went on an end. At the beginning
// of a tick it is not listed.
func (c *comparison) worthLine(client, server bool, row *Row) bool {
	return row.System != BeforeSystems && (client || server)
}

func (c *comparison) pair(client, server any) (p Pair) {
	if c.client != nil {
		p.Client = client
	}
	if c.server != nil {
		p.Server = server
	}
	return p
}

// addComponent adds the fields of a component that changed or differ.
func (c *comparison) addComponent(row *Row, v Value, i int, ends [4]*trace.Entity, both bool) {
	comp := &c.l.Components[i]
	var words [4][]int32
	audience := schema.Audience(0)
	for k, e := range ends {
		if e != nil {
			words[k] = e.Words[i]
		}
	}
	for k, e := range ends { // the server's audience is taken if the server recorded the tick
		if e != nil && (k%2 == 1 || c.server == nil) {
			audience = e.Audience
		}
	}
	v.Component = comp.Name
	if both && ends[2] != nil && (words[2] == nil) != (words[3] == nil) {
		v.Field = WholeComponent
		if c.noteDiffers(&v, place{v.Entity, i, -1}, true) {
			v.Before, v.After = c.pair(words[0] != nil, words[1] != nil), c.pair(words[2] != nil, words[3] != nil)
			row.addValue(v)
		}
		return
	}
	for f := range comp.Schema.NumFields() {
		field := comp.Schema.Field(f)
		if !comp.Command && field.Audience != 0 && field.Audience&audience == 0 {
			continue
		}
		differs := both && words[2] != nil && words[3] != nil && comp.Schema.Differs(f, words[2], words[3])
		changed := differ(comp, f, words[0], words[2]) || differ(comp, f, words[1], words[3])
		v := v
		if !c.noteDiffers(&v, place{v.Entity, i, f}, differs) && !changed {
			continue
		}
		v.Field = field.Name
		if comp.Label != nil {
			l := comp.Label(field.Name)
			v.Label, v.Unit = l.Name, l.Unit
		}
		v.Before, v.After = Pair{value(comp, f, words[0]), value(comp, f, words[1])}, Pair{value(comp, f, words[2]), value(comp, f, words[3])}
		row.addValue(v)
	}
}

// noteDiffers sets Differs of a value, and Arose if the value did not differ at the step before. It
// returns differs.
func (c *comparison) noteDiffers(v *Value, at place, differs bool) bool {
	v.Differs, v.Arose = differs, differs && !c.differed[at]
	c.differed[at] = differs
	return differs
}

func (r *Row) addValue(v Value) {
	r.Values = append(r.Values, v)
	r.Differs, r.Arose = r.Differs || v.Differs, r.Arose || v.Arose
}

// findFirst sets the table's first finding, if a value first differs in this row. system is −1 for a
// row of ServerAlone.
func (c *comparison) findFirst(row, system int) {
	t := &c.table
	if t.First != nil || t.Inherited || t.Command || !t.Rows[row].Arose {
		return
	}
	for _, v := range t.Rows[row].Values {
		if !v.Arose {
			continue
		}
		t.First = &Finding{Tick: t.Tick, System: t.Rows[row].System, Value: v}
		switch {
		case system < 0:
			t.First.Excuse = TheServer
		case c.l.Systems[system].Others:
			t.First.Excuse = Others
		}
		return
	}
}

// differ reports whether a field differs between two states of one end.
func differ(comp *trace.Component, f int, a, b []int32) bool {
	if a == nil || b == nil {
		return (a == nil) != (b == nil)
	}
	field := comp.Schema.Field(f)
	return !slices.Equal(a[field.Word:field.Word+field.Words], b[field.Word:field.Word+field.Words])
}

// value returns a field's value, nil if the end does not have the component.
func value(comp *trace.Component, f int, words []int32) any {
	if words == nil {
		return nil
	}
	return comp.Schema.Value(f, words, schema.GridSim)
}
