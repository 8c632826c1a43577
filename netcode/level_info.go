package netcode

// MaxLevelData bounds the game's own bytes in a LevelInfo.
const MaxLevelData = 1024

// LevelInfo is a MessageLevel's body: the level being played. The server writes
// it into packets until one that carried it is told delivered by its [Fate]. It
// needs a packet with room for it, so give it the packet before snapshots; what
// is longer than a few hundred bytes is better named here and sent on a reliable
// channel.
type LevelInfo struct {
	// Epoch counts levels, and wraps: compare with [Newer]. Snapshots that carry
	// another epoch are of another level and are ignored.
	Epoch uint8
	Tick  Tick   // the first tick of the level
	Data  []byte // the game's, at most MaxLevelData bytes; aliases the message when parsed
}

const levelHead = 1 + 4

// Append writes l behind dst. Data beyond MaxLevelData is cut.
func (l LevelInfo) Append(dst []byte) []byte {
	dst = le.AppendUint32(append(dst, l.Epoch), l.Tick)
	return append(dst, l.Data[:min(len(l.Data), MaxLevelData)]...)
}

// ParseLevelInfo reads what Append wrote. Error: ErrMalformed.
func ParseLevelInfo(b []byte) (LevelInfo, error) {
	if len(b) < levelHead || len(b) > levelHead+MaxLevelData {
		return LevelInfo{}, errLevel
	}
	l := LevelInfo{Epoch: b[0], Tick: le.Uint32(b[1:])}
	if len(b) > levelHead {
		l.Data = b[levelHead:]
	}
	return l, nil
}
