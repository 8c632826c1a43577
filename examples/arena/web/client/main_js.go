// Client is the arena's client in a browser: it connects package web to the page. The arena compiles it
// for js/wasm when it is started with -web.
package main

import (
	"encoding/binary"
	"math"
	"sync"
	"syscall/js"
	"time"

	"github.com/foretick/foretick/examples/arena/web"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// page is the session and the two buffers that it shares with the page.
type page struct {
	mu      sync.Mutex
	session *web.Session
	failed  string
	hidden  int // steps while the page was hidden

	events, list          js.Value // Uint8Array over the page's Float32Arrays
	eventBytes, listBytes []byte
	eventNumbers          []float32
	took                  time.Duration // time that Go took for the newest frame
}

func main() {
	p := &page{
		eventBytes: make([]byte, 4*web.EventsSize), listBytes: make([]byte, 4*web.ListSize),
		eventNumbers: make([]float32, web.EventsSize),
	}
	if err := p.open(); err != nil {
		p.failed = err.Error()
	}
	p.publish()
	if p.session != nil {
		p.stepHidden()
	}
	select {}
}

// open starts the session. The page's variable arenaTickRate has the tick rate of its server.
func (p *page) open() (err error) {
	at := js.Global().Get("location")
	base := "ws://" + at.Get("host").String()
	dial := func(path string) func() (transport.Endpoint, error) {
		return func() (transport.Endpoint, error) { return ws.Dial(base+path, ws.Config{}) }
	}
	p.session, err = web.NewSession(web.Config{
		Play: dial("/play"), Truth: dial("/truth"), Seed: uint64(time.Now().UnixNano()),
		TickRate: js.Global().Get("arenaTickRate").Int(),
	})
	return err
}

// publish gives the page the functions and buffers that it uses.
func (p *page) publish() {
	shared := func(n int) (floats, bytes js.Value) {
		buffer := js.Global().Get("ArrayBuffer").New(4 * n)
		return js.Global().Get("Float32Array").New(buffer), js.Global().Get("Uint8Array").New(buffer)
	}
	api := js.Global().Get("Object").New()
	var floats js.Value
	floats, p.events = shared(web.EventsSize)
	api.Set("events", floats)
	floats, p.list = shared(web.ListSize)
	api.Set("list", floats)
	api.Set("keys", texts(web.KeyNames()))
	api.Set("presets", texts(web.Presets()))
	api.Set("frame", js.FuncOf(func(_ js.Value, args []js.Value) any { return p.frame(args[0].Int()) }))
	api.Set("state", js.FuncOf(func(js.Value, []js.Value) any { return p.state() }))
	js.Global().Get("arenaReady").Invoke(api)
}

func texts(of []string) js.Value {
	all := make([]any, len(of))
	for i, s := range of {
		all[i] = s
	}
	return js.ValueOf(all)
}

// frame reads the frame's events, plays on, and returns how many numbers the draw list has.
func (p *page) frame(events int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return 0
	}
	now := time.Now()
	events = min(max(events, 0), web.EventsSize)
	if events > 0 {
		js.CopyBytesToGo(p.eventBytes[:4*events], p.events)
		for i := range events {
			p.eventNumbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(p.eventBytes[4*i:]))
		}
		p.session.Events(now, p.eventNumbers[:events])
	}
	numbers := p.session.Frame(now)
	for i, v := range numbers {
		binary.LittleEndian.PutUint32(p.listBytes[4*i:], math.Float32bits(v))
	}
	js.CopyBytesToJS(p.list, p.listBytes[:4*len(numbers)])
	p.took = time.Since(now)
	return len(numbers)
}

func (p *page) state() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return map[string]any{"state": "failed", "error": p.failed}
	}
	out := p.session.State(time.Now())
	out["hiddenSteps"], out["frameMs"] = float64(p.hidden), float64(p.took.Microseconds())/1000
	return out
}

// stepHidden steps while the page is hidden. A browser then draws no frames, and its timers run at most
// once a second. Messages from the network still arrive at once.
func (p *page) stepHidden() {
	document := js.Global().Get("document")
	pause := time.NewTicker(250 * time.Millisecond) // steps while no message arrives, as after a lost connection
	for {
		select {
		case <-p.session.Ready():
		case <-pause.C:
		}
		if document.Get("hidden").Bool() {
			p.mu.Lock()
			p.session.Step(time.Now())
			p.hidden++
			p.mu.Unlock()
		}
	}
}
