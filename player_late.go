package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/prediction"
)

// lateState is how far a tick's command has come.
type lateState uint8

const (
	settled lateState = iota // the tick has its command for good
	waits                    // it ran a replacement, and its own may still come
	came                     // it did: the tick is to run again
)

// playerLate is what a server needs to run a player's late commands in their own ticks: see
// ServerConfig.LateInputs.
type playerLate struct {
	history *ecs.History // the player's part at the end of each tick; the last slot is scratch
	ticks   []lateTick   // by tick
	barrier Tick         // no tick up to here runs again
	from    Tick         // the first tick to run again; 0: none
	tokens  int          // late commands that it may still have run, in lateShare-ths
	taken   float64      // with LateWorld: ticks that ran again for it, in about the last second
	outside bool         // something may have changed its part between two ticks
	shape   uint64       // the structure of its part at the newest save
	spawned []lateSpawn

	told     [toldTicks]Tick // ticks whose snapshots had the player's own entities
	withheld Tick            // the newest tick told; from then on they are withheld
}

// toldTicks is for how many ticks it is known whether own entities were told: longer than a
// packet and its acknowledgement can take.
const toldTicks = 512

// lateTick is one tick of a player.
type lateTick struct {
	tick    Tick
	state   lateState
	command unsafe.Pointer // that it ran with, as a component
	how     prediction.StandIn
	offset  uint8          // that the command stated
	shot    rewind.Command // with came
	used    float64        // the latest moment that the player had looked at by its end

	journal []lateWrite // what others did to the player's part, in order
	bytes   []byte
}

// lateWrite is a field that was set by no shared system of the player's own.
type lateWrite struct {
	system int // that set it; −1: before the systems
	e      ecs.Entity
	comp   int
	offset uintptr
	from   int // of the value, in bytes …
	size   uintptr
}

// lateSpawn is a predicted spawn: in every run of its tick it has the same handle and id.
type lateSpawn struct {
	ordinalKey
	n     uint16
	tick  Tick
	e     ecs.Entity
	net   uint32
	gone  Tick // since when it does not live; 0: it does
	first firstOrigin
}

// firstOrigin is the origin of a spawn in the first run of its tick.
type firstOrigin struct {
	known  bool
	origin uint32
}

// at returns a tick's slot, which may hold an earlier tick.
func (l *playerLate) at(t Tick) *lateTick { return &l.ticks[t%Tick(len(l.ticks))] }

// find returns a tick that can still run again, nil for any other.
func (l *playerLate) find(t Tick) *lateTick {
	if int32(t-l.barrier) <= 0 {
		return nil
	}
	if at := l.at(t); at.tick == t {
		return at
	}
	return nil
}

// slot returns where the end of a tick is saved.
func (l *playerLate) slot(t Tick) int { return int(t % Tick(len(l.ticks))) }

// scratch is the slot that is no tick's.
func (l *playerLate) scratch() int { return len(l.ticks) }

// begin makes room for tick t.
func (l *playerLate) begin(t Tick) *lateTick {
	at := l.at(t)
	at.tick, at.state, at.used = t, settled, -1
	at.journal, at.bytes = at.journal[:0], at.bytes[:0]
	return at
}

// firstWaiting returns the oldest tick before end that still waits, or end.
func (l *playerLate) firstWaiting(end Tick) Tick {
	for t := end - Tick(len(l.ticks)) + 1; t != end; t++ {
		if at := l.find(t); at != nil && at.state == waits {
			return t
		}
	}
	return end
}

// firstOpen returns the oldest tick before end that may still run again, or end.
func (l *playerLate) firstOpen(end Tick) Tick {
	for t := end - Tick(len(l.ticks)) + 1; t != end; t++ {
		if at := l.find(t); at != nil && at.state != settled {
			return t
		}
	}
	return end
}

// toldBy returns the newest tick up to acked whose snapshot had the player's own entities, 0
// for none that is known.
func (l *playerLate) toldBy(acked Tick) Tick {
	for t := acked; t != 0 && acked-t < toldTicks; t-- {
		if l.told[t%toldTicks] == t {
			return t
		}
	}
	return 0
}

// write adds what a system did to a field.
func (at *lateTick) write(w lateWrite, value unsafe.Pointer) {
	w.from = len(at.bytes)
	at.bytes = append(at.bytes, unsafe.Slice((*byte)(value), w.size)...)
	at.journal = append(at.journal, w)
}
