package foretick

import (
	"reflect"

	"github.com/foretick/foretick/schema"
)

// Document returns the protocol as Markdown for people to read: components with their
// fields, ranges, units and named values, prefabs, the command, messages, requests and
// events. Struct tags besides net say how a field is shown: name:"ground speed", unit:"m/s"
// and, for an integer's values from 0, enum:"standing,walking,dead".
//
// Explanations of mispredictions, logs of lost values, [ecs.World.SetValue] and package
// observe use them too: see [schema.Label]. They are in no hash and change nothing that is
// sent of a field. A server sends them to tools that ask. Document ends the declaration, as
// Err does.
func (p *Protocol) Document() string {
	_ = p.Err()
	return p.compiled.parts().Document(p.compiled.labels)
}

// label notes how the fields of a type are shown.
func (p *Protocol) label(name string, t reflect.Type) {
	if p.compiled.labels == nil {
		p.compiled.labels = schema.Labels{}
	}
	if t.Kind() == reflect.Struct {
		p.fault(p.compiled.labels.Add(name, t))
	}
}

// labelled appends what is to be said of a field to a line of a log.
func (p *compiled) labelled(line []any, component, field string) []any {
	l := p.labels.Of(component, field)
	if l.Name != "" {
		line = append(line, "shown", l.Name)
	}
	if l.Unit != "" {
		line = append(line, "unit", l.Unit)
	}
	return line
}
