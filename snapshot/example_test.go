package snapshot_test

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Ship is a component: its tags say how it travels.
type Ship struct {
	X, Y  float32 `net:"min=-512,max=512,step=0.01,lerp"`
	Fuel  uint16  `net:"max=1000,owner"`
	Lamps bool
}

// A server shows one ship to the player who owns it, and to one who does not.
func Example() {
	registry := func() *schema.Registry { // both ends build it alike
		ship, err := schema.Compile(reflect.TypeFor[Ship](), schema.Options{Predicted: true})
		if err != nil {
			panic(err)
		}
		r := schema.NewRegistry()
		comp, _ := r.Component(ship)
		_, _ = r.Prefab("ship", []int{comp}, []unsafe.Pointer{unsafe.Pointer(&Ship{Fuel: 100})})
		return r
	}
	source := snapshot.NewSource(registry(), snapshot.SourceConfig{})
	ship := Ship{X: 1.234, Y: -5, Fuel: 80}
	source.Begin(1)
	source.Put(1, 0, 7, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&ship)}, nil)
	source.End()

	for _, viewer := range []uint16{7, 8} {
		var sent snapshot.Sent
		sender := source.NewSender(viewer, snapshot.SenderConfig{})
		packet := sender.Append(nil, 1200, &sent)

		r := registry()
		receiver := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
		if _, err := receiver.Read(packet); err != nil {
			panic(err)
		}
		for _, c := range receiver.Changes() {
			var got Ship
			s := c.Ghost.Newest()
			if s.Mine {
				r.Schema(0).Dequantise(s.Component(0), s.Grid(0), nil, unsafe.Pointer(&got))
			} else {
				r.Schema(0).DequantiseMasked(s.Component(0), s.Grid(0), nil, unsafe.Pointer(&got))
			}
			fmt.Println(c.What, s.Mine, got)
		}
		sender.Delivered(&sent) // the packet's ack came
	}
	// Output:
	// spawned true {1.23375 -5 80 false}
	// spawned false {1.23 -5 0 false}
}

// Between two ticks a remote entity is shown where its fields' tags say.
func ExampleSchema_Interpolate_lerp() {
	s, err := schema.Compile(reflect.TypeFor[Ship](), schema.Options{})
	if err != nil {
		panic(err)
	}
	a, b := make([]int32, s.Words()), make([]int32, s.Words())
	s.Quantise(unsafe.Pointer(&Ship{X: 1}), schema.GridPublic, nil, a)
	s.Quantise(unsafe.Pointer(&Ship{X: 3, Lamps: true}), schema.GridPublic, nil, b)
	var shown Ship
	s.Interpolate(^schema.Audience(0), schema.Knots{From: a, To: b, Fraction: 0.25}, schema.GridPublic, nil, unsafe.Pointer(&shown))
	fmt.Println(shown.X, shown.Lamps)
	// Output: 1.5 false
}

// A ball is received three times a second. Between two ticks it is shown where its
// velocity takes it, not on the line between them.
func ExampleSchema_Interpolate() {
	type Ball struct {
		Z  float32 `net:"min=0,max=100,step=0.01,hermite=VZ"`
		VZ float32 `net:"min=-100,max=100,step=0.01"` // metres a second
	}
	s, err := schema.Compile(reflect.TypeFor[Ball](), schema.Options{})
	if err != nil {
		panic(err)
	}
	at := func(t float32) []int32 { // thrown up with 10 m/s
		w := make([]int32, s.Words())
		s.Quantise(unsafe.Pointer(&Ball{Z: 10*t - 5*t*t, VZ: 10 - 10*t}), schema.GridPublic, nil, w)
		return w
	}
	knots := schema.Knots{From: at(0.8), To: at(1.2), Span: 12, Rate: 30}
	for _, f := range []float32{0, 0.25, 0.5, 1} {
		var shown Ball
		knots.Fraction = f
		s.Interpolate(0, knots, schema.GridPublic, nil, unsafe.Pointer(&shown))
		fmt.Printf("%.2f ", shown.Z)
	}
	// Output: 4.80 4.95 5.00 4.80
}

// A type that cannot be sent is refused, with the fix.
func ExampleCompile() {
	type Lamp struct {
		Hue float32 `net:"min=0,max=1,step=0.3"`
	}
	_, err := schema.Compile(reflect.TypeFor[Lamp](), schema.Options{})
	fmt.Println(err)
	// Output: schema: Lamp.Hue: max=1 is not a multiple of step=0.3: 0 must lie on the grid, and so must the ends; use max=0.9
}

// A spectator who changes sides receives what the new side's player may see, and no longer what
// the old one's may.
func ExampleSender_SetViewer() {
	registry := func() *schema.Registry {
		ship, err := schema.Compile(reflect.TypeFor[Ship](), schema.Options{})
		if err != nil {
			panic(err)
		}
		r := schema.NewRegistry()
		comp, _ := r.Component(ship)
		_, _ = r.Prefab("ship", []int{comp}, []unsafe.Pointer{unsafe.Pointer(&Ship{})})
		return r
	}
	source, r := snapshot.NewSource(registry(), snapshot.SourceConfig{}), registry()
	sender, receiver := source.NewSender(7, snapshot.SenderConfig{}), snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	ships := map[uint16]*Ship{7: {Fuel: 70}, 8: {Fuel: 80}} // by owner, who alone sees the fuel
	for tick := schema.Tick(1); tick <= 2; tick++ {
		source.Begin(tick)
		for owner, ship := range ships {
			source.Put(snapshot.NetID(owner), 0, owner, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(ship)}, nil)
		}
		source.End()
		var sent snapshot.Sent
		if _, err := receiver.Read(sender.Append(nil, 1200, &sent)); err != nil {
			panic(err)
		}
		sender.Delivered(&sent)
		for _, g := range receiver.Ghosts() {
			var got Ship
			s := g.Newest()
			r.Schema(0).DequantiseMasked(s.Component(0), s.Grid(0), nil, unsafe.Pointer(&got))
			if s.Mine {
				r.Schema(0).Dequantise(s.Component(0), s.Grid(0), nil, unsafe.Pointer(&got))
			}
			if got.Fuel != 0 {
				fmt.Printf("tick %d: a ship has %d of fuel\n", tick, got.Fuel)
			}
		}
		sender.SetViewer(8)
	}
	// Output:
	// tick 1: a ship has 70 of fuel
	// tick 2: a ship has 80 of fuel
}
