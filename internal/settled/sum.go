package settled

import (
	"crypto/sha256"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
)

// IsSumTick reports whether players send the sum of their world after a tick: once a second.
func IsSumTick(t netcode.Tick, rate uint8) bool { return t%netcode.Tick(rate) == 0 }

// SumOf returns the sum of the bytes of a world.
func SumOf(world []byte) uint64 {
	h := sha256.Sum256(world)
	return LE.Uint64(h[:])
}

// PersonOf returns what tells a player apart from others, without telling its token.
func PersonOf(token [16]byte) uint64 { return SumOf(token[:]) }

// Sum is the sum of a player's world after a settled tick.
type Sum struct {
	Tick netcode.Tick
	Sum  uint64
}

// Append appends the message to dst.
func (s Sum) Append(dst []byte) []byte { return LE.AppendUint64(LE.AppendUint32(dst, s.Tick), s.Sum) }

// ReadSum reads what Append wrote. Anything else is netcode.ErrMalformed.
func ReadSum(b []byte) (s Sum, err error) {
	c := Cursor{B: b}
	s.Tick, s.Sum = c.U32(), c.U64()
	return s, c.Err(true)
}

// Differ tells a player that its world and another one's differ.
type Differ struct {
	Tick   netcode.Tick
	Agreed netcode.Tick // Agreed is the newest tick before it at which all sums were equal. 0 means none.
	Other  ecs.Owner    // Other is the player whose world is another one.
	Theirs uint64       // Theirs is the sum of that world.
	Most   bool         // Most is true if most players have the sum of the player that is told.
}

// Append appends the message to dst.
func (d Differ) Append(dst []byte) []byte {
	most := byte(0)
	if d.Most {
		most = 1
	}
	dst = LE.AppendUint32(LE.AppendUint32(dst, d.Tick), d.Agreed)
	return append(LE.AppendUint64(dst, d.Theirs), byte(d.Other), most)
}

// ReadDiffer reads what Append wrote. Anything else is netcode.ErrMalformed.
func ReadDiffer(b []byte) (d Differ, err error) {
	c := Cursor{B: b}
	d.Tick, d.Agreed, d.Theirs, d.Other = c.U32(), c.U32(), c.U64(), ecs.Owner(c.U8())
	most := c.U8()
	d.Most = most == 1
	return d, c.Err(most <= 1 && d.Other >= 1 && d.Other <= MaxPlaces)
}
