package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

func BenchmarkZZ(b *testing.B) {
	g := newGame(b)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	spread(w, &g.mover, 64*16, 64)
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("body", func(_ *frame, r ecs.Rows) { burn20(g.pos.Slice(r), g.vel.Slice(r)) }, ecs.Write(&g.pos), ecs.Read(&g.vel))
	require.NoError(b, s.Build())
	pos, vel, f := make([]Position, 1024), make([]Velocity, 1024), &frame{w: w}
	r := ratio(b, 1<<20, subject{run: func(n int) {
		for range n {
			burn20(pos, vel)
		}
	}}, subject{run: func(n int) {
		for range n {
			for i := 0; i < 1024; i += 16 {
				burn20(pos[i:i+16], vel[i:i+16])
			}
		}
	}}, subject{run: func(n int) {
		for range n {
			s.Execute(w, f)
		}
	}})
	b.ReportMetric(r[0], "chunked")
	b.ReportMetric(r[1], "world")
}
