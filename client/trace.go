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

// traceMember is the trace that a client takes part in: the program's own, or one that the
// server asked for.
type traceMember struct {
	*base
	ghosts    *ghosts
	predicted *predicted
	names     *recordNames

	wake atomic.Bool // wake is true if somebody asks for something, or the trace is armed.

	mu   sync.Mutex
	port *trace.Port // port is nil until the first.

	recorder  *trace.Recorder // recorder is nil if the trace was never armed.
	armed     bool
	recording bool // recording is true while a tick runs whose systems are watched.
	past      bool // past is true if the ticks before are still to be run again.
	steps     game.TraceSteps
	// shape is the structure of the player's part when its entities were listed.
	shape   uint64
	request trace.Request
	nobody  bool // nobody is true if entities are asked for that the player does not own.

	here   time.Duration // here is until when this program looks. 0 means that it does not.
	server time.Duration // server is until when the server looks. 0 means that it does not.

	sender    trace.Sender    // sender sends the client's records to the server.
	assembler trace.Assembler // assembler takes the server's records.
	asked     time.Duration   // asked is when the server was last asked.
	unheard   int             // unheard is how often the server was asked without an answer.
	heard     bool            // heard is true once the server answered.
	refused   time.Duration   // refused is until when the server is not asked again, because it refused.
	why       string          // why is the reason of the server's refusal.
	stop      bool            // stop is true if the server is to be told to stop.
	asks      game.Allowance  // asks limits the server's Asks.
	scratch   []byte
}

// traceTries is how often a server is asked that does not answer.
const traceTries = 12

// Trace returns the port of the client's trace. Any goroutine may call it.
func (in internals) Trace() *trace.Port { return in.c.tracePort() }

func (c *Client) tracePort() *trace.Port {
	t := c.tracer
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.port == nil {
		t.port = trace.NewPort(c.build.TraceLayout(), &t.wake)
	}
	return t.port
}

// pollTrace reads what was asked of the port, and arms or ends the trace.
func (c *Client) pollTrace() {
	t := c.tracer
	t.wake.Store(false) // what is asked from here on is for the next Step
	port := c.tracePort()
	told := port.Poll()
	if told.Looked {
		if why := c.untraceable(); why != "" {
			port.Set(trace.No, why)
			return
		}
		if t.refused > c.now { // whoever looks again and again would be an offender
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

// untraceable returns why there can be no trace, "" if there can be one.
func (c *Client) untraceable() string {
	switch {
	case c.cfg.Observe:
		return "an observer predicts nothing"
	case c.cfg.NoPrediction:
		return "nothing is predicted: client.Config.NoPrediction is set"
	case c.p.OtherBuild:
		return "the server is another build of the game, whose systems are not known here"
	}
	return ""
}

// setTrace arms or ends the trace. Only an armed one needs the schedule's hook.
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

// forgetRecords drops the records of another level or connection, whose names are not those of now.
func (t *traceMember) forgetRecords() {
	if t.port == nil {
		return
	}
	t.port.Client.Clear()
	t.port.Server.Clear()
	t.sender.Clear()
	t.server, t.asked, t.heard, t.refused = 0, 0, false, 0
}

// nameTraced takes the entities that this program asks for.
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

// traceMessage reads a trace's message from the server.
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
			return nil // it was on its way
		}
		t.heard = true
		t.port.Set(trace.Armed, "")
		return t.assembler.Add(b, t.port.Layout, &t.port.Server)
	default:
		return trace.ErrMessage
	}
	return nil
}

// refusal says why a server refused.
func refusal(code byte) string {
	switch code {
	case trace.NotAllowed:
		return "the server does not allow it: see server.Config.AllowTrace"
	case trace.TooMany:
		return "the server has as many traces as it may: try again when another ended"
	}
	return "the server refused"
}

// writeTrace puts what the trace has to say into the packet that is being built.
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

// askDue reports whether the server is to be asked again.
func (t *traceMember) askDue(now time.Duration) bool {
	every := game.TraceRefresh
	if !t.heard {
		every = game.TraceRepeat
	}
	return t.asked == 0 || now-t.asked >= every
}

// beginTrace begins the record of a tick, whose systems are about to run.
func (t *traceMember) beginTrace(tick foretick.Tick) {
	t.recording = true
	t.steps.BeginTick()
	t.recorder.Begin(tick)
	t.listTraced()
	t.takeTrace(trace.Start())
}

// endTrace completes it.
func (t *traceMember) endTrace() {
	t.recording = false
	t.takeTrace(t.steps.DueStep())
	t.takeTrace(t.port.Layout.End())
	t.port.Client.Put(t.recorder.Record())
}

// traceSystem records what is to be recorded before a system.
func (t *traceMember) traceSystem(system int) {
	after, before := t.steps.Before(system)
	t.takeTrace(after)
	t.takeTrace(before)
}

// listTraced adds the player's entities that are asked for and not in the record yet.
func (t *traceMember) listTraced() {
	t.shape = t.world.Structure(t.view.Player)
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

// traced returns an entity as a trace has it. It returns false for one that the player does
// not own and predict.
func (t *traceMember) traced(e ecs.Entity) (x game.Candidate, ok bool) {
	id := t.p.Identity.Find(t.world, e)
	if id == nil || t.world.PartOf(e) != t.view.Player {
		return x, false
	}
	x = game.Candidate{Entity: e, Name: t.names.Net(uint64(e)), Prefab: int(id.Prefab), Audience: schema.ToOwner}
	if g := t.ghosts.receiver.Find(schema.WireID(id.Net)); g != nil && id.Net != 0 {
		x.Audience = g.Newest().Audience
	}
	return x, x.Name != 0
}

// takeTrace records the player's entities at a step, −1 for none.
func (t *traceMember) takeTrace(step int) {
	if step < 0 {
		return
	}
	t.recorder.At(step)
	if step != trace.Start() && t.world.Structure(t.view.Player) != t.shape {
		t.listTraced()
	}
	for i := range t.recorder.Entities() {
		switch e := ecs.Entity(t.recorder.Handle(i)); {
		case e == 0:
		case t.world.PartOf(e) != t.view.Player:
			t.recorder.Gone(i)
		default:
			t.p.RecordEntity(t.world, t.recorder, i, t.names, step == trace.Start())
		}
	}
}

// retrace records ticks of before the trace was armed, by running them again from the
// client's history. A tick whose result is another one now stays unrecorded: what it read of
// others changed since. With spawns that the server has not confirmed nothing is run again.
func (tl *timeline) retrace() {
	t := tl.tracer
	t.past = false
	if !t.armed || !tl.predictor.Started() || tl.view.State != Playing || !tl.spawning.settledSpawns() {
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

const traceRefused = 3 * time.Second // between two that are refused
