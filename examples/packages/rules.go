package main

import (
	"hash/fnv"
	"reflect"
	"time"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

const (
	rate     = 30 // ticks a second
	tickTime = time.Second / rate
	dt       = float32(1) / rate
	memory   = 64              // how many ticks can be run again
	size     = 0.5             // the radius of a drone
	reach    = 60              // the range of a beam
	silence  = 5 * time.Second // a silent connection ends after this time
)

// The components are plain structs. Their tags say how they are sent.
type (
	// Body is a drone's motion, which its player's client predicts. Others do not receive the speed,
	// since drawing does not need it.
	Body struct {
		X, Y   float32 `net:"min=-100,max=100,step=0.01,lerp"`
		VX, VY float32 `net:"min=-20,max=20,step=0.02,owner"`
	}
	// Score is a player's score. Only the server changes it.
	Score struct{ Shots, Hits uint16 }
	// Stick is a player's command for a tick.
	Stick struct {
		X, Y       float32 `net:"min=-1,max=1,step=0.0078125"`
		AimX, AimY float32 `net:"min=-1,max=1,step=0.0005"` // the direction in which it aims
		Fire       bool    `net:"oneshot"`
	}
)

var (
	body  = compile[Body](schema.Options{Predicted: true})
	score = compile[Score](schema.Options{})
	stick = compile[Stick](schema.Options{})
)

func compile[T any](o schema.Options) *schema.Schema {
	return must(schema.Compile(reflect.TypeFor[T](), o))
}

// must returns v, or panics with err. Use it for errors that no input causes.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The ids of components and of the prefab. Both ends register them in this order.
const (
	bodyID = iota
	scoreID
	drone = 0
)

// droneHas is the set of a drone's components.
var droneHas = schema.MaskOf(bodyID, scoreID)

func registry() *schema.Registry {
	r := schema.NewRegistry()
	must(r.Component(body))
	must(r.Component(score))
	must(r.Prefab("drone", []int{bodyID, scoreID}, []unsafe.Pointer{unsafe.Pointer(&Body{}), unsafe.Pointer(&Score{})}))
	return r
}

// connection returns one end of a connection. A build of the game with other components has another
// description and so another Magic, and neither end accepts the other's packets.
func connection() *netcode.Conn {
	h := fnv.New64a()
	_, _ = h.Write([]byte(registry().Describe() + stick.Describe()))
	return netcode.NewConn(netcode.Config{Magic: h.Sum64(), Timeout: silence})
}

// fly is the rule that the server runs and clients predict. It rounds its result to the precision
// that the owner receives, so that both ends compare equal. The conversions prevent the fusing of
// products with sums, which some machines do.
func fly(b *Body, in Stick) {
	b.VX = float32(b.VX*0.9) + float32(in.X*1.2)
	b.VY = float32(b.VY*0.9) + float32(in.Y*1.2)
	b.X = min(max(b.X+float32(b.VX*dt), -100), 100)
	b.Y = min(max(b.Y+float32(b.VY*dt), -100), 100)
	body.Snap(unsafe.Pointer(b))
}

// beam returns the beam of a drone at b that shoots with the input in.
func beam(b Body, in Stick) lagcomp.Ray {
	return lagcomp.Ray{X: b.X, Y: b.Y, DX: in.AimX, DY: in.AimY, Range: reach}
}

// hitbox returns the hitbox of a drone at b.
func hitbox(b Body) lagcomp.Hitbox {
	return lagcomp.SphereHitbox(lagcomp.Sphere{X: b.X, Y: b.Y, R: size})
}
