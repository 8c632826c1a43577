package ecs

import (
	"fmt"
	"slices"
	"strings"
)

// String returns the schedule as text. For each stage it lists the systems in running
// order with their declarations, and the constraints between them with the reasons.
// It also lists the pairs that touch the same component but are ordered only by Add.
func (s *Schedule[C]) String() string {
	var b strings.Builder
	at := 0
	for _, stage := range s.stages {
		in, edges, ties := s.inStage(stage)
		if len(in) == 0 {
			continue
		}
		fmt.Fprintf(&b, "stage %s\n", stage)
		for _, sys := range in {
			info := sys.info()
			fmt.Fprintf(&b, "  %d %s", at, sys.name)
			for _, p := range s.phrases(&info) {
				b.WriteString(" " + p)
			}
			b.WriteByte('\n')
			at++
		}
		for _, e := range edges {
			fmt.Fprintf(&b, "  %s before %s (%s)\n", in[e.from].name, in[e.to].name, e.why)
		}
		for _, t := range ties {
			fmt.Fprintf(&b, "  %s\n", t.line(in[t.first].name, in[t.second].name))
		}
	}
	return b.String()
}

func (s *Schedule[C]) phrases(i *SystemInfo) []string {
	var out []string
	add := func(word string, ids []ID, of []*typeData) {
		if len(ids) == 0 {
			return
		}
		names := make([]string, len(ids))
		for k, id := range ids {
			names[k] = of[id].name
		}
		out = append(out, word+"("+strings.Join(names, ", ")+")")
	}
	comps := s.types.slots[1:]
	add("read", i.Reads, comps)
	add("write", i.Writes, comps)
	add("create", i.Creates, comps)
	own := func(id ID) bool { return slices.Contains(i.OwnReads, id) }
	add("readother", slices.DeleteFunc(slices.Clone(i.OtherReads), own), comps)
	add("readown", i.OwnReads, comps)
	add("writeother", i.OtherWrites, comps)
	add("without", i.Without.IDs(), comps)
	add("readsingle", i.SingleReads, s.types.singles)
	add("writesingle", i.SingleWrites, s.types.singles)
	if len(i.Tags) > 0 {
		out = append(out, "tags("+strings.Join(i.Tags, ", ")+")")
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{i.Render, "render"}, {i.Once, "once"}, {i.Structural, "structural"}} {
		if flag.on {
			out = append(out, flag.name)
		}
	}
	return out
}

// DOT returns the schedule as a graph for Graphviz: one cluster per stage, and an
// arrow from each system to those that must run after it. A dashed line connects
// two systems that touch the same component but are ordered only by Add.
func (s *Schedule[C]) DOT() string {
	var b strings.Builder
	b.WriteString("digraph schedule {\n\trankdir=LR;\n\tnode [shape=box];\n")
	at := 0
	for n, stage := range s.stages {
		in, edges, ties := s.inStage(stage)
		if len(in) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\tsubgraph cluster_%d {\n\t\tlabel=%q;\n", n, stage)
		for _, sys := range in {
			info := sys.info()
			fmt.Fprintf(&b, "\t\t%q [label=%q];\n", sys.name,
				fmt.Sprintf("%d %s\n%s", at, sys.name, strings.Join(s.phrases(&info), "\n")))
			at++
		}
		b.WriteString("\t}\n")
		for _, e := range edges {
			fmt.Fprintf(&b, "\t%q -> %q [label=%q];\n", in[e.from].name, in[e.to].name, e.why)
		}
		for _, t := range ties {
			fmt.Fprintf(&b, "\t%q -> %q [label=%q, style=dashed, dir=none];\n", in[t.first].name, in[t.second].name, t.what)
		}
	}
	b.WriteString("}\n")
	return b.String()
}
