package client

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// traceMember is the client's part of a trace, which this program or the server asked for.
type traceMember struct {
	*base
	ghosts    *ghosts
	predicted *predicted
	names     *recordNames

	wake atomic.Bool // a request waits, or the trace is armed

	mu   sync.Mutex
	port *trace.Port // nil until somebody asks for it

	recorder  *trace.Recorder // nil if the trace was never armed
	armed     bool
	recording bool // a tick runs whose systems are recorded
	past      bool // the earlier ticks have to be run again
	steps     game.TraceSteps
	// shape is the structure of the player's rows when its entities were listed.
	shape   uint64
	request trace.Request
	nobody  bool // the requested entities are not the player's

	here   time.Duration // until when this program wants the trace; 0: it does not
	server time.Duration // until when the server wants the trace; 0: it does not

	sender    trace.Sender    // sends the client's records to the server
	assembler trace.Assembler // assembles the server's records
	asked     time.Duration   // when the server was last asked
	unheard   int             // how often the server was asked without an answer
	heard     bool            // the server answered
	refused   time.Duration   // until when the server is not asked again, because it refused
	why       string          // the reason of the server's refusal
	stop      bool            // the server has to be told to stop
	asks      game.Allowance  // limits the server's requests
	scratch   []byte
}

// traceTries is how often a server is asked if it does not answer.
const traceTries = 12

// Trace returns the port of the client's trace. Any goroutine may call it.
func (in *internals) Trace() *trace.Port { return (*Client)(in).tracePort() }

func (c *Client) tracePort() *trace.Port {
	t := c.tracer
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.port == nil {
		t.port = trace.NewPort(c.build.TraceLayout(), &t.wake)
	}
	return t.port
}

// pollTrace handles the requests at the port, and arms or ends the trace.
func (c *Client) pollTrace() {
	t := c.tracer
	t.wake.Store(false) // later requests are for the next Step
	port := c.tracePort()
	told := port.Poll()
	if told.Looked {
		if why := c.untraceable(); why != "" {
			port.Set(trace.No, why)
			return
		}
		if t.refused > c.now { // a program that asks again and again would be an offender
			port.Set(trace.No, t.why)
			return
		}
		if t.here <= c.now {
			t.asked, t.unheard, t.heard = 0, 0, false
		}
		t.here = c.now + game.TraceLapse
		if told.Renamed {
			t.nameTraced(told.Entities)
			t.asked = 0
		}
	}
	if t.here != 0 && (told.Stop || t.here <= c.now) {
		t.here, t.stop = 0, true
		port.Set(trace.Off, "")
	}
	c.setTrace(t.here > c.now || t.server > c.now)
	if t.armed || t.stop {
		t.wake.Store(true)
	}
}

// untraceable returns the reason why there can be no trace. It is "" if there can be one.
func (c *Client) untraceable() string {
	switch {
	case c.cfg.Observe != nil:
		return "an observer predicts nothing"
	case c.cfg.NoPrediction:
		return "nothing is predicted: client.Config.NoPrediction is set"
	case c.p.OtherBuild:
		return "the server is another build of the game, whose systems are not known here"
	}
	return ""
}

// setTrace arms or ends the trace. Only an armed trace needs the schedule's hook.
func (c *Client) setTrace(on bool) {
	t, p := c.tracer, c.build
	switch {
	case on == t.armed:
	case on:
		if t.recorder == nil {
			t.recorder, t.steps.Index = trace.NewRecorder(t.port.Layout), p.SharedIndex()
		}
		t.armed, t.past = true, true
		p.Watch(true)
	default:
		t.armed = false
		p.Watch(false)
	}
}

// forgetRecords discards the records of another level or connection, because their names are out of
// date.
func (t *traceMember) forgetRecords() {
	if t.port == nil {
		return
	}
	t.port.Client.Clear()
	t.port.Server.Clear()
	t.sender.Clear()
	t.server, t.asked, t.heard, t.refused = 0, 0, false, 0
}

// nameTraced sets the entities that this program asks for.
func (t *traceMember) nameTraced(handles []uint64) {
	t.request, t.nobody = trace.Request{}, len(handles) > 0
	for _, h := range handles {
		if x, ok := t.traced(ecs.Entity(h)); ok {
			t.request.Names[t.request.N] = x.Name
			t.request.N++
			t.nobody = false
		}
	}
}

// traceMessage handles a message of a trace from the server.
func (c *Client) traceMessage(b []byte) error {
	t := c.tracer
	if len(b) == 0 {
		return trace.ErrMessage
	}
	switch b[0] {
	case trace.Ask:
		r, err := trace.ParseAsk(b)
		if err != nil {
			return err
		}
		if !t.asks.TakeOne(c.now, game.TraceAskRate, game.TraceAskBurst) {
			return trace.ErrMessage
		}
		if c.untraceable() != "" || c.view.State != Playing {
			return nil
		}
		if t.here <= c.now {
			t.request, t.nobody = r, false
		}
		t.server = c.now + game.TraceLapse
		t.wake.Store(true)
	case trace.Stop:
		t.server = 0
	case trace.Refused:
		if len(b) != 2 {
			return trace.ErrMessage
		}
		if t.here > 0 {
			t.here, t.refused, t.why = 0, c.now+traceRefused, refusal(b[1])
			t.port.Set(trace.No, t.why)
		}
	case trace.Piece:
		if t.here <= c.now {
			return nil // it was sent before the trace ended
		}
		t.heard = true
		t.port.Set(trace.Armed, "")
		return t.assembler.Add(b, t.port.Layout, &t.port.Server)
	default:
		return trace.ErrMessage
	}
	return nil
}

// refusal returns the reason of a server's refusal, in words.
func refusal(code byte) string {
	switch code {
	case trace.NotAllowed:
		return "the server does not allow it: see server.Config.AllowTrace"
	case trace.TooMany:
		return "the server has as many traces as it may: try again when another ended"
	}
	return "the server refused"
}

// writeTrace puts the messages of the trace into the packet that is being built.
func (t *traceMember) writeTrace(l *link, pk *netcode.Packet, settled foretick.Tick) {
	if t.stop && pk.Message(game.MessageTrace, []byte{trace.Stop}) {
		t.stop = false
	}
	if t.here > l.now && t.askDue(l.now) {
		t.scratch = trace.AppendAsk(t.scratch[:0], t.request.Names[:t.request.N])
		if pk.Message(game.MessageTrace, t.scratch) {
			t.asked = l.now
			t.unheard++
		}
		if t.heard {
			t.unheard = 0
		}
		if t.unheard > traceTries {
			t.here = 0
			t.port.Set(trace.No, "the server does not answer: it may be of a version without traces")
		}
	}
	if t.server > l.now {
		if t.scratch = t.sender.Append(t.scratch[:0], &t.port.Client, pk.Room(), settled); len(t.scratch) > 0 {
			pk.Message(game.MessageTrace, t.scratch)
		}
	}
}

// askDue reports whether the server has to be asked again.
func (t *traceMember) askDue(now time.Duration) bool {
	every := game.TraceRefresh
	if !t.heard {
		every = game.TraceRepeat
	}
	return t.asked == 0 || now-t.asked >= every
}

// beginTrace begins the record of a tick, before its systems run.
func (t *traceMember) beginTrace(tick foretick.Tick) {
	t.recording = true
	t.steps.BeginTick()
	t.recorder.Begin(tick)
	t.listTraced()
	t.takeTrace(trace.Start())
}

// endTrace completes the record.
func (t *traceMember) endTrace() {
	t.recording = false
	t.takeTrace(t.steps.DueStep())
	t.takeTrace(t.port.Layout.End())
	t.port.Client.Put(t.recorder.Record())
}

// traceSystem records the steps that are due before a system runs.
func (t *traceMember) traceSystem(system int) {
	after, before := t.steps.Before(system)
	t.takeTrace(after)
	t.takeTrace(before)
}

// listTraced adds the requested entities of the player that the record does not have yet.
func (t *traceMember) listTraced() {
	t.shape = ecs.Engine(t.world).Structure(t.view.Player)
	if t.nobody {
		return
	}
	var c game.Candidates
	for _, e := range t.predicted.entities() {
		if x, ok := t.traced(e); ok && t.request.Wants(x.Name) {
			c.Offer(x)
		}
	}
	c.AddTo(t.recorder)
}

// traced returns an entity in the form that a trace has it. It returns false if the player does not own
// and predict the entity.
func (t *traceMember) traced(e ecs.Entity) (x game.Candidate, ok bool) {
	id := t.p.Identity.Find(t.world, e)
	if id == nil || ecs.Engine(t.world).PartOf(e) != t.view.Player {
		return x, false
	}
	x = game.Candidate{Entity: e, Name: t.names.Net(uint64(e)), Prefab: int(id.Prefab), Audience: schema.ToOwner}
	if g := t.ghosts.receiver.Find(schema.WireID(id.Net)); g != nil && id.Net != 0 {
		x.Audience = g.Newest().Audience
	}
	return x, x.Name != 0
}

// takeTrace records the player's entities at a step. A step of −1 is none.
func (t *traceMember) takeTrace(step int) {
	if step < 0 {
		return
	}
	t.recorder.At(step)
	if step != trace.Start() && ecs.Engine(t.world).Structure(t.view.Player) != t.shape {
		t.listTraced()
	}
	for i := range t.recorder.Entities() {
		switch e := ecs.Entity(t.recorder.Handle(i)); {
		case e == 0:
		case ecs.Engine(t.world).PartOf(e) != t.view.Player:
			t.recorder.Gone(i)
		default:
			t.p.RecordEntity(t.world, t.recorder, i, t.names, step == trace.Start())
		}
	}
}

// retrace records ticks from before the trace was armed, by running them again from the client's
// history. A tick with another result now is not recorded, because the data of others that it read has
// changed since. While the server has not confirmed all spawns, no tick is run again.
func (tl *timeline) retrace() {
	t := tl.tracer
	t.past = false
	if !t.armed || !tl.predictor.Started() || tl.view.State != Playing || !tl.spawning.quietSpawns() {
		return
	}
	tl.runAgain(trace.RingTicks-1, func(k foretick.Tick, first *record) bool {
		_, other := tl.tester.diverged(k, first, tl.records.Find(k))
		if other {
			t.port.Client.Drop(k)
		}
		return !other
	})
}

const traceRefused = 3 * time.Second // how long a server that refused is not asked again
