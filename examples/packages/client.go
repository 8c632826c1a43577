package main

import (
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// Client is one player's end. It predicts the player's drone, and draws all others as the
// server had them a moment ago.
type Client struct {
	Pilot  Pilot // the player's drone, predicted
	Score  Score
	Others map[uint16]Body                  // where this frame draws the other players' drones
	Read   func(t netcode.Tick) Stick       // reads the player's input for a tick
	OnShot func(t netcode.Tick, hit uint16) // called for each shot; hit is the player that the beam hit on this screen, or 0
	Ticks  int                              // ticks predicted so far
	Wrong  int                              // how often the server's state differed from the prediction
	Closed bool                             // the connection to the server has ended

	net       transport.Endpoint
	peer      transport.PeerID
	conn      *netcode.Conn
	clock     *netcode.Clock
	receiver  *snapshot.Receiver
	commands  *netcode.CommandSender
	predictor *prediction.Predictor
	compared  netcode.Tick     // the newest tick that was compared with the server's
	screen    *lagcomp.History // the hitboxes as this client drew them
	frame     lagcomp.Tick     // the number of the last frame, for screen
}

// NewClient returns a client, which plays once its endpoint is connected.
func NewClient(net transport.Endpoint) *Client {
	c := &Client{
		net: net, Others: map[uint16]Body{}, conn: connection(),
		clock:    netcode.NewClock(netcode.ClockConfig{TickRate: rate, History: memory}),
		receiver: snapshot.NewReceiver(registry(), snapshot.ReceiverConfig{}),
		commands: netcode.NewCommandSender(stick.PackedSize(), netcode.CommandConfig{Fields: stick.PackedFields()}),
		screen:   must(lagcomp.NewHistory(rewinding)),
	}
	c.Pilot = Pilot{Inputs: prediction.NewHistory[Stick](2 * memory), Fired: c.shoot}
	c.predictor = must(prediction.NewPredictor(prediction.Config{History: memory}, &c.Pilot))
	return c
}

// Step runs one frame. Draw Pilot and Others after it.
func (c *Client) Step(now time.Duration) {
	each(c.net, func(ev transport.Event) { c.handle(now, ev) })
	for f, ok := c.conn.NextFate(); ok; f, ok = c.conn.NextFate() {
		c.commands.Fate(f.Delivered)
	}
	if c.Closed = c.Closed || c.conn.Silent(now) > silence; c.Closed || c.peer == 0 {
		return
	}
	at := c.clock.Advance(now)
	if at.Started && c.Pilot.Server != nil {
		c.draw(at)
		c.predict(at)
	}
	if at.Started && at.Ticks == 0 {
		return // one packet a tick is enough
	}
	p := c.conn.Begin(now)
	if b := c.commands.Append(nil, p.Room()); len(b) > 0 {
		p.Message(netcode.MessageCommands, b)
	}
	_, b := p.Finish()
	_ = c.net.Send(c.peer, b) // a failed send counts as lost
	c.net.Flush()
}

func (c *Client) handle(now time.Duration, ev transport.Event) {
	switch {
	case ev.Kind == transport.Connected:
		c.peer = ev.Peer
	case ev.Kind == transport.Disconnected:
		c.Closed = true
	case ev.Kind == transport.Data && c.conn.Receive(now, ev.Data) == nil:
		for m, ok := c.conn.NextMessage(); ok; m, ok = c.conn.NextMessage() {
			if m.Type == netcode.MessageSnapshot {
				c.readSnapshot(now, m.Body)
			}
		}
	}
}

// readSnapshot reads the server's state of a tick, and compares it with the prediction.
func (c *Client) readSnapshot(now time.Duration, b []byte) {
	head, rest, err := netcode.ParseSnapshotHeader(b)
	if err != nil {
		return
	}
	t, err := c.receiver.Read(rest)
	if err != nil {
		c.conn.Refuse() // then it is not acknowledged, and nothing is sent as a difference from it
		return
	}
	c.commands.Acked(t+head.CommandAck, int32(head.CommandAck) > 0) // a tick that the server has yet to run arrived, an earlier one may be past
	c.clock.SetLoss(c.conn.LossIn())
	c.clock.Snapshot(now, t, head.Early, head.HasEarly, c.conn.RTT(), head.Lost)
	for _, ch := range c.receiver.Changes() {
		if ch.Ghost.Mine {
			c.Pilot.Server = ch.Ghost
			score.Dequantise(ch.Ghost.Newest().Component(scoreID), schema.GridPublic, nil, unsafe.Pointer(&c.Score))
		}
	}
	if c.predictor.Started() && t > c.compared { // snapshots may overtake one another
		c.compared = t
		if c.predictor.Reconcile(t, &c.Pilot).Verdict == prediction.Different {
			c.Wrong++
		}
	}
}

// draw sets where the others are drawn: where they were at the render time, between two snapshots.
func (c *Client) draw(at netcode.Time) {
	clear(c.Others)
	c.frame++
	c.screen.Begin(c.frame)
	for _, g := range c.receiver.Ghosts() {
		a, b, f, ok := g.Sample(at.Render, at.RenderFraction)
		if ok && !g.Mine {
			var drawn Body
			knots := schema.Between(schema.Keyframe{}, a.Keyframe(bodyID), b.Keyframe(bodyID), f, rate)
			body.Interpolate(a.Audience, knots, a.Grid(bodyID), nil, unsafe.Pointer(&drawn))
			c.Others[g.Owner] = drawn
			c.screen.Put(lagcomp.ID(g.Wire), uint32(g.Owner), 0, hitbox(drawn))
		}
	}
	c.screen.End()
	gone := func(g *snapshot.Ghost) bool { return g.Gone > 0 && g.Gone <= at.Render }
	if i := slices.IndexFunc(c.receiver.Ghosts(), gone); i >= 0 { // one a frame is enough
		c.receiver.Release(c.receiver.Ghosts()[i])
	}
}

// predict makes the commands that are due, and runs the ticks up to the predicted one.
func (c *Client) predict(at netcode.Time) {
	if !c.predictor.Started() || at.Reset {
		newest := c.Pilot.Server.Newest()
		c.Pilot.take(newest)
		c.predictor.Start(newest.Tick)
	}
	for t := at.Command - netcode.Tick(at.Commands) + 1; t <= at.Command; t++ {
		in := c.Pilot.Inputs.Put(t)
		*in = c.Read(t)
		packed := stick.Pack(unsafe.Pointer(in), nil)
		must(0, stick.Unpack(packed, unsafe.Pointer(in))) // predict with what the server will read
		c.commands.Push(netcode.Command{Tick: t, Render: at.Render, Fraction: uint8(at.RenderFraction * 256), Data: packed})
	}
	for c.predictor.Tick() < at.Predicted {
		c.predictor.Advance()
		c.Ticks++
	}
}

// shoot finds what a beam hits on this screen.
func (c *Client) shoot(t netcode.Tick, in Stick) {
	hit, _ := c.screen.At(c.frame, 0).Raycast(beam(c.Pilot.Body, in), lagcomp.Filter{})
	if c.OnShot != nil {
		c.OnShot(t, uint16(hit.Owner))
	}
}
