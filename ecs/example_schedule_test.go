package ecs_test

import (
	"fmt"
	"sync"

	"github.com/foretick/foretick/ecs"
)

// The same body runs for all players, or for one player at the cost of that
// player's rows.
func ExampleSchedule_ExecutePlayer() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	s.Add("move", g.move, ecs.Write(&g.place), ecs.Read(&g.speed))
	s.Add("count", func(_ *step, rows ecs.Rows) { fmt.Println("owner", rows.Owner(), "rows", rows.Len()) }, ecs.Read(&g.place))
	if err := s.Build(); err != nil {
		panic(err)
	}
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.SpawnBatch(&g.ball, 1, make([]ecs.Entity, 3))
	w.SpawnBatch(&g.ball, 2, make([]ecs.Entity, 5))
	s.ExecutePlayer(w, &step{dt: 0.5}, 2)
	// Output: owner 2 rows 5
}

// Tags say in which worlds a system runs. The order is the same in all.
func ExampleTags() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	say := func(what string) func(*step, ecs.Rows) {
		return func(*step, ecs.Rows) { fmt.Print(what, " ") }
	}
	s.Add("rules", say("rules"), ecs.Once(), ecs.Tags("server"))
	s.Add("move", say("move"), ecs.Once())
	s.Add("cheats", say("cheats"), ecs.Once(), ecs.Tags("client", "debug"))
	if err := s.Build(); err != nil {
		panic(err)
	}
	for _, tags := range [][]string{{"server"}, {"client"}, {"client", "debug"}} {
		s.Execute(ecs.NewWorld(g.types, ecs.WorldConfig{Tags: tags}), &step{})
		fmt.Println(tags)
	}
	// Output:
	// rules move [server]
	// move [client]
	// move cheats [client debug]
}

// everyTask runs each task on a new goroutine. A real game reuses goroutines.
type everyTask struct{}

func (everyTask) Run(n int, task func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { task(i) })
	}
	all.Wait()
}

// Systems that do not conflict run in parallel, with the same result as in
// sequence.
func ExampleSchedule_SetExecutor() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	s.Add("move", func(s *step, rows ecs.Rows) {
		for i, p := 0, g.place.Slice(rows); i < len(p); i++ {
			p[i].X += s.dt
		}
	}, ecs.Write(&g.place))
	s.Add("brake", func(s *step, rows ecs.Rows) {
		for i, v := 0, g.speed.Slice(rows); i < len(v); i++ {
			v[i].X -= s.dt
		}
	}, ecs.Write(&g.speed))
	if err := s.Build(); err != nil {
		panic(err)
	}
	s.SetExecutor(everyTask{})
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.ball, 1)
	s.Execute(w, &step{dt: 0.25}) // shared by both: bodies only read it
	fmt.Println(g.place.Get(w, e).X, g.speed.Get(w, e).X)
	// Output: 0.25 0.75
}

// DOT shows the stages and the order of their systems in Graphviz format.
func ExampleSchedule_DOT() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	s.Add("look", func(*step, ecs.Rows) {}, ecs.Read(&g.place))
	s.Add("move", g.move, ecs.Write(&g.place), ecs.Read(&g.speed))
	if err := s.Build(); err != nil {
		panic(err)
	}
	fmt.Print(s.DOT())
	// Output:
	// digraph schedule {
	// 	rankdir=LR;
	// 	node [shape=box];
	// 	subgraph cluster_0 {
	// 		label="tick";
	// 		"move" [label="0 move\nread(Speed)\nwrite(Place)"];
	// 		"look" [label="1 look\nread(Place)"];
	// 	}
	// 	"move" -> "look" [label="Place"];
	// }
}
