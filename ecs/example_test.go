package ecs_test

import (
	"fmt"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// Place and Speed are the components of the examples.
type Place struct{ X, Y float32 }

type Speed struct{ X, Y float32 }

// arena is the game of the examples: its handles, registered in newArena.
type arena struct {
	types *ecs.Types
	place ecs.Component[Place]
	speed ecs.Component[Speed]
	round ecs.Singleton[int32]
	ball  ecs.Prefab
}

func newArena() *arena {
	g := &arena{types: ecs.NewTypes()}
	for _, err := range []error{
		g.types.Register(&g.place),
		g.types.Register(&g.speed),
		g.types.RegisterSingleton(&g.round, ecs.Named("round")),
		g.types.RegisterPrefab(&g.ball, "ball", &g.place, &g.speed),
		ecs.SetDefault(g.types, &g.ball, &g.speed, Speed{X: 1}),
	} {
		if err != nil {
			panic(err)
		}
	}
	return g
}

type step struct{ dt float32 }

func (g *arena) move(s *step, rows ecs.Rows) {
	place, speed := g.place.Slice(rows), g.speed.Slice(rows)
	for i := range place {
		place[i].X += speed[i].X * s.dt
		place[i].Y += speed[i].Y * s.dt
	}
}

func Example() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	s.Add("move", g.move, ecs.Write(&g.place), ecs.Read(&g.speed))
	if err := s.Build(); err != nil {
		panic(err)
	}
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	ann, bob := w.Spawn(&g.ball, 1), w.Spawn(&g.ball, 2)
	s.Execute(w, &step{dt: 0.5})          // the server: all players
	s.ExecutePlayer(w, &step{dt: 0.5}, 1) // a client: its own player, ahead
	fmt.Println(g.place.Get(w, ann).X, g.place.Get(w, bob).X)
	// Output: 1 0.5
}

func ExampleSchedule_ExecuteParts() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	s.Add("move", g.move, ecs.Write(&g.place), ecs.Read(&g.speed))
	if err := s.Build(); err != nil {
		panic(err)
	}
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	ann, bob, crate := w.Spawn(&g.ball, 1), w.Spawn(&g.ball, 2), w.Spawn(&g.ball, ecs.Common)
	s.ExecuteParts(w, &step{dt: 0.5}, 1, ecs.Common) // Ann's client: her rows and the shared physics objects
	fmt.Println(g.place.Get(w, ann).X, g.place.Get(w, bob).X, g.place.Get(w, crate).X)
	// Output: 0.5 0 0.5
}

// A system that writes a component of the rows that have it, and runs on the others too.
func ExampleOptionalWrite() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	s.Add("wrap", func(_ *step, rows ecs.Rows) {
		place := g.place.Slice(rows)
		for i := range place {
			if place[i].X < 8 {
				continue
			}
			place[i].X -= 8
			if rows.Has(g.speed.ID()) {
				g.speed.Slice(rows)[i].X /= 2
			}
		}
	}, ecs.Write(&g.place), ecs.OptionalWrite(&g.speed))
	if err := s.Build(); err != nil {
		panic(err)
	}
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	ball, stone := w.Spawn(&g.ball, 1), w.Spawn(&g.ball, 1)
	g.speed.Remove(w, stone)
	g.place.Get(w, ball).X, g.place.Get(w, stone).X = 9, 10
	s.Execute(w, &step{})
	fmt.Println(g.place.Get(w, ball).X, g.speed.Get(w, ball).X, g.place.Get(w, stone).X)
	// Output: 1 0.5 2
}

func ExampleHistory() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	mine, theirs := w.Spawn(&g.ball, 1), w.Spawn(&g.ball, 2)
	h := ecs.Engine(w).NewOwnerHistory(1, 32)

	h.Save(7 % 32) // at tick 7
	g.place.Get(w, mine).X = 9
	g.place.Get(w, theirs).X = 9
	w.Destroy(mine)
	w.Spawn(&g.ball, 1)

	h.Restore(7 % 32) // the prediction was wrong: back to tick 7, for this player only
	fmt.Println(w.Len(), g.place.Get(w, mine).X, g.place.Get(w, theirs).X)
	// Output: 2 0 9
}

func ExampleHistory_Diff() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	a, b := w.Spawn(&g.ball, 1), w.Spawn(&g.ball, 1)
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	g.place.Get(w, b).X = 3
	h.Diff(0, g.place.ID(), func(r ecs.Rows, i int, was unsafe.Pointer) {
		fmt.Println(r.Entity(i) == b, g.place.Slice(r)[i].X, (*Place)(was).X)
	})
	fmt.Println(w.Alive(a))
	// Output:
	// true 3 0
	// true
}

func ExampleQuery() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.Spawn(&g.ball, 2)
	w.Spawn(&g.ball, 1)
	g.speed.Remove(w, w.Spawn(&g.ball, 1))
	still := ecs.NewQuery(g.types, ecs.With(&g.place), ecs.Without(&g.speed))
	balls := ecs.NewQuery(g.types, ecs.With(&g.place))
	for _, r := range balls.All(w) {
		fmt.Println("owner", r.Owner(), "rows", r.Len(), "moving", r.Has(g.speed.ID()))
	}
	fmt.Println(still.Count(w))
	// Output:
	// owner 1 rows 1 moving false
	// owner 1 rows 1 moving true
	// owner 2 rows 1 moving true
	// 1
}

func ExampleWatch() {
	g := newArena()
	moving := ecs.NewWatch(g.types, ecs.With(&g.speed))
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.ball, 1)
	entered, left := moving.Poll(w)
	fmt.Println(entered, left)
	g.speed.Remove(w, e)
	entered, left = moving.Poll(w)
	fmt.Println(entered, left)
	// Output:
	// [0.1] []
	// [] [0.1]
}

func ExampleWorld_SetParent() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	tank, turret := w.Spawn(&g.ball, 1), w.Spawn(&g.ball, 1)
	if err := w.SetParent(turret, tank); err != nil {
		panic(err)
	}
	fmt.Println(w.Children(tank), w.SetParent(tank, turret))
	w.Destroy(tank)
	fmt.Println(w.Alive(turret))
	// Output:
	// [1.1] set parent of 0.1 to 1.1: ecs: parent is a descendant
	// false
}

func ExampleSchedule_Build() {
	g := newArena()
	s := ecs.NewSchedule[*step](g.types)
	nop := func(*step, ecs.Rows) {}
	s.Stages("simulate", "present")
	s.Add("draw", nop, ecs.Stage("present"), ecs.Render(), ecs.Read(&g.place))
	s.Add("collide", nop, ecs.Read(&g.place))
	s.Add("move", nop, ecs.Write(&g.place), ecs.Read(&g.speed))
	s.Add("serve", nop, ecs.Create(&g.place, &g.speed), ecs.Tags("server"), ecs.Once())
	fmt.Println(s.Build())
	fmt.Print(s)
	// Output:
	// <nil>
	// stage simulate
	//   0 serve create(Place, Speed) tags(server) once structural
	//   1 move read(Speed) write(Place)
	//   2 collide read(Place)
	//   serve before move (Place, Speed)
	//   serve before collide (Place)
	//   move before collide (Place)
	// stage present
	//   3 draw read(Place) render
}

func ExampleWorld_SetValue() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.ball, 1)
	fmt.Println(w.SetValue(e, "Speed.Y", 2.5))
	fmt.Println(w.Value(e, "Speed.Y"))
	fmt.Println(w.SetValue(e, "Speed.Z", 1))
	// Output:
	// <nil>
	// 2.5 <nil>
	// ecs: no field "Speed.Z": Speed has Speed.X, Speed.Y
}

func ExampleControl_Lock() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.Spawn(&g.ball, 1)
	q := ecs.NewQuery(g.types, ecs.With(&g.place))
	ecs.Engine(w).Lock() // rows keep their place while the loop splits every ball
	for _, r := range q.All(w) {
		for i := range r.Len() {
			w.Spawn(&g.ball, r.Owner())
			w.Destroy(r.Entity(i))
			w.Spawn(&g.ball, r.Owner())
		}
	}
	ecs.Engine(w).Unlock()
	fmt.Println(q.Count(w))
	// Output: 2
}
