package foretick

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/netcode"
)

// note travels beside a snapshot and says what may have spoilt the prediction
// that it will be compared with. It is left out when there is nothing to say.
type note struct {
	substituted uint32 // ticks since a tick ran without the client's own command, plus 1; 0 none
	effect      uint32 // ticks since a server system wrote predicted state, plus 1; 0 none
	system      uint32 // that system's index plus 1, 0 for what no system did
}

// noteWindow is for how many ticks a cause is repeated: longer than any client
// can go without a snapshot and still compare.
const noteWindow = 250

var errNote = errors.New("foretick: malformed note")

func (n note) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(n.substituted))
	dst = binary.AppendUvarint(dst, uint64(n.effect))
	if n.effect != 0 {
		dst = binary.AppendUvarint(dst, uint64(n.system))
	}
	return dst
}

func parseNote(b []byte) (n note, err error) {
	for i, v := range []*uint32{&n.substituted, &n.effect, &n.system} {
		if i == 2 && n.effect == 0 {
			break
		}
		x, k := binary.Uvarint(b)
		if k <= 0 || x > 1<<16 {
			return note{}, errNote
		}
		*v, b = uint32(x), b[k:]
	}
	if len(b) != 0 {
		return note{}, errNote
	}
	return n, nil
}

// age is how long ago t was at now, plus 1; 0 when it was never or too long ago.
func age(t, now Tick) uint32 {
	if t == 0 || now-t >= noteWindow {
		return 0
	}
	return now - t + 1
}

// note writes the player's note into a packet.
func (s *Server) note(p *player, pk *netcode.Packet) {
	n := note{substituted: age(p.substituted, s.frame.Tick), effect: age(p.effect, s.frame.Tick)}
	if n.substituted == 0 && n.effect == 0 {
		return
	}
	n.system = uint32(p.effectBy)
	s.scratch = n.append(s.scratch[:0])
	pk.Message(messageNote, s.scratch)
}
