package snapshot_test

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/snapshot/internal/scene"
	"github.com/stretchr/testify/require"
)

// stage sends a scene's bodies to one viewer, acks arriving after lag ticks.
type stage struct {
	t      testing.TB
	scene  *scene.Scene
	step   func(*scene.Scene, float64)
	src    *snapshot.Source
	sender *snapshot.Sender
	recv   *snapshot.Receiver
	sent   [64]snapshot.Sent
	ps     [1]unsafe.Pointer
	buf    []byte
	tick   schema.Tick
	bytes  int
	lag    schema.Tick
	dt     float64
}

func newStage(t testing.TB, seed uint64, step func(*scene.Scene, float64), tables []byte, st *snapshot.Statistics) *stage {
	s, err := schema.Compile(reflect.TypeFor[scene.Body](), schema.Options{})
	require.NoError(t, err)
	r := schema.NewRegistry()
	if tables != nil {
		require.NoError(t, r.UseTables(tables))
	}
	_, err = r.Component(s)
	require.NoError(t, err)
	_, err = r.Prefab("body", []int{0}, nil)
	require.NoError(t, err)
	x := &stage{t: t, scene: scene.New(seed, 100, 0), step: step, src: snapshot.NewSource(r, snapshot.SourceConfig{}), recv: snapshot.NewReceiver(r, snapshot.ReceiverConfig{}), lag: 4, dt: 1.0 / 20}
	x.sender = x.src.NewSender(0, snapshot.SenderConfig{Statistics: st})
	return x
}

func (x *stage) put() {
	x.tick++
	x.step(x.scene, x.dt)
	x.src.Begin(x.tick)
	for i := range x.scene.Bodies {
		x.ps[0] = unsafe.Pointer(&x.scene.Bodies[i])
		x.src.Put(snapshot.NetID(i+1), 0, 0, schema.MaskOf(0), x.ps[:], nil)
	}
	x.src.End()
}

func (x *stage) send() {
	if x.tick > x.lag { // the snapshot of lag ticks ago is known to have arrived
		x.sender.Delivered(&x.sent[(x.tick-x.lag)%64])
	}
	x.buf = x.sender.Append(x.buf[:0], 1<<16, &x.sent[x.tick%64])
	x.bytes += len(x.buf)
}

func (x *stage) run(ticks int) {
	for range ticks {
		x.put()
		x.send()
		if _, err := x.recv.Read(x.buf); err != nil {
			x.t.Fatal(err)
		}
	}
}

// perObject is the mean number of bytes for an object and tick, once settled.
func perObject(t testing.TB, seed uint64, step func(*scene.Scene, float64), tables []byte) float64 {
	x := newStage(t, seed, step, tables, nil)
	x.run(40)
	x.bytes = 0
	x.run(200)
	a, n := x.recv.Hash(x.tick)
	b, _ := x.sender.Hash()
	require.Equal(t, b, a)
	require.Equal(t, 400, n)
	return float64(x.bytes) / 200 / 100
}

func learn(t testing.TB, step func(*scene.Scene, float64)) []byte {
	var st snapshot.Statistics
	for seed := range uint64(5) {
		newStage(t, 50+seed, step, nil, &st).run(300)
	}
	return st.Tables()
}

// TestBytesPerObject holds the size of snapshots to what was reached.
func TestBytesPerObject(t *testing.T) {
	costtest.Ratio(t)
	for _, c := range []struct {
		name           string
		step           func(*scene.Scene, float64)
		builtin, learn float64
	}{{"wander", (*scene.Scene).Wander, 2.4, 2.2}, {"one axis", (*scene.Scene).OneAxis, 0.6, 0.41}} {
		builtin := perObject(t, 1, c.step, nil)
		learned := perObject(t, 1, c.step, learn(t, c.step))
		t.Logf("%s: %.2f B an object with built-in tables, %.2f with learned ones", c.name, builtin, learned)
		require.LessOrEqual(t, builtin, c.builtin)
		require.LessOrEqual(t, learned, c.learn)
	}
}

// TestFightBytes: what a player of a shooter of 16 receives, at 30 Hz and 4 ticks of
// lag, with built-in tables.
func TestFightBytes(t *testing.T) {
	r := schema.NewRegistry()
	for _, c := range []reflect.Type{reflect.TypeFor[scene.Player](), reflect.TypeFor[scene.Health](), reflect.TypeFor[scene.Ammo]()} {
		s, err := schema.Compile(c, schema.Options{Predicted: true})
		require.NoError(t, err)
		_, err = r.Component(s)
		require.NoError(t, err)
	}
	_, err := r.Prefab("player", []int{0, 1, 2}, nil)
	require.NoError(t, err)
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	sender, recv := src.NewSender(1, snapshot.SenderConfig{}), snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	sc := scene.New(3, 0, 16)
	var sent [8]snapshot.Sent
	var buf []byte
	const seconds = 20
	for tick := schema.Tick(1); tick <= 30*seconds; tick++ {
		sc.Fight(1.0 / 30)
		src.Begin(tick)
		for i := range sc.Players {
			src.Put(snapshot.NetID(i+1), 0, uint16(i+1), schema.MaskOf(0, 1, 2), []unsafe.Pointer{ptr(&sc.Players[i]), ptr(&sc.Health[i]), ptr(&sc.Ammo[i])}, nil)
		}
		src.End()
		if tick > 4 {
			sender.Delivered(&sent[(tick-4)%8])
		}
		buf = sender.Append(buf[:0], 1100, &sent[tick%8])
		_, err := recv.Read(buf)
		require.NoError(t, err)
	}
	perSecond := sender.Counters().Bytes / seconds
	t.Logf("%d B/s for a player of 16", perSecond)
	require.Less(t, perSecond, uint64(1600))
}

func benchmarkScene(b *testing.B, step func(*scene.Scene, float64)) {
	x := newStage(b, 1, step, learn(b, step), nil)
	x.run(60)
	x.bytes = 0
	n := 0
	for b.Loop() {
		x.run(1)
		n++
	}
	b.ReportMetric(float64(x.bytes)/float64(n)/100, "B/object")
	b.ReportAllocs()
}

// BenchmarkWander: 100 objects wandering in a plane, 20 Hz, 4 ticks of lag.
func BenchmarkWander(b *testing.B) { benchmarkScene(b, (*scene.Scene).Wander) }

// BenchmarkOneAxis: the same, one axis moving.
func BenchmarkOneAxis(b *testing.B) { benchmarkScene(b, (*scene.Scene).OneAxis) }

// BenchmarkPut quantises and compares a tick of 100 bodies, all of which moved.
func BenchmarkPut(b *testing.B) {
	x := newStage(b, 1, (*scene.Scene).Wander, nil, nil)
	x.run(80)
	b.ReportAllocs()
	for b.Loop() {
		x.put()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/entity")
}

// BenchmarkAppend encodes the same tick again and again.
func BenchmarkAppend(b *testing.B) {
	x := newStage(b, 1, (*scene.Scene).Wander, nil, nil)
	x.run(80)
	x.put()
	b.ReportAllocs()
	for b.Loop() {
		x.buf = x.sender.Append(x.buf[:0], 1<<16, &x.sent[x.tick%64])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/entity")
}

// BenchmarkRead decodes ticks that were recorded.
func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	var x *stage
	var packets [][]byte
	for b.Loop() {
		if len(packets) == 0 {
			b.StopTimer()
			x = newStage(b, 1, (*scene.Scene).Wander, nil, nil)
			x.run(130)
			for range 200 {
				x.put()
				x.send()
				packets = append(packets, append([]byte(nil), x.buf...))
			}
			b.StartTimer()
		}
		if _, err := x.recv.Read(packets[0]); err != nil {
			b.Fatal(err)
		}
		packets = packets[1:]
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/entity")
}

func ExampleStatistics() {
	var st snapshot.Statistics
	x := newStage(new(testing.T), 7, (*scene.Scene).OneAxis, nil, &st)
	x.run(100)
	tables := st.Tables()
	fmt.Println(schema.NewRegistry().UseTables(tables))
	// Output: <nil>
}
