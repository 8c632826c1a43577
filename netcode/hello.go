package netcode

import "fmt"

// Version is the version of this wire format, sent in Hello.
const Version = 4

// MaxHelloData is the most bytes of game data in a Hello.
const MaxHelloData = 256

// Role is what a peer wants to be. A server refuses roles that it does not know.
type Role uint8

const (
	// RolePlay: a player.
	RolePlay Role = iota
	// RoleObserve: an observer, which receives snapshots and sends no commands.
	RoleObserve
)

// String returns "play" or "observe".
func (r Role) String() string {
	switch r {
	case RolePlay:
		return "play"
	case RoleObserve:
		return "observe"
	}
	return fmt.Sprintf("role %d", uint8(r))
}

// Hello is a client's first message. The client repeats it until the server
// replies.
type Hello struct {
	Version      uint8    // version of the wire format; see the constant Version
	Protocol     uint64   // hash of everything both ends must agree on
	Resume       [16]byte // token of an earlier Welcome; zero: a new player
	SnapshotRate uint8    // snapshots a second that the client asks for; 0: the server chooses
	Role         Role     // Role is what the client wants to be.
	Architecture string   // architecture that the client runs on, as in GOARCH; see MaxArchitecture. Empty: not stated
	Data         []byte   // the game's data, at most MaxHelloData bytes; aliases the message when parsed
	// Taken says, for each channel, how many reliable messages the client has
	// received in the session named by Resume, over all connections: see
	// [Conn.TakeOver]. Empty: not stated. At most MaxChannels.
	Taken []uint32
}

const helloSize = 1 + 8 + 16 + 1 + 1

// Append appends the encoded h to dst. It cuts Data to MaxHelloData bytes, Taken to
// MaxChannels numbers, and Architecture to the valid start of the name (see
// [MaxArchitecture]).
func (h Hello) Append(dst []byte) []byte {
	dst = append(dst, h.Version)
	dst = le.AppendUint64(dst, h.Protocol)
	dst = append(dst, h.Resume[:]...)
	dst = append(dst, h.SnapshotRate, byte(h.Role))
	dst = appendArchitecture(dst, h.Architecture)
	data := h.Data[:min(len(h.Data), MaxHelloData)]
	dst = appendVarint(dst, uint64(len(data)))
	dst = append(dst, data...)
	taken := h.Taken[:min(len(h.Taken), MaxChannels)]
	dst = append(dst, byte(len(taken)))
	for _, n := range taken {
		dst = le.AppendUint32(dst, n)
	}
	return dst
}

// ParseHello decodes what Append wrote. Error: ErrMalformed. The layout of
// another Version is not known: such a Hello has its Version and nothing else.
func ParseHello(b []byte) (Hello, error) {
	var h Hello
	if len(b) > 0 && b[0] != Version {
		return Hello{Version: b[0]}, nil
	}
	if len(b) < helloSize {
		return h, errHello
	}
	architecture, rest, ok := readArchitecture(b[helloSize:])
	if !ok {
		return h, errHello
	}
	n, rest, ok := readVarint(rest)
	if !ok || n > MaxHelloData || n >= uint64(len(rest)) {
		return h, errHello
	}
	taken := rest[n:]
	if taken[0] > MaxChannels || len(taken) != 1+4*int(taken[0]) {
		return h, errHello
	}
	h.Version, h.Protocol, h.SnapshotRate, h.Role, h.Architecture = b[0], le.Uint64(b[1:]), b[25], Role(b[26]), architecture
	copy(h.Resume[:], b[9:25])
	if n > 0 {
		h.Data = rest[:n]
	}
	for i := range int(taken[0]) {
		h.Taken = append(h.Taken, le.Uint32(taken[1+4*i:]))
	}
	return h, nil
}
