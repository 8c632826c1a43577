package netcode

// Welcome is the server's reply to a Hello that it accepts. The server repeats
// it until the client's next message shows that it arrived.
type Welcome struct {
	Owner            uint16   // the client's owner id; of an observer, the player whose view it has; 0 is nobody
	TickRate         uint8    // ticks a second, not 0
	SnapshotInterval uint8    // ticks from one snapshot to the next, not 0
	Tick             Tick     // the server's tick when the Welcome was written
	Epoch            uint8    // epoch of the level being played
	Resume           [16]byte // token for a later reconnect
	CommandSize      uint16   // bytes of a packed command, as the server counts them
	// Taken is the number of reliable messages of channel 0 that the server has
	// received from the client since Resume was first issued, over all
	// connections: see [Conn.TakeOver].
	Taken uint32
	// Server identifies the server process: another process has another number.
	Server uint64
	// Resumed says that the client has its earlier place again. If false, Code
	// and Text say why the place of the Hello's token is gone, as far as the
	// server knows.
	Resumed bool
	Code    uint16
	// Late is the number of ticks for which the server takes commands after their own, 0
	// for none.
	Late uint8
	// LateShare is the share of commands that may come after their tick, in 1/256. It is
	// only sent with Late.
	LateShare uint8
	// Tags are the tags of shared systems that hold in the match, a bit for each: both ends
	// number them alike, from 0.
	Tags uint64
	// Hold is for how many whole seconds the server holds the place of a lost connection,
	// if that is longer than DefaultHold; else 0.
	Hold uint32
	// Architecture is the one that the server runs on, as in GOARCH; see
	// MaxArchitecture. Empty: not stated.
	Architecture string
	Text         string // why the place is gone, as Code; at most MaxWelcomeText bytes
}

// DefaultHold is for how long, in seconds, a server is taken to hold a place that does not say.
const DefaultHold = 30

// MaxWelcomeText is the longest text of a Welcome, in bytes.
const MaxWelcomeText = 120

// These are the bits of the byte after Server. Each bit from welcomeLate on says that its field follows Code.
// The fields come in the order of the bits.
const (
	welcomeResumed = 1 << iota
	welcomeLate
	welcomeLateShare
	welcomeTags
	welcomeHold
	welcomeBits
)

const welcomeSize = 2 + 1 + 1 + 4 + 1 + 16 + 2 + 4 + 8 + 1 + 2

// Append appends the encoded w to dst. It cuts Text to MaxWelcomeText bytes, and
// Architecture to the valid start of the name (see [MaxArchitecture]).
func (w Welcome) Append(dst []byte) []byte {
	dst = le.AppendUint16(dst, w.Owner)
	dst = append(dst, w.TickRate, w.SnapshotInterval)
	dst = le.AppendUint32(dst, w.Tick)
	dst = append(dst, w.Epoch)
	dst = append(dst, w.Resume[:]...)
	dst = le.AppendUint16(dst, w.CommandSize)
	dst = le.AppendUint32(dst, w.Taken)
	dst = le.AppendUint64(dst, w.Server)
	bits, late := byte(0), []byte(nil)
	if w.Resumed {
		bits = welcomeResumed
	}
	both := [...]byte{w.Late, w.LateShare}
	if w.Late > 0 {
		bits, late = bits|welcomeLate, both[:1]
		if w.LateShare > 0 {
			bits, late = bits|welcomeLateShare, both[:]
		}
	}
	if w.Tags != 0 {
		bits |= welcomeTags
	}
	if w.Hold != 0 {
		bits |= welcomeHold
	}
	dst = append(dst, bits)
	dst = le.AppendUint16(dst, w.Code)
	dst = append(dst, late...)
	if w.Tags != 0 {
		dst = le.AppendUint64(dst, w.Tags)
	}
	if w.Hold != 0 {
		dst = le.AppendUint32(dst, w.Hold)
	}
	dst = appendArchitecture(dst, w.Architecture)
	return append(dst, w.Text[:min(len(w.Text), MaxWelcomeText)]...)
}

// ParseWelcome decodes what Append wrote. Error: ErrMalformed, also for a rate
// or interval of 0. The caller checks that it knows all Tags.
func ParseWelcome(b []byte) (Welcome, error) {
	if len(b) < welcomeSize || b[2] == 0 || b[3] == 0 || b[39] >= welcomeBits {
		return Welcome{}, errWelcome
	}
	rest, ok := b[welcomeSize:], true
	var late, share uint8
	if b[39]&welcomeLate != 0 {
		late, rest, ok = cutNonZero(rest)
	}
	if b[39]&welcomeLateShare != 0 && ok {
		share, rest, ok = cutNonZero(rest)
		ok = ok && late != 0
	}
	var tags uint64
	if b[39]&welcomeTags != 0 && ok {
		if ok = len(rest) >= 8; ok {
			tags, rest = le.Uint64(rest), rest[8:]
			ok = tags != 0
		}
	}
	var hold uint32
	if b[39]&welcomeHold != 0 && ok {
		if ok = len(rest) >= 4; ok {
			hold, rest = le.Uint32(rest), rest[4:]
			ok = hold > DefaultHold
		}
	}
	if !ok {
		return Welcome{}, errWelcome
	}
	architecture, text, ok := readArchitecture(rest)
	if !ok || len(text) > MaxWelcomeText {
		return Welcome{}, errWelcome
	}
	w := Welcome{
		Owner: le.Uint16(b), TickRate: b[2], SnapshotInterval: b[3],
		Tick: le.Uint32(b[4:]), Epoch: b[8], CommandSize: le.Uint16(b[25:]), Taken: le.Uint32(b[27:]),
		Server: le.Uint64(b[31:]), Resumed: b[39]&welcomeResumed != 0, Late: late, LateShare: share, Tags: tags, Hold: hold, Code: le.Uint16(b[40:]), Architecture: architecture, Text: string(text),
	}
	copy(w.Resume[:], b[9:25])
	return w, nil
}

// cutNonZero returns the first byte and those after it. It returns false if there is none,
// or if it is 0.
func cutNonZero(b []byte) (uint8, []byte, bool) {
	if len(b) == 0 || b[0] == 0 {
		return 0, nil, false
	}
	return b[0], b[1:], true
}
