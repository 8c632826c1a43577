package snapshot_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// ten has ten fields, of which seven change while it moves.
type ten struct {
	X, Y, Z float32 `net:"min=-512,max=512,step=0.001,lerp"`
	VX, VY  float32 `net:"min=-64,max=64,step=0.01"`
	Yaw     float32 `net:"angle,bits=12,lerp"`
	Energy  int16   `net:"min=0,max=1000"`
	Ammo    uint8
	Mode    uint8
	Armed   bool
}

const changedFields = 7

// fleet moves tens about.
type fleet struct {
	rng   *rand.Rand
	units []ten
	turn  []float64
	head  []float64
}

func newFleet(n int) *fleet {
	f := &fleet{rng: rand.New(rand.NewPCG(3, 4)), units: make([]ten, n), turn: make([]float64, n), head: make([]float64, n)}
	for i := range f.units {
		f.units[i] = ten{X: f.rng.Float32()*100 - 50, Y: f.rng.Float32()*100 - 50, Energy: 500}
		f.head[i] = f.rng.Float64() * 6
	}
	return f
}

// move moves those that are chosen: all of them change in seven fields.
func (f *fleet) move(chosen func(i int) bool) {
	const dt = 1.0 / 60
	for i := range f.units {
		if !chosen(i) {
			continue
		}
		u := &f.units[i]
		f.turn[i] += (-f.turn[i] + f.rng.NormFloat64()*3) * dt * 2
		f.head[i] += f.turn[i]*dt + 0.002
		speed := 4 + 2*math.Sin(f.head[i]*3)
		u.VX, u.VY = float32(math.Cos(f.head[i])*speed), float32(math.Sin(f.head[i])*speed)
		u.X += u.VX * dt
		u.Y += u.VY * dt
		u.Z = float32(math.Sin(f.head[i]*5)) * 2
		u.Yaw = float32(f.head[i])
		u.Energy = int16(min(max(int(u.Energy)+f.rng.IntN(9)-4, 1), 999))
	}
}

func (f *fleet) put(src *snapshot.Source, t schema.Tick, p []unsafe.Pointer) {
	src.Begin(t)
	for i := range f.units {
		p[0] = ptr(&f.units[i])
		src.Put(snapshot.NetID(i+1), 0, 0, schema.MaskOf(0), p, nil)
	}
	src.End()
}

func fleetRegistry(b testing.TB) *schema.Registry {
	s, err := schema.Compile(reflect.TypeFor[ten](), schema.Options{})
	require.NoError(b, err)
	r := schema.NewRegistry()
	_, err = r.Component(s)
	require.NoError(b, err)
	_, err = r.Prefab("ten", []int{0}, nil)
	require.NoError(b, err)
	return r
}

// BenchmarkField: what a changed field costs to write and to read, prediction,
// context and flags included: 200 entities of ten fields, of which seven change, at
// 6 ticks of lag, with the built-in tables.
func BenchmarkField(b *testing.B) {
	const n, lag = 200, 6
	r := fleetRegistry(b)
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	sender, recv := src.NewSender(0, snapshot.SenderConfig{}), snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	f, p := newFleet(n), make([]unsafe.Pointer, 1)
	var sent [16]snapshot.Sent
	var buf []byte
	var encode, decode time.Duration
	bytes, ticks := 0, 0
	t := schema.Tick(0)
	step := func() {
		t++
		f.move(func(int) bool { return true })
		f.put(src, t, p)
		if t > lag {
			sender.Delivered(&sent[(t-lag)%16])
		}
		begin := time.Now()
		buf = sender.Append(buf[:0], 1<<16, &sent[t%16])
		middle := time.Now()
		if _, err := recv.Read(buf); err != nil {
			b.Fatal(err)
		}
		decode += time.Since(middle)
		encode += middle.Sub(begin)
		bytes += len(buf)
		ticks++
	}
	for range 150 {
		step()
	}
	encode, decode, bytes, ticks = 0, 0, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	fields := float64(ticks * n * changedFields)
	b.ReportMetric(float64(encode.Nanoseconds())/fields, "ns/encode")
	b.ReportMetric(float64(decode.Nanoseconds())/fields, "ns/decode")
	b.ReportMetric(float64(bytes)*8/fields, "bits/field")
}

// BenchmarkScale: 100 clients and 1 000 entities of ten fields at 60 Hz, some 200
// records to each client and tick; lags of 2 to 9 ticks, 5 % loss, and each client
// sees other nine tenths. Once with room for all, once with 32 kB/s a client.
func BenchmarkScale(b *testing.B) {
	b.Run("all", func(b *testing.B) { benchmarkScale(b, 1<<16) })
	b.Run("budget", func(b *testing.B) { benchmarkScale(b, 32000/60) })
}

func benchmarkScale(b *testing.B, room int) {
	const clients, entities, hz = 100, 1000, 60
	r := fleetRegistry(b)
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	var senders []*snapshot.Sender
	var cache snapshot.Cache
	sent := make([][16]snapshot.Sent, clients)
	for i := range clients {
		s := src.NewSender(0, snapshot.SenderConfig{Cache: &cache})
		for id := range entities {
			s.SetVisible(snapshot.NetID(id+1), (id+1+i)%10 != 0)
		}
		senders = append(senders, s)
	}
	f, p := newFleet(entities), make([]unsafe.Pointer, 1)
	var buf []byte
	records, bytes := 0, 0
	t := schema.Tick(0)
	tick := func() {
		t++
		f.move(func(i int) bool { return (i+int(t)/64)%9 < 2 })
		f.put(src, t, p)
		for i, s := range senders {
			lag := schema.Tick(2 + i%8)
			if t > lag && (int(t-lag)*7+i*3)%20 != 0 {
				s.Delivered(&sent[i][(t-lag)%16])
			} else if t > lag {
				s.Lost(&sent[i][(t-lag)%16])
			}
			buf = s.Append(buf[:0], room, &sent[i][t%16])
			records += sent[i][t%16].Len()
			bytes += len(buf)
		}
	}
	for range 640 { // until everybody moved, and histories have grown
		tick()
	}
	records, bytes = 0, 0
	ticks := 0
	hits, misses := cache.Hits()
	b.ReportAllocs()
	for b.Loop() {
		tick()
		ticks++
	}
	perTick := float64(b.Elapsed().Nanoseconds()) / float64(ticks)
	b.ReportMetric(perTick*hz/1e9*100, "core_percent")
	b.ReportMetric(float64(records)/float64(ticks)/clients, "records/client")
	b.ReportMetric(float64(records)/float64(ticks)*hz, "records/s")
	b.ReportMetric(perTick/(float64(records)/float64(ticks)), "ns/record")
	b.ReportMetric(float64(bytes)/float64(ticks)/clients, "B/client")
	h, m := cache.Hits()
	b.ReportMetric(100*float64(h-hits)/float64(h-hits+m-misses), "hit_percent")
}
