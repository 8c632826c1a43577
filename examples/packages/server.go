package main

import (
	"maps"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// Drone is an entity in the server's world.
type Drone struct {
	Body
	Score
}

// Server has the authoritative world: drones in a map, by their player's number.
type Server struct {
	Drones  map[uint16]*Drone
	Tick    netcode.Tick                                    // the last tick that ran
	Present bool                                            // it judges shots in the present, to show what judging in the past is for
	OnShot  func(player uint16, t netcode.Tick, hit uint16) // called for each shot; hit is the player that was hit, or 0

	net    transport.Endpoint
	guests map[transport.PeerID]*guest
	joined uint16 // how many players have ever joined
	source *snapshot.Source
	past   *lagcomp.History // the hitboxes of the newest ticks
}

// guest is the server's end of one player's connection.
type guest struct {
	player   uint16
	conn     *netcode.Conn
	commands *netcode.CommandBuffer
	last     Stick // the last command
	sender   *snapshot.Sender
	sent     map[netcode.Seq]*snapshot.Sent // by packet, until its fate is known
	acked    netcode.Tick                   // the newest snapshot that the client has
	judge    *lagcomp.Judge                 // decides how far in the past the player's shots are judged
}

var rewinding = lagcomp.Config{TickRate: rate}

// NewServer returns a server that has no players yet.
func NewServer(net transport.Endpoint) *Server {
	return &Server{
		net: net, Drones: map[uint16]*Drone{}, guests: map[transport.PeerID]*guest{},
		source: snapshot.NewSource(registry(), snapshot.SourceConfig{}), past: must(lagcomp.NewHistory(rewinding)),
	}
}

// Step runs one tick. Call it every tickTime.
func (s *Server) Step(now time.Duration) {
	each(s.net, func(ev transport.Event) { s.handle(now, ev) })
	s.Tick++
	peers := slices.Sorted(maps.Keys(s.guests)) // the order of a map would differ from run to run
	for _, peer := range peers {
		if g := s.guests[peer]; g.conn.Silent(now) > silence {
			s.net.Disconnect(peer, transport.Timeout, "")
			s.remove(peer)
		} else {
			s.play(g)
		}
	}
	s.record()
	for _, peer := range peers {
		if g := s.guests[peer]; g != nil {
			_ = s.net.Send(peer, s.packet(now, g)) // a failed send counts as lost, and the protocol handles that
		}
	}
	s.net.Flush()
}

func (s *Server) handle(now time.Duration, ev transport.Event) {
	switch g := s.guests[ev.Peer]; {
	case ev.Kind == transport.Connected:
		s.joined++
		s.guests[ev.Peer] = &guest{
			player: s.joined, conn: connection(), commands: netcode.NewCommandBuffer(stick.PackedSize(), memory, stick.PackedFields()...),
			sender: s.source.NewSender(s.joined, snapshot.SenderConfig{}), sent: map[netcode.Seq]*snapshot.Sent{}, judge: lagcomp.NewJudge(rewinding),
		}
		s.Drones[s.joined] = &Drone{Body: Body{X: float32(s.joined%8)*5 - 20}}
	case g == nil:
	case ev.Kind == transport.Disconnected:
		s.remove(ev.Peer)
	case ev.Kind == transport.Data && g.conn.Receive(now, ev.Data) == nil:
		for m, ok := g.conn.NextMessage(); ok; m, ok = g.conn.NextMessage() {
			if m.Type == netcode.MessageCommands {
				_ = g.commands.Read(m.Body, float64(s.Tick+1)) // in time for the tick that runs next
			}
		}
	}
}

func (s *Server) remove(peer transport.PeerID) {
	g := s.guests[peer]
	g.sender.Close()
	delete(s.Drones, g.player)
	delete(s.guests, peer)
}

// play runs a player's command for the tick. If none arrived, it runs the player's last one again,
// without the shot.
func (s *Server) play(g *guest) {
	s.settle(g)
	me, measured := s.Drones[g.player], lagcomp.Measured{Now: s.Tick, Newest: g.acked, RTT: g.conn.MeasuredRTT(), Interpolation: 150 * time.Millisecond}
	g.judge.Observe(measured)
	c, ok := g.commands.Take(s.Tick)
	if !ok || stick.Unpack(c.Data, unsafe.Pointer(&g.last)) != nil {
		stick.ClearMomentary(unsafe.Pointer(&g.last))
	}
	fly(&me.Body, g.last)
	if !g.last.Fire {
		return
	}
	measured.Dwell = time.Duration(c.Early) * tickTime / 256
	at, _ := g.judge.Allow(lagcomp.Claim{Tick: c.Render, Fraction: float32(c.Fraction) / 256}, measured)
	if s.Present {
		at = lagcomp.Claim{Tick: s.Tick}
	}
	me.Shots++
	hit, ok := s.past.At(at.Tick, at.Fraction).Raycast(beam(me.Body, g.last), lagcomp.Filter{ExcludeOwner: uint32(g.player)})
	if target := s.Drones[uint16(hit.Owner)]; ok && target != nil { // the player may have left since
		me.Hits++
		target.VX -= float32(hit.Normal.X * 1.5) // a push, which the target's client cannot predict
		target.VY -= float32(hit.Normal.Y * 1.5)
		body.Snap(unsafe.Pointer(&target.Body))
	}
	if s.OnShot != nil {
		s.OnShot(g.player, s.Tick, uint16(hit.Owner))
	}
}

// settle passes the fates of a guest's packets to its sender: later snapshots are encoded as the
// difference from those that arrived.
func (s *Server) settle(g *guest) {
	for f, ok := g.conn.NextFate(); ok; f, ok = g.conn.NextFate() {
		sent := g.sent[f.Seq]
		delete(g.sent, f.Seq)
		switch {
		case sent == nil:
		case f.Delivered:
			g.acked = max(g.acked, sent.Tick())
			g.sender.Delivered(sent)
		default:
			g.sender.Lost(sent)
		}
	}
}

// record passes the tick's state to the snapshots and to the history of hitboxes.
func (s *Server) record() {
	s.source.Begin(s.Tick)
	s.past.Begin(s.Tick)
	for _, player := range slices.Sorted(maps.Keys(s.Drones)) {
		d := s.Drones[player]
		s.source.Put(snapshot.NetID(player), drone, player, droneHas, []unsafe.Pointer{unsafe.Pointer(&d.Body), unsafe.Pointer(&d.Score)}, nil)
		s.past.Put(lagcomp.ID(player), uint32(player), 0, hitbox(d.Body))
	}
	s.source.End()
	s.past.End()
}

// packet returns a player's packet for the tick.
func (s *Server) packet(now time.Duration, g *guest) []byte {
	p := g.conn.Begin(now)
	s.settle(g) // Begin may have decided fates too
	early, has := g.commands.Early()
	head := netcode.SnapshotHeader{Bare: true, Early: early, HasEarly: has, CommandAck: g.commands.Ack() - s.Tick}.Append(nil)
	sent := &snapshot.Sent{}
	snap := g.sender.Append(head, p.Room()-len(head), sent)
	ok := len(snap) > len(head) && p.Message(netcode.MessageSnapshot, snap)
	seq, b := p.Finish()
	if ok {
		g.sent[seq] = sent
	} else if sent.Len() > 0 {
		g.sender.Lost(sent)
	}
	return b
}

// each calls fn for each event that net has.
func each(net transport.Endpoint, fn func(transport.Event)) {
	var events [32]transport.Event
	for {
		n := net.Recv(events[:])
		for _, ev := range events[:n] {
			fn(ev)
		}
		if n < len(events) {
			return
		}
	}
}
