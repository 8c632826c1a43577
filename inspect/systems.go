package inspect

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/stats"
)

// System is a system of the protocol.
type System struct {
	Name    string   `json:"name"`
	Stage   string   `json:"stage"`
	Runs    string   `json:"runs"` // shared, server, client, or the game's own tags
	Reads   []string `json:"reads"`
	Writes  []string `json:"writes"`
	Creates []string `json:"creates,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Last    float32  `json:"last_ms"` // time in the newest tick; 0 on a client
	Mean    float32  `json:"mean_ms"` // mean over the ticks that the system ran in; 0 on a client
	Max     float32  `json:"max_ms"`  // longest time in a tick; 0 on a client
	Count   uint64   `json:"count"`   // ticks that the system ran in; 0 on a client
}

// Systems lists the systems of an end in running order, with a server's times.
func (in *Inspector) Systems(name string) ([]System, error) {
	e, err := in.findEnd(name)
	if err != nil {
		return nil, err
	}
	types := e.internals.Layout().Types
	var out []System
	for _, s := range e.internals.Systems() {
		out = append(out, describe(types, &s))
	}
	if x, ok := e.collect.(*serverEnd); ok {
		var now stats.Server
		x.s.Figures(&now)
		for _, t := range now.Systems {
			if i := slices.IndexFunc(out, func(s System) bool { return s.Name == t.Name }); i >= 0 {
				out[i].Last, out[i].Max, out[i].Count = ms(t.Last), ms(t.Max), t.Runs
				out[i].Mean = ms(t.Total) / float32(max(t.Runs, 1))
			}
		}
	}
	return out, nil
}

func describe(types *ecs.Types, s *ecs.SystemInfo) System {
	out := System{Name: s.Name, Stage: s.Stage, Runs: "shared"}
	if len(s.Tags) > 0 {
		out.Runs = ""
		for i, tag := range s.Tags {
			if i > 0 {
				out.Runs += ", "
			}
			out.Runs += tag
		}
	}
	names := func(ids []ecs.ID, suffix string) (all []string) {
		for _, id := range ids {
			if int(id) < types.Len() {
				all = append(all, types.Info(id).Name+suffix)
			}
		}
		return all
	}
	single := func(ids []ecs.ID) (all []string) {
		for _, info := range types.Singletons() {
			if slices.Contains(ids, info.ID) {
				all = append(all, info.Name)
			}
		}
		return all
	}
	out.Reads = slices.Concat(names(s.Reads, ""), names(s.OtherReads, " (of others)"), single(s.SingleReads))
	out.Writes = slices.Concat(names(s.Writes, ""), names(s.OtherWrites, " (of others)"), single(s.SingleWrites))
	out.Creates = names(s.Creates, "")
	for _, note := range []struct {
		is   bool
		text string
	}{{s.Render, "render"}, {s.Once, "once a tick"}, {s.Structural, "structural"}, {s.Partial, "partial ticks"}} {
		if note.is {
			out.Notes = append(out.Notes, note.text)
		}
	}
	return out
}

// Graph returns the schedule of an end's systems as text, and as a graph for Graphviz's dot.
func (in *Inspector) Graph(name string) (text, dot string, err error) {
	e, err := in.findEnd(name)
	if err != nil {
		return "", "", err
	}
	text, dot = e.internals.Graph()
	return text, dot, nil
}
