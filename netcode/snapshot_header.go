package netcode

// SnapshotHeader stands at the front of a MessageSnapshot's body.
type SnapshotHeader struct {
	Epoch      uint8 // of the level: snapshots of another one are ignored
	Tick       Tick  // the server's tick that the snapshot shows
	Early      int16 // how early the client's commands came, 1/256 tick; see CommandBuffer.Early
	HasEarly   bool  // false: no command came since the last snapshot, Early is 0
	CommandAck Tick  // every command up to this tick has come or is past
}

// Append writes h behind dst; the snapshot follows.
func (h SnapshotHeader) Append(dst []byte) []byte {
	flags := byte(0)
	if h.HasEarly {
		flags = 1
	}
	dst = append(dst, flags, h.Epoch)
	dst = le.AppendUint32(dst, h.Tick)
	dst = appendTickDelta(dst, h.CommandAck-h.Tick)
	if h.HasEarly {
		dst = le.AppendUint16(dst, uint16(h.Early))
	}
	return dst
}

// ParseSnapshotHeader reads what Append wrote and returns the bytes behind it.
// Error: ErrMalformed.
func ParseSnapshotHeader(b []byte) (h SnapshotHeader, rest []byte, err error) {
	if len(b) < 6 || b[0] > 1 {
		return h, nil, errSnap
	}
	h.HasEarly, h.Epoch, h.Tick = b[0] == 1, b[1], le.Uint32(b[2:])
	d, rest, ok := readTickDelta(b[6:])
	if !ok || h.HasEarly && len(rest) < 2 {
		return SnapshotHeader{}, nil, errSnap
	}
	h.CommandAck = h.Tick + d
	if h.HasEarly {
		h.Early, rest = int16(le.Uint16(rest)), rest[2:]
	}
	return h, rest, nil
}
