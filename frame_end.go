package foretick

import (
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// bothEnds is what a frame asks of the end that it belongs to.
type bothEnds interface {
	spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity
	destroy(e ecs.Entity) bool
	teleport(e ecs.Entity) bool
	beforeSystem(system int)
	afterSystem(system int)
	shownBefore(player PlayerID) uint8
	simulates(e ecs.Entity) bool
	prefabOf(e ecs.Entity) *ecs.Prefab
	final() Tick
}

// serverEnd is what a frame asks of a server.
type serverEnd interface {
	bothEnds
	spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity

	raised(by ecs.Entity, owner PlayerID, event int) (fate eventFate, shown bool)
	nestedTooDeep(events int)
	unheard(event string)
	mayRunAgain(owner PlayerID) (again, practice bool)
	finalFor(owner PlayerID) Tick
	contain(player PlayerID, handler string) // must be deferred directly
	readRequest(player PlayerID, payload []byte, fn func() error) (ok bool, err error)
	pack(message int, s *schema.Schema, at unsafe.Pointer) []byte
	sendMessage(to PlayerID, channel, kind uint8, payload []byte) error
	broadcast(channel, kind uint8, payload []byte) error
	beforeRows(rows ecs.Rows)
	afterRows(rows ecs.Rows)
	deferred() int
	afterChanges(first int, rows ecs.Rows)

	kickPlayer(player PlayerID, code transport.Code, text string) bool
	banPlayer(player PlayerID, until time.Time, text string) bool
	setVisible(player PlayerID, e ecs.Entity, visible bool) bool
	setTeam(player PlayerID, team uint8) bool
	setEntityTeam(e ecs.Entity, team uint8) bool
	setAudience(player PlayerID, e ecs.Entity, a schema.Audience, member bool) bool
	setPredicted(e ecs.Entity, on bool) bool
	setGroup(e, with ecs.Entity) bool
	setEye(player PlayerID, x, y, z float32) bool
	clearEye(player PlayerID) bool

	rewind(by PlayerID) HitView
	rewindBehind(by PlayerID, ticks float32) HitView
	present() HitView
	moment(t Tick) HitView
}

// clientEnd is what a frame asks of a client.
type clientEnd interface {
	bothEnds
	refuseSpawn(k *ecs.Prefab)
	again(t Tick) bool
	anothers(e ecs.Entity) bool
	drawsPartly(rows ecs.Rows, components *schema.MaskBuilder)
	decoded()
	seen(t Tick) HitView
	predictedSum() uint32
}
