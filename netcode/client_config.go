package netcode

// ClientConfig is the body of a MessageReady: what a client requests when it
// starts to play and whenever its settings change. The server may grant less.
type ClientConfig struct {
	SnapshotRate uint8  // snapshots a second; 0: the server chooses
	Bytes        uint32 // maximum bytes of datagrams a second, for Conn.SetRate; 0: the server chooses
}

const clientConfigSize = 1 + 4

// Append appends the encoded c to dst.
func (c ClientConfig) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, c.SnapshotRate), c.Bytes)
}

// ParseClientConfig decodes what Append wrote. Error: ErrMalformed.
func ParseClientConfig(b []byte) (ClientConfig, error) {
	if len(b) != clientConfigSize {
		return ClientConfig{}, errConfig
	}
	return ClientConfig{SnapshotRate: b[0], Bytes: le.Uint32(b[1:])}, nil
}
