package netcode

// Unread is the body of a MessageUnread: a client's report of a snapshot that it refused as
// malformed. A client sends at most one a second.
type Unread struct {
	Epoch uint8  // Epoch is that of the level that the snapshot was of.
	Wire  uint16 // wire id of the entity whose record was malformed; 0: not known
}

// Append appends the encoded u to dst.
func (u Unread) Append(dst []byte) []byte { return le.AppendUint16(append(dst, u.Epoch), u.Wire) }

// ParseUnread decodes what Append wrote. Error: ErrMalformed.
func ParseUnread(b []byte) (Unread, error) {
	if len(b) != 3 {
		return Unread{}, errUnread
	}
	return Unread{Epoch: b[0], Wire: le.Uint16(b[1:])}, nil
}
