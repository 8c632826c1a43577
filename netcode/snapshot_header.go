package netcode

import "math"

// SnapshotHeader is the first part of a MessageSnapshot's body.
type SnapshotHeader struct {
	// Bare means that the snapshot after the header contains its own tick, so
	// the header omits it. Tick is then 0, and CommandAck is relative to the
	// snapshot's tick, modulo 2³².
	Bare       bool
	Epoch      uint8 // epoch of the level; a client ignores snapshots of another level
	Tick       Tick  // the server tick of the snapshot
	Early      int16 // how early the client's commands arrived, 1/256 tick; see CommandBuffer.Early
	HasEarly   bool  // whether Early is known; false: no command arrived since the last snapshot, and Early is 0
	CommandAck Tick  // every command up to this tick has arrived or is past; after the snapshot's tick it has arrived, see CommandSender.Acked
	// Lost is how many quarters of a tick the server's clock skipped, until this tick, since
	// it last ran for some seconds without skipping any. 0: none.
	Lost uint32
}

const (
	headerEarly = 1 << iota
	headerBare
	headerEpoch // a bare header has an epoch, which is not 0
	headerLost  // the header has Lost, which is not 0
	headerAll   = headerEarly | headerBare | headerEpoch | headerLost
)

// Append appends the encoded h to dst; the snapshot follows.
func (h SnapshotHeader) Append(dst []byte) []byte {
	flags := byte(0)
	if h.HasEarly {
		flags |= headerEarly
	}
	if h.Bare {
		flags |= headerBare
		if h.Epoch != 0 {
			flags |= headerEpoch
		}
	}
	if h.Lost != 0 {
		flags |= headerLost
	}
	dst = append(dst, flags)
	if !h.Bare || h.Epoch != 0 {
		dst = append(dst, h.Epoch)
	}
	if !h.Bare {
		dst = le.AppendUint32(dst, h.Tick)
		dst = appendTickDelta(dst, h.CommandAck-h.Tick)
	} else {
		dst = appendTickDelta(dst, h.CommandAck)
	}
	if h.HasEarly {
		dst = le.AppendUint16(dst, uint16(h.Early))
	}
	if h.Lost != 0 {
		dst = appendVarint(dst, uint64(h.Lost))
	}
	return dst
}

// ParseSnapshotHeader decodes what Append wrote and returns the bytes after it.
// Error: ErrMalformed.
func ParseSnapshotHeader(b []byte) (h SnapshotHeader, rest []byte, err error) {
	if len(b) == 0 || b[0] > headerAll || b[0]&(headerBare|headerEpoch) == headerEpoch {
		return h, nil, errSnap
	}
	flags, b := b[0], b[1:]
	h.HasEarly, h.Bare = flags&headerEarly != 0, flags&headerBare != 0
	if !h.Bare || flags&headerEpoch != 0 {
		if len(b) == 0 || h.Bare && b[0] == 0 {
			return SnapshotHeader{}, nil, errSnap
		}
		h.Epoch, b = b[0], b[1:]
	}
	if !h.Bare {
		if len(b) < 4 {
			return SnapshotHeader{}, nil, errSnap
		}
		h.Tick, b = le.Uint32(b), b[4:]
	}
	d, rest, ok := readTickDelta(b)
	if !ok || h.HasEarly && len(rest) < 2 {
		return SnapshotHeader{}, nil, errSnap
	}
	h.CommandAck = h.Tick + d
	if h.HasEarly {
		h.Early, rest = int16(le.Uint16(rest)), rest[2:]
	}
	if flags&headerLost != 0 {
		lost, after, ok := readVarint(rest)
		if !ok || lost == 0 || lost > math.MaxUint32 {
			return SnapshotHeader{}, nil, errSnap
		}
		h.Lost, rest = uint32(lost), after
	}
	return h, rest, nil
}
