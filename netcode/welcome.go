package netcode

// Welcome is the server's answer to a Hello it accepts, repeated until the
// client's next message shows that it came.
type Welcome struct {
	Owner            uint16   // who the client is; 0 is nobody
	TickRate         uint8    // ticks a second, not 0
	SnapshotInterval uint8    // ticks from one snapshot to the next, not 0
	Tick             Tick     // the server's tick when this was written
	Epoch            uint8    // of the level being played
	Resume           [16]byte // token to come back with
	CommandSize      uint16   // bytes of a packed command, as the server counts them
	// Taken is how many reliable messages of channel 0 the server took from the
	// client since Resume was first given, over all connections: see
	// [Conn.TakeOver].
	Taken uint32
	// Server tells the lives of servers apart: another number, another process.
	Server uint64
	// Resumed says that the client has the place that it had before. If not, Code and
	// Text say why the place of the Hello's token is gone, as far as the server knows.
	Resumed bool
	Code    uint16
	Text    string // at most MaxWelcomeText bytes
}

// MaxWelcomeText bounds the text in a Welcome, in bytes.
const MaxWelcomeText = 120

const welcomeSize = 2 + 1 + 1 + 4 + 1 + 16 + 2 + 4 + 8 + 1 + 2

// Append writes w behind dst. Text beyond MaxWelcomeText is cut.
func (w Welcome) Append(dst []byte) []byte {
	dst = le.AppendUint16(dst, w.Owner)
	dst = append(dst, w.TickRate, w.SnapshotInterval)
	dst = le.AppendUint32(dst, w.Tick)
	dst = append(dst, w.Epoch)
	dst = append(dst, w.Resume[:]...)
	dst = le.AppendUint16(dst, w.CommandSize)
	dst = le.AppendUint32(dst, w.Taken)
	dst = le.AppendUint64(dst, w.Server)
	resumed := byte(0)
	if w.Resumed {
		resumed = 1
	}
	dst = append(dst, resumed)
	dst = le.AppendUint16(dst, w.Code)
	return append(dst, w.Text[:min(len(w.Text), MaxWelcomeText)]...)
}

// ParseWelcome reads what Append wrote. Error: ErrMalformed, also for a rate or
// interval of 0.
func ParseWelcome(b []byte) (Welcome, error) {
	if len(b) < welcomeSize || len(b) > welcomeSize+MaxWelcomeText || b[2] == 0 || b[3] == 0 || b[39] > 1 {
		return Welcome{}, errWelcome
	}
	w := Welcome{
		Owner: le.Uint16(b), TickRate: b[2], SnapshotInterval: b[3],
		Tick: le.Uint32(b[4:]), Epoch: b[8], CommandSize: le.Uint16(b[25:]), Taken: le.Uint32(b[27:]),
		Server: le.Uint64(b[31:]), Resumed: b[39] == 1, Code: le.Uint16(b[40:]), Text: string(b[welcomeSize:]),
	}
	copy(w.Resume[:], b[9:25])
	return w, nil
}
