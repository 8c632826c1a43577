package foretick

import (
	"encoding/binary"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// told calls what a client's game is told of a tick: the level, its messages, what its player
// spawned, and the events of its player.
func (p *preview) told(t Tick) {
	f := &p.frame
	f.Tick = t
	for i := 0; i < len(p.seat.inbox); i++ {
		p.message(t, p.seat.inbox[i])
	}
	p.seat.inbox, p.seat.bytes = p.seat.inbox[:0], p.seat.bytes[:0]
	for _, s := range p.spawned {
		p.tellSpawn(s.cfg.OnPredicted, s.e)
		p.tellSpawn(s.cfg.OnConfirmed, s.e)
	}
	clear(p.spawned)
	p.spawned = p.spawned[:0]
	for _, q := range f.queues {
		q.show(f, t)
	}
	if p.level != p.server.level.epoch {
		p.enter()
	}
}

// enter tells the game of a level, as a client that enters it.
func (p *preview) enter() {
	p.level = p.server.level.epoch
	p.frame.Tick = p.server.level.tick
	for _, fn := range p.p.handlers.levels {
		fn(&p.frame, p.server.level.data)
	}
}

// message passes a message to the game.
func (p *preview) message(t Tick, m localMessage) {
	payload := p.seat.bytes[m.from:m.upto]
	if m.channel == standard.ChannelMain && m.kind == kindRefused {
		if p.cfg.OnRefused != nil {
			p.cfg.OnRefused(binary.LittleEndian.Uint32(payload), string(payload[4:]))
		}
		return
	}
	of := &p.p.Messages[m.kind]
	_ = p.p.handlers.messages[of.Own](of.Schema, &p.frame, t, payload) // it was packed by the same schema
}

// request queues a request of the player for the next tick.
func (p *preview) request(id int, v unsafe.Pointer) error {
	at := p.server.sessions.player(p.view.Player)
	switch r := &p.p.Requests[id-1]; {
	case at == nil || at.local != p.seat:
		return ErrNotIn
	case !p.allowance.take(p.now, requestRate, requestBurst):
		return ErrTooMany
	default:
		p.losses.sent(r.Name, r.Schema, v)
		p.packed = r.Schema.Pack(v, p.packed[:0])
		at.requests.add(uint8(r.Kind), p.packed)
		return nil
	}
}

// spawnedHere is an entity that a shared system spawned for the player.
type spawnedHere struct {
	e   ecs.Entity
	cfg *SpawnConfig
}

// spawn notes an entity that a shared system spawned.
func (p *preview) spawn(e ecs.Entity, owner PlayerID, prefab int) {
	if owner == p.view.Player && !p.p.Prefabs[prefab].ClientOnly() {
		p.spawned = append(p.spawned, spawnedHere{e, p.spawnConfig(prefab)})
	}
}

// shows reports whether a client of the player would predict the events of an entity: its
// own, and those of shared physics objects.
func (p *preview) shows(by ecs.Entity, owner PlayerID) bool {
	switch {
	case !p.server.sim.writes.sharedRuns():
		return false
	case owner == ecs.Nobody:
		k := p.p.prefabNamed(p.p.identity.Find(p.world, by))
		return k != nil && k.Common
	}
	return owner == p.view.Player
}

// previewEnd is what the frames of render systems and of a client's hooks ask in a preview.
type previewEnd struct{ p *preview }

func (previewEnd) spawnBy(_ ecs.Entity, k *ecs.Prefab) ecs.Entity {
	misuse("SpawnBy of prefab %q in a render system or a client's hook: spawn in a Shared or Server system", k.Name())
	return ecs.None
}

func (previewEnd) destroy(ecs.Entity) bool                   { return false }
func (previewEnd) teleport(ecs.Entity) bool                  { return false }
func (previewEnd) refuseSpawn(*ecs.Prefab)                   {}
func (previewEnd) beforeSystem(int)                          {}
func (previewEnd) afterSystem(int)                           {}
func (previewEnd) simulates(ecs.Entity) bool                 { return false }
func (previewEnd) again(Tick) bool                           { return true }
func (previewEnd) shownBefore(PlayerID) uint8                { return 0 }
func (previewEnd) drawsPartly(ecs.Rows, *schema.MaskBuilder) {}
func (previewEnd) anothers(ecs.Entity) bool                  { return true } // only ticks raise events
func (previewEnd) decoded()                                  {}
func (previewEnd) predictedSum() uint32                      { return 0 } // its handlers run in the only world

func (e previewEnd) prefabOf(of ecs.Entity) *ecs.Prefab { return e.p.server.prefabOf(of) }

func (e previewEnd) final() Tick { return e.p.server.final() }

// seen returns what the frame on the screen shows.
func (e previewEnd) seen(Tick) HitView {
	s, v := e.p.server, &e.p.view
	p := s.sessions.player(v.Player)
	if p == nil {
		return HitView{bare: len(s.p.Hitboxes) == 0}
	}
	t := s.sim.frame.Tick
	return s.hitView(p.shooter.ViewBehind(t+1, float32(t+1-v.RenderTick)-v.RenderFraction))
}

// Replay implements probe.Preview.
func (p *preview) Replay(t probe.Settled, fraction float32) {
	s := p.server
	if !p.begun {
		p.begun, p.epoch = true, time.Unix(0, 0)
		p.stepServer(0)
	}
	p.canvas.undraw()
	s.replay(&t)
	p.tick(t.Tick)
	p.now = s.clock.due(t.Tick) + time.Duration(float64(fraction)*float64(s.clock.interval))
	p.draw()
}

// StateHash implements probe.Preview.
func (p *preview) StateHash() uint64 {
	p.canvas.undraw()
	return p.server.Internals().StateHash()
}

// nowhere is the endpoint of a server without a network.
type nowhere struct{}

func (nowhere) Recv([]transport.Event) int                          { return 0 }
func (nowhere) Ready() <-chan struct{}                              { return nil }
func (nowhere) Send(transport.PeerID, []byte) error                 { return transport.ErrNoPeer }
func (nowhere) Flush()                                              {}
func (nowhere) Disconnect(transport.PeerID, transport.Code, string) {}
func (nowhere) Info(transport.PeerID, *transport.Info) bool         { return false }
func (nowhere) Close(transport.Code, string) error                  { return nil }
