package ecs

import (
	"fmt"
	"strings"
)

// String prints the schedule, a system a line, in the order of running.
func (s *Schedule[C]) String() string {
	var b strings.Builder
	stage := ""
	for i, info := range s.Systems() {
		if info.Stage != stage {
			stage = info.Stage
			fmt.Fprintf(&b, "stage %s\n", stage)
		}
		fmt.Fprintf(&b, "  %d %s", i, info.Name)
		for _, p := range s.phrases(&info) {
			b.WriteString(" " + p)
		}
		b.WriteByte('\n')
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
	add("readother", i.OtherReads, comps)
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

// DOT prints the schedule as a graph for Graphviz: a cluster a stage, and an
// edge wherever one system must precede another.
func (s *Schedule[C]) DOT() string {
	var b strings.Builder
	b.WriteString("digraph schedule {\n\trankdir=LR;\n\tnode [shape=box];\n")
	for n, stage := range s.stages {
		var in []*system[C]
		fmt.Fprintf(&b, "\tsubgraph cluster_%d {\n\t\tlabel=%q;\n", n, stage)
		for i, sys := range s.systems {
			if sys.stage != stage {
				continue
			}
			info := sys.info()
			in = append(in, sys)
			fmt.Fprintf(&b, "\t\t%q [label=%q];\n", sys.name,
				fmt.Sprintf("%d %s\n%s", i, sys.name, strings.Join(s.phrases(&info), "\n")))
		}
		b.WriteString("\t}\n")
		edges, err := stageEdges(in, s.types, s.inOrder)
		if err != nil {
			continue // Build has reported it
		}
		for _, e := range edges {
			fmt.Fprintf(&b, "\t%q -> %q [label=%q];\n", in[e.from].name, in[e.to].name, e.why)
		}
	}
	b.WriteString("}\n")
	return b.String()
}
