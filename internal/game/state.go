package game

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// State has the data that all frames of one end share, apart from their exported fields. It looks up once
// which optional interfaces its end has, and uses absent for the others. So a frame never asks which
// end it is on.
type State[F any] struct {
	World  *ecs.World
	Rate   int // ticks a second
	Queues []EventQueue[F]
	// Around are the hooks around each system, from outside to inside.
	Around []SystemHook
	Packer *Packer // nil on an end that sends no messages
	// Telling is true while handlers run that show an event, such as those of OnPredicted.
	Telling bool

	End        End
	Spawner    Spawner
	Viewer     Viewer
	Messenger  Messenger
	Members    Members
	Visibility Visibility
	Screen     ScreenEnd
	Handlers   HandlersEnd
	finals     Finals
	// Writes is nil if the end has none. It has no stand-in, because that would cost time in each call
	// of a system.
	Writes Writes
}

// NewState returns the state of frames that have no end yet.
func NewState[F any](w *ecs.World, rate int, queues []EventQueue[F]) *State[F] {
	s := &State[F]{World: w, Rate: rate, Queues: queues}
	s.Attach(absent{})
	return s
}

// Attach gives the frames their end.
func (s *State[F]) Attach(e End) {
	s.End = e
	s.Spawner, s.Viewer, s.Messenger = orAbsent[Spawner](e), orAbsent[Viewer](e), orAbsent[Messenger](e)
	s.Members, s.Visibility, s.Screen = orAbsent[Members](e), orAbsent[Visibility](e), orAbsent[ScreenEnd](e)
	s.Handlers, s.finals = orAbsent[HandlersEnd](e), orAbsent[Finals](e)
	s.Writes, _ = e.(Writes)
}

// orAbsent returns an end as an optional interface, or absent if the end lacks it.
func orAbsent[I any](e End) I {
	if does, ok := e.(I); ok {
		return does
	}
	return any(absent{}).(I)
}

// End is what a frame needs of every end. Systems, handlers and hooks call an end through it and the
// optional interfaces below.
type End interface {
	IsServer() bool
	Simulates(e ecs.Entity) bool
	PrefabOf(e ecs.Entity) *ecs.Prefab
	ShownBefore(player PlayerID) uint8
	Final() Tick
	// Raised records that an entity of an owner raised an event, and returns the event's fate.
	Raised(by ecs.Entity, owner PlayerID, event int) Fate
}

// Spawner makes and removes entities.
type Spawner interface {
	Spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity
	SpawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity
	Destroy(e ecs.Entity) bool
	Teleport(e ecs.Entity) bool
}

// Viewer knows what players saw.
type Viewer interface {
	Rewind(by PlayerID) Sight
	RewindBehind(by PlayerID, ticks float32) Sight
	Present() Sight
	Moment(t Tick) Sight
}

// Messenger sends messages to players.
type Messenger interface {
	SendMessage(to PlayerID, channel, kind uint8, payload []byte) error
	Broadcast(channel, kind uint8, payload []byte)
}

// Members decides who is in the match.
type Members interface {
	KickPlayer(player PlayerID, code transport.Code, reason string) bool
	BanPlayer(player PlayerID, until time.Time, reason string) bool
}

// Visibility decides what players receive.
type Visibility interface {
	SetVisible(player PlayerID, e ecs.Entity, visible bool) bool
	SetTeam(player PlayerID, team uint8) bool
	SetEntityTeam(e ecs.Entity, team uint8) bool
	SetAudience(player PlayerID, e ecs.Entity, a schema.Audience, member bool) bool
	SetGroup(e, with ecs.Entity) bool
	SetEye(player PlayerID, x, y, z float32) bool
	ClearEye(player PlayerID) bool
	SetPredicted(e ecs.Entity, on bool) bool
}

// ScreenEnd reports what a client draws, and hashes what it predicts.
type ScreenEnd interface {
	DrawsPartly(rows ecs.Rows, components *schema.MaskBuilder)
	Decoded()
	PredictedSum() uint32
}

// HandlersEnd calls handlers of events and requests.
type HandlersEnd interface {
	Contain(player PlayerID, handler string) // must be deferred directly
	NestedTooDeep(events int)
	Unheard(event string)
	ReadRequest(player PlayerID, payload []byte, fn func() error) (ok bool, err error)
}

// Finals returns which ticks of a player no late command can change.
type Finals interface {
	FinalFor(owner PlayerID) Tick
}

// Writes is called around a shared system's call for some rows.
type Writes interface {
	BeforeRows(rows ecs.Rows)
	AfterRows(rows ecs.Rows)
	// AfterChanges is called after a call of a system that may add and remove components. The world's
	// waiting commands from index first on are that call's.
	AfterChanges(first int, rows ecs.Rows)
}

// absent implements the optional interfaces that an end lacks.
type absent struct{}

func (absent) IsServer() bool                                               { return false }
func (absent) Simulates(ecs.Entity) bool                                    { return false }
func (absent) PrefabOf(ecs.Entity) *ecs.Prefab                              { return nil }
func (absent) ShownBefore(PlayerID) uint8                                   { return 0 }
func (absent) Final() Tick                                                  { return 0 }
func (absent) Raised(ecs.Entity, PlayerID, int) Fate                        { return 0 }
func (absent) Spawn(*ecs.Prefab, PlayerID) ecs.Entity                       { return ecs.None }
func (absent) SpawnBy(ecs.Entity, *ecs.Prefab) ecs.Entity                   { return ecs.None }
func (absent) Destroy(ecs.Entity) bool                                      { return false }
func (absent) Teleport(ecs.Entity) bool                                     { return false }
func (absent) Rewind(PlayerID) Sight                                        { return Sight{} }
func (absent) RewindBehind(PlayerID, float32) Sight                         { return Sight{} }
func (absent) Present() Sight                                               { return Sight{} }
func (absent) Moment(Tick) Sight                                            { return Sight{} }
func (absent) SendMessage(PlayerID, uint8, uint8, []byte) error             { return nil }
func (absent) Broadcast(uint8, uint8, []byte)                               {}
func (absent) KickPlayer(PlayerID, transport.Code, string) bool             { return false }
func (absent) BanPlayer(PlayerID, time.Time, string) bool                   { return false }
func (absent) SetVisible(PlayerID, ecs.Entity, bool) bool                   { return false }
func (absent) SetTeam(PlayerID, uint8) bool                                 { return false }
func (absent) SetEntityTeam(ecs.Entity, uint8) bool                         { return false }
func (absent) SetAudience(PlayerID, ecs.Entity, schema.Audience, bool) bool { return false }
func (absent) SetGroup(ecs.Entity, ecs.Entity) bool                         { return false }
func (absent) SetEye(PlayerID, float32, float32, float32) bool              { return false }
func (absent) ClearEye(PlayerID) bool                                       { return false }
func (absent) SetPredicted(ecs.Entity, bool) bool                           { return false }
func (absent) DrawsPartly(ecs.Rows, *schema.MaskBuilder)                    {}
func (absent) Decoded()                                                     {}
func (absent) PredictedSum() uint32                                         { return 0 }
func (absent) Contain(PlayerID, string)                                     {}
func (absent) NestedTooDeep(int)                                            {}
func (absent) Unheard(string)                                               {}
func (absent) FinalFor(PlayerID) Tick                                       { return 0 }
func (absent) ReadRequest(PlayerID, []byte, func() error) (bool, error)     { return false, nil }
