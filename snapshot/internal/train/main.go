// Command train learns the built-in tables from the scenes of this module, those
// of examples/cubes among them, and
// writes them: run `go generate` in package snapshot. Learning starts from
// the tables that are built in, and forgets them where it sees enough.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"os/exec"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/snapshot/internal/scene"
)

func main() {
	log.SetFlags(0)
	var st snapshot.Statistics
	for seed := range uint64(6) {
		for _, step := range []func(*scene.Scene, float64){(*scene.Scene).Wander, (*scene.Scene).OneAxis, (*scene.Scene).Fight} {
			for lag := 1; lag < 9; lag++ {
				play(&st, seed+100, step, lag, 1.0/[]float64{20, 30, 60}[seed%3], 1+int(seed)*200)
			}
		}
	}
	for seed := range uint64(4) {
		for _, lag := range []int{2, 4, 6, 6, 8} {
			tumble(&st, seed+101, lag)
		}
	}
	if err := os.WriteFile(os.Args[1], st.Tables(), 0o644); err != nil {
		log.Fatal("train: ", err)
	}
}

// play sends a scene to a few viewers, with some loss and, now and then, no room.
func play(st *snapshot.Statistics, seed uint64, step func(*scene.Scene, float64), lag int, dt float64, room int) {
	reg := schema.NewRegistry()
	for _, t := range []reflect.Type{reflect.TypeFor[scene.Body](), reflect.TypeFor[scene.Player](), reflect.TypeFor[scene.Health](), reflect.TypeFor[scene.Ammo]()} {
		s, err := schema.Compile(t, schema.Options{Predicted: true})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := reg.Component(s); err != nil {
			log.Fatal(err)
		}
	}
	for name, comps := range [][]int{{0}, {1, 2, 3}} {
		if _, err := reg.Prefab(fmt.Sprint(name), comps, nil); err != nil {
			log.Fatal(err)
		}
	}
	src := snapshot.NewSource(reg, snapshot.SourceConfig{})
	sc := scene.New(seed, 60, 16)
	var senders []*snapshot.Sender
	for v := range uint16(3) {
		senders = append(senders, src.NewSender(v, snapshot.SenderConfig{Statistics: st}))
	}
	sent := make([][64]snapshot.Sent, len(senders))
	var buf []byte
	for t := schema.Tick(1); t < 250; t++ {
		step(sc, dt)
		src.Begin(t)
		for i := range sc.Bodies {
			src.Put(snapshot.NetID(1+i), 0, 0, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&sc.Bodies[i])}, nil)
		}
		for i := range sc.Players {
			src.Put(snapshot.NetID(1000+i), 1, uint16(i+1), schema.MaskOf(1, 2, 3), []unsafe.Pointer{unsafe.Pointer(&sc.Players[i]), unsafe.Pointer(&sc.Health[i]), unsafe.Pointer(&sc.Ammo[i])}, nil)
		}
		src.End()
		for i, s := range senders {
			buf = s.Append(buf[:0], 200+room, &sent[i][t%64])
			if old := int(t) - lag - i; old > 0 && (old*7+i)%20 != 0 {
				s.Delivered(&sent[i][old%64])
			}
		}
	}
}

const (
	cubes     = 901
	cubeBytes = 32
)

// cube is what the traces of examples/cubes hold.
type cube struct {
	Turn        [4]int32 `net:"quat,bits=9"`
	At          [3]int32 `net:"vec,min=-262144,max=262143"`
	Interacting bool
}

// tumble sends a scene of examples/cubes: rigid bodies that are pushed about.
func tumble(st *snapshot.Statistics, seed uint64, lag int) {
	trace, err := exec.Command("go", "run", "../examples/cubes", "-write", "-frames", "700", "-seed", fmt.Sprint(seed)).Output()
	if err != nil {
		log.Fatal("train: ", err)
	}
	reg := schema.NewRegistry()
	s, err := schema.Compile(reflect.TypeFor[cube](), schema.Options{})
	if err == nil {
		_, err = reg.Component(s)
	}
	if err == nil {
		_, err = reg.Prefab("cube", []int{0}, nil)
	}
	if err != nil {
		log.Fatal("train: ", err)
	}
	src := snapshot.NewSource(reg, snapshot.SourceConfig{})
	to := src.NewSender(0, snapshot.SenderConfig{Statistics: st, Spawns: cubes})
	var sent [64]snapshot.Sent
	var buf []byte
	for t := schema.Tick(1); len(trace) > 0; t++ {
		src.Begin(t)
		for i := range cubes {
			b := trace[i*cubeBytes:]
			word := func(k int) int32 { return int32(binary.LittleEndian.Uint32(b[4*k:])) }
			c := cube{[4]int32{word(0), word(1), word(2), word(3)}, [3]int32{word(4), word(5), word(6)}, word(7) != 0}
			src.Put(snapshot.NetID(1+i), 0, 0, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&c)}, nil)
		}
		trace = trace[cubes*cubeBytes:]
		src.End()
		buf = to.Append(buf[:0], 1<<16, &sent[t%64])
		if old := int(t) - lag; old > 0 && old*7%41 != 0 {
			to.Delivered(&sent[old%64])
		}
	}
}
