package foretick_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Graph describes the schedule of a game. The camera runs after the systems whose writes it reads.
// "move" and "wind" write the same component, so the order of their declarations decides.
func ExampleProtocol_Graph() {
	var g Walk
	p := g.Protocol()
	p.Server("wind", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
			pos[i].X += f.DT
		}
	}, ecs.Write(&g.Pos))
	p.Render("camera", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.Pos))
	text, _ := p.Graph() // the second result is for Graphviz: dot -Tsvg
	fmt.Print(text)
	// Output:
	// walk: 3 systems, 30 ticks a second
	// stage tick
	//   0 move read(Move) write(Position)
	//   1 wind write(Position) tags(server)
	//   2 camera read(Position) tags(render) render
	//   move before camera (Position)
	//   wind before camera (Position)
	//   move and wind both write Position: they run in the order of Add
}

func TestGraph(t *testing.T) {
	var g Walk
	p := g.Protocol()
	p.Server("wind", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Write(&g.Pos), ecs.Stage("late"))
	p.Stages("tick", "late")
	text, dot := p.Graph()
	require.NoError(t, p.Err())
	require.NotContains(t, text, "both write", "stages say which comes first")
	require.Contains(t, text, "\nstage late\n  1 wind ")
	require.True(t, strings.HasPrefix(dot, "digraph schedule {\n") && strings.HasSuffix(dot, "}\n"))
	require.Equal(t, 2, strings.Count(dot, "subgraph"), "stages without systems are left out:\n%s", dot)
	require.Contains(t, dot, `"move" [label="0 move\nread(Move)\nwrite(Position)"]`)

	p = foretick.NewProtocol("broken", 1)
	p.Server("a", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Once(), ecs.Before("b"))
	p.Server("b", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Once(), ecs.Before("a"))
	require.Error(t, p.Err())
	text, dot = p.Graph()
	require.Contains(t, text, "a before b (explicit)\n  b before a (explicit)\n", "a cycle can be seen")
	require.Contains(t, dot, `"b" -> "a"`)
}

// Reports name event handlers by the event's type, and number those of the same type.
func TestNamesOfEventHandlers(t *testing.T) {
	p := foretick.NewProtocol("events", 1)
	var shot, burst foretick.Event[hit]
	for range 2 {
		shot.OnServer(p, func(*foretick.ServerFrame, foretick.By, hit) {})
	}
	burst.OnServer(p, func(*foretick.ServerFrame, foretick.By, hit) {})
	require.NoError(t, p.Err())
	text, _ := p.Graph()
	for _, name := range []string{"event hit", "event hit 2"} {
		require.Equal(t, 1, strings.Count(text, " "+name+" tags("), text)
	}
}

// One system calls all OnServer handlers of an event, so its access is that of all of them together.
func TestHandlersOfOneEventShareTheirAccess(t *testing.T) {
	var g Walk
	p := g.Protocol()
	var shot foretick.Event[hit]
	shot.OnServer(p, func(*foretick.ServerFrame, foretick.By, hit) {})
	shot.OnServer(p, func(*foretick.ServerFrame, foretick.By, hit) {}, ecs.WriteOther(&g.Pos))
	require.NoError(t, p.Err())
	text, _ := p.Graph()
	require.Contains(t, text, "event hit writeother(Position) tags(server)")
}
