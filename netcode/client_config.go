package netcode

// ClientConfig is a MessageReady's body: what a client asks of the server, once
// it plays and whenever its wish changes. The server grants what it can afford.
type ClientConfig struct {
	SnapshotRate uint8  // snapshots a second; 0: the server's choice
	Bytes        uint32 // bytes a second of datagrams at most, for Conn.SetRate; 0: the server's choice
}

const clientConfigSize = 1 + 4

// Append writes c behind dst.
func (c ClientConfig) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, c.SnapshotRate), c.Bytes)
}

// ParseClientConfig reads what Append wrote. Error: ErrMalformed.
func ParseClientConfig(b []byte) (ClientConfig, error) {
	if len(b) != clientConfigSize {
		return ClientConfig{}, errConfig
	}
	return ClientConfig{SnapshotRate: b[0], Bytes: le.Uint32(b[1:])}, nil
}
