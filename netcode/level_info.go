package netcode

// MaxLevelData is the most bytes of game data in a LevelInfo.
const MaxLevelData = 1024

// LevelInfo is the body of a MessageLevel: the level being played. The server
// writes it into packets until the [Fate] of one that carried it is delivered.
// It needs a packet with enough room, so write it before snapshots. For more
// than a few hundred bytes, only name the data here and send it on a reliable
// channel.
type LevelInfo struct {
	// Epoch counts levels, and wraps: compare with [Newer]. Snapshots with
	// another epoch belong to another level and are ignored.
	Epoch uint8
	Tick  Tick   // the first tick of the level
	Data  []byte // the game's data, at most MaxLevelData bytes; aliases the message when parsed
}

const levelHead = 1 + 4

// Append appends the encoded l to dst. It cuts Data to MaxLevelData.
func (l LevelInfo) Append(dst []byte) []byte {
	dst = le.AppendUint32(append(dst, l.Epoch), l.Tick)
	return append(dst, l.Data[:min(len(l.Data), MaxLevelData)]...)
}

// ParseLevelInfo decodes what Append wrote. Error: ErrMalformed.
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
