package campaign

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
)

// Mutator creates packets that no peer would send, from packets that one did
// send. It knows the positions of a packet's numbers and messages, changes a
// few of them, and adds a correct checksum so that the receiver reads the
// packet. It is not safe for concurrent use.
type Mutator struct {
	// Tick is written into most snapshots and commands, plus 0 to 3 ticks:
	// receivers hardly read snapshots and commands for past ticks. 0 leaves
	// their ticks unchanged.
	Tick foretick.Tick

	rand   *rand.Rand
	corpus [][]byte // packets without their checksums
	spare  []piece
	other  []piece
	body   []byte
}

// piece is a message of a packet.
type piece struct {
	kind byte
	body []byte
}

// NewMutator returns a mutator without packets.
func NewMutator(seed, stream uint64) *Mutator {
	return &Mutator{rand: rand.New(rand.NewPCG(seed, stream))}
}

// Learn adds a packet to those that are mutated. Beyond 64 it drops the oldest.
func (u *Mutator) Learn(b []byte) {
	const most = 64
	if len(b) < headerLeast {
		return
	}
	if len(u.corpus) == most {
		old := u.corpus[0]
		copy(u.corpus, u.corpus[1:])
		u.corpus[most-1] = append(old[:0], b[sumBytes:]...)
		return
	}
	u.corpus = append(u.corpus, append([]byte{}, b[sumBytes:]...))
}

const (
	sumBytes    = 4
	headerLeast = sumBytes + 3
	flagAck     = 1 << 4
	longest     = 1200
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Packet appends a mutated packet to dst. number is the one that the receiver
// expects next; most packets get a number near it.
func (u *Mutator) Packet(dst []byte, number uint16) []byte {
	src := u.corpus[len(u.corpus)-1-u.low(len(u.corpus))]
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	head := header(src)
	dst = append(dst, src[:head]...)
	binary.LittleEndian.PutUint16(dst[at+sumBytes+1:], number)
	u.spare = split(u.spare[:0], src[head:])
	u.messages()
	for _, p := range u.spare {
		u.body = u.content(append(u.body[:0], p.body...))
		u.later(p.kind)
		dst = append(dst, p.kind)
		dst = binary.AppendUvarint(dst, u.length(len(u.body)))
		dst = append(dst, u.body...)
	}
	for u.rand.IntN(3) == 0 { // any byte, and often one of the header
		u.byteAt(dst[at+sumBytes+u.low(len(dst)-at-sumBytes):])
	}
	if len(dst)-at > longest {
		dst = dst[:at+longest]
	}
	var magic [8]byte
	sum := crc32.Update(crc32.Update(0, castagnoli, magic[:]), castagnoli, dst[at+sumBytes:])
	binary.LittleEndian.PutUint32(dst[at:], sum)
	return dst
}

// header returns the length of the header of a packet without checksum.
func header(b []byte) int {
	if b[0]&flagAck == 0 {
		return 3
	}
	return min(6+bits.OnesCount8(b[0]&0xf), len(b))
}

// low draws a number below n, with a preference for small ones.
func (u *Mutator) low(n int) int { return u.rand.IntN(u.rand.IntN(n) + 1) }

// split separates a packet's messages, as far as they are well formed.
func split(out []piece, b []byte) []piece {
	for len(b) > 1 {
		n, k := binary.Uvarint(b[1:])
		if k <= 0 || n > uint64(len(b)-1-k) {
			break
		}
		out = append(out, piece{b[0], b[1+k : 1+k+int(n)]})
		b = b[1+k+int(n):]
	}
	return out
}

// messages adds, removes and reorders messages.
func (u *Mutator) messages() {
	for u.rand.IntN(4) == 0 {
		n := len(u.spare)
		switch op := u.rand.IntN(5); {
		case op == 0: // one from another packet
			other := u.corpus[u.rand.IntN(len(u.corpus))]
			if u.other = split(u.other[:0], other[header(other):]); len(u.other) > 0 {
				u.spare = append(u.spare, u.other[u.rand.IntN(len(u.other))])
			}
		case n == 0:
			u.spare = append(u.spare, piece{kind: byte(u.rand.IntN(70))})
		case op == 1:
			u.spare = append(u.spare, u.spare[u.rand.IntN(n)]) // twice
		case op == 2:
			i := u.rand.IntN(n)
			u.spare = append(u.spare[:i], u.spare[i+1:]...)
		case op == 3:
			i, j := u.rand.IntN(n), u.rand.IntN(n)
			u.spare[i], u.spare[j] = u.spare[j], u.spare[i]
		default:
			u.spare[u.rand.IntN(n)].kind = byte(u.rand.IntN(70))
		}
	}
}

// length returns the length to write for a message: mostly the true one.
func (u *Mutator) length(n int) uint64 {
	switch u.rand.IntN(40) {
	case 0:
		return u.rand.Uint64() >> u.rand.IntN(64)
	case 1:
		return uint64(max(0, n+u.rand.IntN(3)-1))
	}
	return uint64(n)
}

// later sets the tick of a snapshot or of commands to Tick, or to a few ticks later.
func (u *Mutator) later(kind byte) {
	if u.Tick == 0 || u.rand.IntN(64) == 0 {
		return
	}
	t := u.Tick + uint32(u.low(4))
	switch netcode.MessageType(kind) {
	case netcode.MessageSnapshot: // 15 bits, if the highest is not set
		if _, rest, err := netcode.ParseSnapshotHeader(u.body); err == nil && len(rest) > 1 && rest[1] < 1<<7 {
			binary.LittleEndian.PutUint16(rest, uint16(t&(1<<15-1)))
		}
	case netcode.MessageCommands:
		if len(u.body) < 6 {
			return
		}
		at, bits := 3, 32
		if u.body[0]>>1&3 == 3 {
			at += 6 // the count takes more
		}
		if u.body[0]&1 == 1 {
			bits = 12 // there is a base
		}
		for i := range bits {
			b := &u.body[(at+i)/8]
			*b = *b&^(1<<((at+i)%8)) | byte(t>>i&1)<<((at+i)%8)
		}
	}
}

// content makes a few changes to a body.
func (u *Mutator) content(b []byte) []byte {
	for u.rand.IntN(2) == 0 && len(b) > 0 {
		switch i := u.rand.IntN(len(b)); u.rand.IntN(6) {
		case 0:
			u.byteAt(b[i:])
		case 1: // a number of two, four or eight bytes
			v := u.boundary()
			for k := range min(1<<(1+u.rand.IntN(3)), len(b)-i) {
				b[i+k] = byte(v >> (8 * k))
			}
		case 2:
			b = b[:i] // cut short
		case 3:
			for range u.rand.IntN(32) {
				b = append(b, byte(u.rand.Uint32()))
			}
		case 4: // repeat a run
			n := u.rand.IntN(len(b)-i) + 1
			copy(b[i:], b[u.rand.IntN(len(b)-n+1):][:n])
		default:
			b[i] ^= 1 << u.rand.IntN(8)
		}
	}
	return b
}

// byteAt changes the first byte of b.
func (u *Mutator) byteAt(b []byte) {
	if len(b) > 0 {
		b[0] = [...]byte{0, 1, 0x7f, 0x80, 0xff, b[0] + 1, b[0] - 1, byte(u.rand.Uint32())}[u.rand.IntN(8)]
	}
}

// boundary returns a number at which arithmetic may go wrong.
func (u *Mutator) boundary() uint64 {
	v := uint64(1) << u.rand.IntN(64)
	return v + [...]uint64{0, ^uint64(0), 1}[u.rand.IntN(3)]
}
