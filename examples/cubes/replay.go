package main

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"time"
	"unsafe"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Options say how a trace is sent.
type Options struct {
	Lag    int     // how many frames later the sender learns whether a frame arrived
	Loss   float64 // the share of frames that are lost, and of acks
	Seed   uint64  // decides which frames are lost
	Tables []byte  // trained on another trace; nil: the built-in tables
}

// Result is what replay measured.
type Result struct {
	Frames         int     `json:"frames"`
	Kbps           float64 `json:"kbps"`
	BytesPerFrame  float64 `json:"bytes_per_frame"`
	EncodePerFrame float64 `json:"encode_us_per_frame"`
	DecodePerFrame float64 `json:"decode_us_per_frame"`
	Verified       int     `json:"verified"` // decoded frames, in which all values were equal to those sent
	Tables         string  `json:"tables"`
	Seed           uint64  `json:"seed"`
}

const ackHistory = 32 // how many frames one ack reports

// newRegistry declares the trace's cubes. Each end creates a registry of its own.
func newRegistry(tables []byte) (*schema.Registry, error) {
	r := schema.NewRegistry()
	if tables != nil {
		if err := r.UseTables(tables); err != nil {
			return nil, err
		}
	}
	s, err := schema.Compile(reflect.TypeFor[Cube](), schema.Options{})
	if err != nil {
		return nil, err
	}
	if _, err = r.Component(s); err != nil {
		return nil, err
	}
	_, err = r.Prefab("cube", []int{0}, nil)
	return r, err
}

// link is the simulated network.
type link struct {
	rng     *rand.Rand
	loss    float64
	lag     int             // see Options.Lag
	arrived []bool          // whether each frame arrived
	sent    []snapshot.Sent // what the newest frames contained
}

// feedback tells the sender, at frame now, which frames arrived. It uses the ack that was
// sent lag frames ago, unless that one was lost.
func (l *link) feedback(now int, to *snapshot.Sender) {
	at := now - l.lag
	if at < 0 || (l.loss > 0 && l.rng.Float64() < l.loss) {
		return
	}
	for i := max(at-ackHistory+1, 0); i <= at; i++ {
		rec := &l.sent[i%len(l.sent)]
		if rec.Tick() == schema.Tick(i+1) && l.arrived[i] {
			to.Delivered(rec)
			rec.Reset()
		}
	}
}

// replay sends a trace to one viewer. The two ends have separate registries and share
// only the bytes. If learn is not nil, it collects statistics of what is sent, from which
// tables are trained.
func replay(frames []Frame, o Options, learn *snapshot.Statistics) (Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	server, err := newRegistry(o.Tables)
	if err != nil {
		return Result{}, err
	}
	client, err := newRegistry(o.Tables)
	if err != nil {
		return Result{}, err
	}
	src := snapshot.NewSource(server, snapshot.SourceConfig{})
	sender := src.NewSender(0, snapshot.SenderConfig{Statistics: learn, Spawns: cubes})
	recv := snapshot.NewReceiver(client, snapshot.ReceiverConfig{Spawns: cubes})
	l := &link{rng: rand.New(rand.NewPCG(o.Seed, 1)), loss: o.Loss, lag: o.Lag, arrived: make([]bool, len(frames)), sent: make([]snapshot.Sent, 64)}
	res := Result{Frames: len(frames), Seed: o.Seed, Tables: "built-in"}
	if o.Tables != nil {
		res.Tables = "learned"
	}
	bytes := 0
	var encode, decode time.Duration
	var packet []byte
	ptr := make([]unsafe.Pointer, 1)
	for i, f := range frames {
		l.feedback(i, sender)
		begin := time.Now()
		src.Begin(schema.Tick(i + 1))
		for j := range f {
			ptr[0] = unsafe.Pointer(&f[j])
			src.Put(snapshot.NetID(j+1), 0, 0, schema.MaskOf(0), ptr, nil)
		}
		src.End()
		packet = sender.Append(packet[:0], 1<<16, &l.sent[i%len(l.sent)])
		encode += time.Since(begin)
		bytes += len(packet)
		if l.loss > 0 && l.rng.Float64() < l.loss {
			continue
		}
		l.arrived[i] = true
		begin = time.Now()
		_, err := recv.Read(packet)
		decode += time.Since(begin)
		if err != nil {
			return res, fmt.Errorf("cubes: frame %d: %w", i, err)
		}
		if err := compare(recv, client.Schema(0), f, schema.Tick(i+1)); err != nil {
			return res, fmt.Errorf("cubes: frame %d: %w", i, err)
		}
		res.Verified++
	}
	n := float64(len(frames))
	res.BytesPerFrame = float64(bytes) / n
	res.Kbps = hz * 8 * res.BytesPerFrame / 1000
	res.EncodePerFrame = float64(encode.Nanoseconds()) / n / 1000
	res.DecodePerFrame = float64(decode.Nanoseconds()) / max(float64(res.Verified), 1) / 1000
	return res, nil
}

// compare decodes every cube from the receiver's state and compares it with want.
func compare(recv *snapshot.Receiver, s *schema.Schema, want Frame, tick schema.Tick) error {
	ghosts := recv.Ghosts()
	if len(ghosts) != len(want) {
		return fmt.Errorf("%d cubes instead of %d", len(ghosts), len(want))
	}
	for i, g := range ghosts { // wire ids are in the order of the cubes
		state, ok := g.At(tick)
		if !ok {
			return fmt.Errorf("cube %d is not known", i)
		}
		var c Cube
		s.Dequantise(state.Component(0), schema.GridPublic, nil, unsafe.Pointer(&c))
		if c != want[i] {
			return fmt.Errorf("cube %d is %v instead of %v", i, c, want[i])
		}
	}
	return nil
}

// learn trains tables: it replays a trace several times, each time with the tables of the
// run before.
func learn(frames []Frame, lag int) ([]byte, error) {
	var tables []byte
	for range 3 {
		var st snapshot.Statistics
		if _, err := replay(frames, Options{Lag: lag, Tables: tables}, &st); err != nil {
			return nil, err
		}
		tables = st.Tables()
	}
	return tables, nil
}
