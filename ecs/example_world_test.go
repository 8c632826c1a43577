package ecs_test

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick/ecs"
)

// A prefab is a set of components with defaults, from which entities are
// spawned.
func ExampleWorld_Spawn() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.ball, 1)
	fmt.Println(e, w.Owner(e), *g.speed.Get(w, e))
	w.Destroy(e)
	again := w.Spawn(&g.ball, 1) // in the same slot, but another entity
	fmt.Println(again, w.Alive(e), w.Alive(again), g.speed.Find(w, e))
	// Output:
	// 0.1 1 {1 0}
	// 0.2 false true <nil>
}

func ExampleWorld_SpawnBatch() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := make([]ecs.Entity, 100)
	place := g.place.Slice(w.SpawnBatch(&g.ball, ecs.Nobody, es))
	for i := range place {
		place[i].X = float32(i)
	}
	fmt.Println(w.Len(), g.place.Get(w, es[42]).X)
	fmt.Println(w.DestroyBatch(es[:90]), w.Len())
	// Output:
	// 100 42
	// 90 10
}

// An owner's entities are found, transferred and released without touching the
// rows of others.
func ExampleWorld_Transfer() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	balls := ecs.NewQuery(g.types, ecs.With(&g.place))
	ball := w.Spawn(&g.ball, 1)
	w.Spawn(&g.ball, 1)
	if err := w.Transfer(ball, 2); err != nil { // only if the entity is gone
		panic(err)
	}
	ecs.Engine(w).ReleaseOwner(1)
	fmt.Println(w.Len(), w.Owner(ball), len(balls.Owned(w, 1)), balls.Owned(w, 2)[0].Len())
	// Output: 1 2 0 1
}

func ExampleSingleton() {
	g := newArena()
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	h := ecs.Engine(w).NewHistory(1)
	*g.round.Get(w) = 3
	h.Save(0)
	*g.round.Get(w)++
	h.Restore(0) // saved with the world
	fmt.Println(*g.round.Get(w))
	// Output: 3
}

// A View is for systems that look up many entities, for example to follow
// references.
func ExampleComponent_View() {
	type target struct{ At ecs.Entity }
	types := ecs.NewTypes()
	var place ecs.Component[Place]
	var aim ecs.Component[target]
	var crate, gun ecs.Prefab
	for _, err := range []error{
		types.Register(&place), types.Register(&aim),
		types.RegisterPrefab(&crate, "crate", &place), types.RegisterPrefab(&gun, "gun", &aim),
	} {
		if err != nil {
			panic(err)
		}
	}
	s := ecs.NewSchedule[*ecs.World](types)
	s.Add("pull", func(w *ecs.World, rows ecs.Rows) {
		places := place.View(w)
		for _, a := range aim.Slice(rows) {
			if p := places.Find(a.At); p != nil { // it may be gone
				p.X--
			}
		}
	}, ecs.Read(&aim), ecs.WriteOther(&place))
	if err := s.Build(); err != nil {
		panic(err)
	}
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	box := w.Spawn(&crate, ecs.Nobody)
	for range 3 {
		aim.Get(w, w.Spawn(&gun, 1)).At = box
	}
	s.Execute(w, w)
	fmt.Println(place.Get(w, box).X)
	// Output: -3
}

// A component with pointers needs its own copy function; otherwise a save would
// share the memory behind them.
func ExampleCopier() {
	type bag struct{ Items []int }
	types := ecs.NewTypes()
	var bags ecs.Component[bag]
	var player ecs.Prefab
	fmt.Println(types.Register(&bags))
	for _, err := range []error{
		types.Register(&bags, ecs.Copier(func(dst, src *bag) { dst.Items = append(dst.Items[:0], src.Items...) })),
		types.RegisterPrefab(&player, "player", &bags),
	} {
		if err != nil {
			panic(err)
		}
	}
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&player, 1)
	bags.Get(w, e).Items = []int{1, 2}
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	bags.Get(w, e).Items[0] = 7
	h.Restore(0)
	fmt.Println(bags.Get(w, e).Items)
	// Output:
	// ecs: register ecs_test.bag: field bag.Items holds a pointer: keep it out of the component, or supply ecs.Copier
	// [1 2]
}

// Two worlds with the same contents have the same hash, whatever their handles
// and the order of their rows.
func ExampleWorld_Hash() {
	g := newArena()
	byPlace := func(r ecs.Rows, i int) uint64 { return uint64(g.place.Slice(r)[i].X) } // a network id, in a game
	filled := func(xs ...float32) *ecs.World {
		w := ecs.NewWorld(g.types, ecs.WorldConfig{})
		for _, x := range xs {
			g.place.Get(w, w.Spawn(&g.ball, 1)).X = x
		}
		return w
	}
	a, b := filled(1, 2, 3), filled(3, 1, 2)
	fmt.Println(a.Hash(byPlace) == b.Hash(byPlace), a.Hash(nil) == b.Hash(nil))
	*g.round.Get(b) = 1
	fmt.Println(a.Hash(byPlace) == b.Hash(byPlace), a.Hash(byPlace, g.place.ID()) == b.Hash(byPlace, g.place.ID()))
	// Output:
	// true false
	// false true
}

// Info returns what editors and inspectors need to know about a type at run
// time.
func ExampleTypes_Info() {
	g := newArena()
	for id := range ecs.ID(g.types.Len()) {
		info := g.types.Info(id)
		fmt.Println(info.Name, info.Size, "bytes")
		for _, f := range info.Fields {
			fmt.Println(" ", f.Path, f.Type, f.Offset)
		}
	}
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.ball, 1)
	fmt.Println(ecs.Engine(w).Mask(e).Has(g.speed.ID()), slices.Equal(ecs.Engine(w).Mask(e).IDs(), g.ball.Components()))
	// Output:
	// Place 8 bytes
	//   Place.X float32 0
	//   Place.Y float32 4
	// Speed 8 bytes
	//   Speed.X float32 0
	//   Speed.Y float32 4
	// true true
}

// The end of a round removes all balls, whoever owns them.
func ExampleWorld_DestroyAll() {
	g := newArena()
	balls := ecs.NewQuery(g.types, ecs.With(&g.speed))
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.Spawn(&g.ball, 1)
	w.Spawn(&g.ball, 2)
	stone := w.Spawn(&g.ball, 2)
	g.speed.Remove(w, stone)
	w.DestroyAll(balls)
	fmt.Println(w.Len(), w.Alive(stone))
	// Output: 1 true
}
