package schema

import (
	"fmt"
	"strings"
)

// Document returns the protocol as Markdown for people to read: components with their
// fields, units and named values, prefabs, commands, messages, requests and events. Labels
// may be nil. It is not for comparing: see [Protocol.Describe].
func (s *Protocol) Document(labels Labels) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, version %d\n\n%d ticks a second. Protocol hash %016x.\n", s.Game, s.Version, s.TickRate, s.Hash())
	own := func(name string) bool { return !strings.HasPrefix(name, "foretick.") }
	b.WriteString("\n## Components\n")
	for i := range s.Registry.Components() {
		if c := s.Registry.Schema(i); own(c.Name()) {
			title := c.Name()
			if c.Predicted() {
				title += " (predicted)"
			}
			c.document(&b, title, labels, true)
		}
	}
	b.WriteString("\n## Prefabs\n\n")
	for i := range s.Registry.Prefabs() {
		if name := s.Registry.PrefabName(i); own(name) {
			var has []string
			for k := range s.Registry.Components() {
				if c := s.Registry.Schema(k).Name(); s.Registry.PrefabHas(i, k) && own(c) {
					has = append(has, c)
				}
			}
			fmt.Fprintf(&b, "- %s: %s\n", name, strings.Join(has, ", "))
		}
	}
	if s.Command != nil {
		b.WriteString("\n## Command\n")
		s.Command.document(&b, s.Command.Name(), labels, false)
	}
	if len(s.Messages) > 0 {
		b.WriteString("\n## Messages to players\n")
	}
	for _, m := range s.Messages {
		title := m.Schema.Name()
		if own := m.Channel - firstOwnChannel; own >= 0 && own < len(s.Channels) {
			title += " (channel " + s.Channels[own].Name + ")"
		}
		m.Schema.document(&b, title, labels, false)
	}
	if len(s.Requests) > 0 {
		b.WriteString("\n## Requests of players\n")
	}
	for _, r := range s.Requests {
		r.document(&b, r.Name(), labels, false)
	}
	list := func(title string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n- %s\n", title, strings.Join(names, "\n- "))
		}
	}
	list("Events", s.Events)
	list("Systems of both ends", s.Shared)
	return b.String()
}

// firstOwnChannel is the number of the first channel that a game declares.
const firstOwnChannel = 2

// document writes a type's fields as a table. Of a slice's elements the first stands for all.
func (s *Schema) document(b *strings.Builder, title string, labels Labels, audiences bool) {
	fmt.Fprintf(b, "\n### %s\n", title)
	head := "\n| field | type | values | unit | meaning |"
	if audiences {
		head += " sent to |"
	}
	rule := "\n" + strings.Repeat("|---", strings.Count(head, "|")-1) + "|\n"
	for _, f := range s.Fields() {
		if !firstElement(f.Name) {
			continue
		}
		b.WriteString(head)
		b.WriteString(rule)
		head, rule = "", ""
		l := labels.Of(s.Name(), f.Name)
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |", strings.ReplaceAll(f.Name, "[0]", "[]"), f.Type, cell(f.values(l)), cell(l.Unit), cell(l.Name))
		if audiences {
			fmt.Fprintf(b, " %s |", f.Audience)
		}
		b.WriteByte('\n')
	}
}

// firstElement reports whether a path names no element of a slice or array after the first.
func firstElement(path string) bool {
	for _, part := range strings.Split(path, "[")[1:] {
		if !strings.HasPrefix(part, "0]") {
			return false
		}
	}
	return true
}

// values says which values a field may have.
func (f *Field) values(l Label) string {
	switch {
	case l.Values != nil:
		return strings.Join(l.Values, ", ")
	case f.Text:
		return fmt.Sprintf("up to %d bytes", f.Most)
	case f.Slice:
		return fmt.Sprintf("up to %d elements", f.Most)
	case f.Min == 0 && f.Max == 0:
		return ""
	case f.Step != 0:
		return fmt.Sprintf("%.6g to %.6g by %.6g", f.Min, f.Max, f.Step)
	}
	return fmt.Sprintf("%.6g to %.6g", f.Min, f.Max)
}

// cell escapes a text for a table in Markdown.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// String names the classes: "owner and allies", "everyone".
func (a Audience) String() string {
	if a == 0 {
		return "everyone"
	}
	var names []string
	for i := range 8 {
		switch bit := Audience(1) << i; {
		case a&bit == 0:
		case bit == ToOwner:
			names = append(names, "owner")
		case bit == ToAllies:
			names = append(names, "allies")
		case bit == ToEnemies:
			names = append(names, "enemies")
		default:
			names = append(names, fmt.Sprintf("audience %d", i-2))
		}
	}
	return strings.Join(names, " and ")
}
