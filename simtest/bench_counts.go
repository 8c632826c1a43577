package simtest

import (
	"slices"
	"strings"

	"github.com/foretick/foretick/prediction"
)

// benchCounts adds up what the matches of [Bench] cost.
type benchCounts struct {
	seconds        float64 // of all players together
	ticks          float64
	down, up       float64 // bytes
	corrections    float64
	causes         [prediction.Causes]float64
	parts          []benchPart // of down
	server, client benchTimer

	serverAllocs, clientAllocs, allocTicks, clientSteps float64 // of the matches whose allocations count
}

// benchPart is the bytes of one component, or of what is none.
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

// freeUnit returns the unit for a component's bytes. Units have no spaces, which the names of
// generic types may have, and a component called down has another one than the sum.
func freeUnit(f []benchFigure, component string) string {
	name := strings.Join(strings.Fields(component), "_")
	for slices.ContainsFunc(f, func(x benchFigure) bool { return x.unit == name+"-B/s" }) {
		name = "component-" + name
	}
	return name + "-B/s"
}
