package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// frameState is what frames of one end have in common, apart from their exported fields. It
// looks once for what its end can do, and has a stand-in for the rest. So a frame never asks
// which end it is on.
type frameState struct {
	world  *ecs.World
	rate   int // ticks a second
	queues []eventQueue
	around []systemHook // around each system, from outside to inside
	packer *packer      // nil on an end that sends no messages

	end        end
	spawner    spawner
	viewer     viewer
	messenger  messenger
	members    members
	visibility visibility
	screen     screenEnd
	handlers   handlersEnd
	finals     finals
	writes     writes // nil if the end has none: a stand-in would cost each call of a system
}

func newFrameState(w *ecs.World, rate int, queues []eventQueue) *frameState {
	s := &frameState{world: w, rate: rate, queues: queues}
	s.attach(absent{})
	return s
}

// attach gives the frames their end.
func (s *frameState) attach(e end) {
	s.end = e
	s.spawner, s.viewer, s.messenger = orAbsent[spawner](e), orAbsent[viewer](e), orAbsent[messenger](e)
	s.members, s.visibility, s.screen = orAbsent[members](e), orAbsent[visibility](e), orAbsent[screenEnd](e)
	s.handlers, s.finals = orAbsent[handlersEnd](e), orAbsent[finals](e)
	s.writes, _ = e.(writes)
}

// orAbsent returns what an end does of an optional interface, or a stand-in.
func orAbsent[I any](e end) I {
	if does, ok := e.(I); ok {
		return does
	}
	return any(absent{}).(I)
}

// bare is the state of a frame that belongs to no end, as a game's tests make it.
var bare = newFrameState(nil, 1, nil)

// in returns the frame's state.
func (f *Frame) in() *frameState {
	if f.state == nil {
		return bare
	}
	return f.state
}

// end is what a frame asks of every end. Systems, handlers and hooks reach an end through it
// and the optional interfaces below.
type end interface {
	isServer() bool
	simulates(e ecs.Entity) bool
	prefabOf(e ecs.Entity) *ecs.Prefab
	shownBefore(player PlayerID) uint8
	final() Tick
	// raised notes that an entity of an owner raised an event, and returns what becomes of it.
	raised(by ecs.Entity, owner PlayerID, event int) eventFate
}

// spawner makes and removes entities.
type spawner interface {
	spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity
	spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity
	destroy(e ecs.Entity) bool
	teleport(e ecs.Entity) bool
}

// viewer knows what players saw.
type viewer interface {
	rewind(by PlayerID) HitView
	rewindBehind(by PlayerID, ticks float32) HitView
	present() HitView
	moment(t Tick) HitView
}

// messenger sends messages to players.
type messenger interface {
	sendMessage(to PlayerID, channel, kind uint8, payload []byte) error
	broadcast(channel, kind uint8, payload []byte) error
}

// members decides who is in the match.
type members interface {
	kickPlayer(player PlayerID, code transport.Code, text string) bool
	banPlayer(player PlayerID, until time.Time, text string) bool
}

// visibility decides what players are sent.
type visibility interface {
	setVisible(player PlayerID, e ecs.Entity, visible bool) bool
	setTeam(player PlayerID, team uint8) bool
	setEntityTeam(e ecs.Entity, team uint8) bool
	setAudience(player PlayerID, e ecs.Entity, a schema.Audience, member bool) bool
	setGroup(e, with ecs.Entity) bool
	setEye(player PlayerID, x, y, z float32) bool
	clearEye(player PlayerID) bool
	setPredicted(e ecs.Entity, on bool) bool
}

// screenEnd draws, and calls what plays sounds and effects.
type screenEnd interface {
	drawsPartly(rows ecs.Rows, components *schema.MaskBuilder)
	decoded()
	predictedSum() uint32
}

// handlersEnd calls handlers of events and requests.
type handlersEnd interface {
	contain(player PlayerID, handler string) // must be deferred directly
	nestedTooDeep(events int)
	unheard(event string)
	readRequest(player PlayerID, payload []byte, fn func() error) (ok bool, err error)
}

// finals knows which ticks of a player nothing can change any more.
type finals interface {
	finalFor(owner PlayerID) Tick
}

// writes is around a shared system's call for some rows.
type writes interface {
	beforeRows(rows ecs.Rows)
	afterRows(rows ecs.Rows)
	// afterChanges follows a call of a system that may add and remove components. The world's
	// waiting commands from first on are its own.
	afterChanges(first int, rows ecs.Rows)
}

// absent stands in for what an end does not do.
type absent struct{}

func (absent) isServer() bool                                               { return false }
func (absent) simulates(ecs.Entity) bool                                    { return false }
func (absent) prefabOf(ecs.Entity) *ecs.Prefab                              { return nil }
func (absent) shownBefore(PlayerID) uint8                                   { return 0 }
func (absent) final() Tick                                                  { return 0 }
func (absent) raised(ecs.Entity, PlayerID, int) eventFate                   { return 0 }
func (absent) spawn(*ecs.Prefab, PlayerID) ecs.Entity                       { return ecs.None }
func (absent) spawnBy(ecs.Entity, *ecs.Prefab) ecs.Entity                   { return ecs.None }
func (absent) destroy(ecs.Entity) bool                                      { return false }
func (absent) teleport(ecs.Entity) bool                                     { return false }
func (absent) rewind(PlayerID) HitView                                      { return HitView{} }
func (absent) rewindBehind(PlayerID, float32) HitView                       { return HitView{} }
func (absent) present() HitView                                             { return HitView{} }
func (absent) moment(Tick) HitView                                          { return HitView{} }
func (absent) sendMessage(PlayerID, uint8, uint8, []byte) error             { return nil }
func (absent) broadcast(uint8, uint8, []byte) error                         { return nil }
func (absent) kickPlayer(PlayerID, transport.Code, string) bool             { return false }
func (absent) banPlayer(PlayerID, time.Time, string) bool                   { return false }
func (absent) setVisible(PlayerID, ecs.Entity, bool) bool                   { return false }
func (absent) setTeam(PlayerID, uint8) bool                                 { return false }
func (absent) setEntityTeam(ecs.Entity, uint8) bool                         { return false }
func (absent) setAudience(PlayerID, ecs.Entity, schema.Audience, bool) bool { return false }
func (absent) setGroup(ecs.Entity, ecs.Entity) bool                         { return false }
func (absent) setEye(PlayerID, float32, float32, float32) bool              { return false }
func (absent) clearEye(PlayerID) bool                                       { return false }
func (absent) setPredicted(ecs.Entity, bool) bool                           { return false }
func (absent) drawsPartly(ecs.Rows, *schema.MaskBuilder)                    {}
func (absent) decoded()                                                     {}
func (absent) predictedSum() uint32                                         { return 0 }
func (absent) contain(PlayerID, string)                                     {}
func (absent) nestedTooDeep(int)                                            {}
func (absent) unheard(string)                                               {}
func (absent) finalFor(PlayerID) Tick                                       { return 0 }
func (absent) readRequest(PlayerID, []byte, func() error) (bool, error)     { return false, nil }
