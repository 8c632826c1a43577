package simtest

import (
	"slices"
	"strings"

	"github.com/foretick/foretick/prediction"
)

// benchCounts adds up what the matches of [Bench] cost.
type benchCounts struct {
	seconds        float64 // measured seconds, summed over all players
	ticks          float64
	down, up       float64 // bytes sent to players, and received from them
	corrections    float64
	causes         [prediction.Causes]float64
	parts          []benchPart // the bytes of down, by component
	server, client benchTimer

	// Allocations in the first seed's match, with its server ticks and its client steps.
	serverAllocs, clientAllocs, allocTicks, clientSteps float64
}

// benchPart counts the bytes of one component. For bytes that belong to no component,
// component is empty and what names them.
type benchPart struct {
	component, what string
	bytes           float64
}

// figures returns the metrics, in the order of Bench's documentation.
func (s *benchCounts) figures() []benchFigure {
	minutes := s.seconds / 60
	f := []benchFigure{
		{"down-B/s", s.down / s.seconds},
		{"up-B/s", s.up / s.seconds},
		{"corrections/min", s.corrections / minutes},
	}
	for cause, n := range s.causes {
		f = append(f, benchFigure{prediction.Cause(cause).String() + "-corrections/min", n / minutes})
	}
	f = append(f,
		benchFigure{"server-allocs/tick", s.serverAllocs / s.allocTicks},
		benchFigure{"client-allocs/step", s.clientAllocs / s.clientSteps},
	)
	for _, p := range s.parts {
		name := p.component
		if name == "" {
			name = p.what
		}
		f = append(f, benchFigure{freeUnit(f, name), p.bytes / s.seconds})
	}
	return append(f,
		benchFigure{"noisy-server-ns/tick", float64(s.server.took) / s.ticks},
		benchFigure{"noisy-client-ns/step", float64(s.client.took) / s.client.calls},
	)
}

// freeUnit returns the unit for a component's bytes. It replaces spaces, which names of generic
// types may have. It adds a prefix if the unit is taken, as for a component called down.
func freeUnit(f []benchFigure, component string) string {
	name := strings.Join(strings.Fields(component), "_")
	for slices.ContainsFunc(f, func(x benchFigure) bool { return x.unit == name+"-B/s" }) {
		name = "component-" + name
	}
	return name + "-B/s"
}
