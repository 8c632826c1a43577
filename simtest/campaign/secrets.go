package campaign

import (
	"fmt"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// Secrets checks that marked values in private fields reach only their owner, and observers
// that the server granted the owner's view, or everything.
// The game writes [Secret] of a player into a uint64 field that only that
// player may receive. The checker searches every packet to anyone else for it,
// at every bit position.
type Secrets struct {
	index [1 << 12]bool // marks the low bits of known halves; a quick test before known
	known map[uint32]half

	// Packets counts the packets searched, and Found the secrets that reached
	// their owners: without any there was nothing to leak.
	Packets, Found uint64
	// Observed counts the packets among them that went to observers.
	Observed uint64
}

// half is one half of a player's secret.
type half struct {
	player ecs.Owner
	high   bool
}

// halfBits is how many bits of each half are searched for: a codec may express
// the highest bit by the length of the rest.
const halfBits = 28

// Secret returns the marked value of a player, which differs from that of any
// other. Both halves are numbers of 31 bits.
func Secret(player ecs.Owner) uint64 {
	x := uint64(player)*0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03
	x ^= x >> 29
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 32
	const top = 1<<63 | 1<<31
	return x&^top | top>>1
}

// mostOwners is the number of players whose secrets are searched for.
const mostOwners = 256

func (s *Secrets) drawSecrets() {
	s.known = map[uint32]half{}
	for o := ecs.Owner(1); o < mostOwners; o++ {
		for i, v := range [2]uint64{Secret(o), Secret(o) >> 32} {
			v &= 1<<halfBits - 1
			s.known[uint32(v)] = half{o, i == 1}
			s.index[v%uint64(len(s.index))] = true
		}
	}
}

// Packet implements [simtest.PacketChecker].
func (s *Secrets) Packet(m *simtest.Match, _, to int, b []byte) error {
	player := m.Owner(to)
	grant, observes := m.Granted(to)
	switch {
	case grant.FollowOnly() == server.Everything().FollowOnly():
		return nil
	case observes:
		s.Observed++
		player = viewed(m.Server(), grant)
	case player == ecs.Nobody:
		return nil
	}
	s.Packets++
	found, err := s.search(player, observes, b)
	if !observes {
		s.Found += uint64(found)
	}
	return err
}

// viewed returns the player whose view a grant gives, or nobody.
func viewed(srv *server.Server, grant server.Grant) ecs.Owner {
	for _, player := range srv.Players(nil) {
		if grant.FollowOnly() == server.OfPlayer(player.ID).FollowOnly() {
			return player.ID
		}
	}
	return ecs.Nobody
}

// Search looks for secrets in bytes that a player got in another way than by packets, such as
// an export of its trace. It returns how often the player's own secret is in them. The error
// names another player whose secret is in them.
func (s *Secrets) Search(player ecs.Owner, b []byte) (found int, err error) {
	return s.search(player, false, b)
}

func (s *Secrets) search(player ecs.Owner, observes bool, b []byte) (found int, err error) {
	if s.known == nil {
		s.drawSecrets()
	}
	var low, high ecs.Owner // players whose halves were found last
	var window uint64       // the last five bytes; the lowest bits were sent first
	for i, c := range b {
		window = window>>8 | uint64(c)<<32
		if i < 3 {
			continue
		}
		for bit := range 8 {
			v := uint32(window>>(bit+1)) & (1<<halfBits - 1)
			if !s.index[v%uint32(len(s.index))] {
				continue
			}
			h, ok := s.known[v]
			switch {
			case !ok:
				continue
			case h.high:
				high = h.player
			default:
				low = h.player
			}
			if low == high && low == player && low != ecs.Nobody {
				found++
			} else if low == high && low != ecs.Nobody {
				if observes {
					return found, fmt.Errorf("an observer was sent the secret of player %d, %#x, up to byte %d of %d", low, Secret(low), i, len(b))
				}
				return found, fmt.Errorf("player %d was sent the secret of player %d, %#x, up to byte %d of %d", player, low, Secret(low), i, len(b))
			}
		}
	}
	return found, nil
}

// Tick implements [simtest.Checker].
func (s *Secrets) Tick(*simtest.Match) error { return nil }

// Worked implements [simtest.WorkedChecker].
func (s *Secrets) Worked(*simtest.Match) (string, error) {
	line := fmt.Sprintf("secrets: %d packets searched, %d of them to observers, %d secrets at their owners", s.Packets, s.Observed, s.Found)
	if s.Packets == 0 || s.Found == 0 {
		return line, fmt.Errorf("nothing was searched, or there was no secret: %s", line)
	}
	return line, nil
}
