package netcode

import "bytes"

// CommandSender holds a client's commands until the server has them, and writes
// them into packets. It is not safe for concurrent use.
type CommandSender struct {
	cfg     CommandConfig
	size    int
	ring    [maxCommands]Command
	head, n int // ring index of the oldest, and how many
	fresh   int // pushed since the last body was written
	zero    []byte
}

// NewCommandSender makes a sender of commands of size bytes (1 to 1024, else it
// panics: the size comes from a schema, not from the wire). It panics with a
// *ConfigError as well when the config is not valid.
func NewCommandSender(size int, cfg CommandConfig) *CommandSender {
	checkCommandSize(size)
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	if cfg.Redundancy == 0 {
		cfg.Redundancy = 3
	}
	if cfg.Budget == 0 {
		cfg.Budget = 256
	}
	s := &CommandSender{cfg: cfg, size: size, zero: make([]byte, size)}
	data := make([]byte, size*maxCommands)
	for i := range s.ring {
		s.ring[i].Data = data[i*size : (i+1)*size : (i+1)*size]
	}
	return s
}

func checkCommandSize(size int) {
	if size < 1 || size > maxCommandSize {
		panic(&ConfigError{malformed("command size must be 1 to 1024 bytes")})
	}
}

// at is the i-th newest command.
func (s *CommandSender) at(i int) *Command {
	return &s.ring[(s.head+s.n-1-i+maxCommands)%maxCommands]
}

// Push adds the command of a tick, copying Data (cut or filled with zeros to the
// size). Commands come in rising order of tick; one whose tick is not newer than
// the last, as after a hard reset of the clock, drops those from its tick on.
// Beyond 64 unacknowledged commands the oldest are dropped.
func (s *CommandSender) Push(c Command) {
	for s.n > 0 && !Newer(c.Tick, s.at(0).Tick) {
		s.n--
	}
	if s.n == maxCommands {
		s.head, s.n = (s.head+1)%maxCommands, s.n-1
	}
	s.n++
	s.fresh = min(s.fresh+1, maxCommands)
	slot := s.at(0)
	data := slot.Data
	clear(data[copy(data, c.Data):])
	c.Data = data
	*slot = c
}

// Acked drops the commands up to tick t: the server has them, or is past them.
func (s *CommandSender) Acked(t Tick) {
	for s.n > 0 && Distance(t, s.ring[s.head].Tick) >= 0 { // half the circle ahead is not up to t
		s.head, s.n = (s.head+1)%maxCommands, s.n-1
	}
}

// Unacked is how many commands wait for the server.
func (s *CommandSender) Unacked() int { return s.n }

// Append writes a body of MessageCommands behind dst: the newest commands first,
// as many as the budget allows, and at least the redundant ones, and those that no
// body had yet, as far as room bytes allow. It returns dst unchanged when there is nothing to send or not
// even the newest fits.
func (s *CommandSender) Append(dst []byte, room int) []byte {
	if s.n == 0 || room < 5 {
		return dst
	}
	base := len(dst)
	newest := s.at(0)
	dst = append(dst, 0)
	dst = le.AppendUint32(dst, newest.Tick)
	before := Command{Tick: newest.Tick + 1, Data: s.zero}
	before.setLag(0)
	head, count, must := -1, 0, max(s.cfg.Redundancy, s.fresh)
	for i := range s.n {
		c := s.at(i)
		limit := room
		if i >= must {
			limit = min(room, s.cfg.Budget)
		}
		mark := len(dst)
		what := differences(c, &before)
		if what == 0 && head >= 0 && dst[head]&headWhat == 0 && dst[head] < 0xf0 {
			dst[head] += headRun
		} else {
			dst = appendCommand(append(dst, what), what, c, &before)
			if len(dst)-base > limit {
				dst = dst[:mark]
				break
			}
			head = mark
		}
		count++
		before = *c
	}
	if count == 0 {
		return dst[:base]
	}
	s.fresh = 0
	dst[base] = byte(count)
	return dst
}

func differences(c, before *Command) (what byte) {
	if c.Tick != before.Tick-1 {
		what |= headTick
	}
	if c.lag() != before.lag() {
		what |= headView
	}
	if c.Offset != before.Offset {
		what |= headOffset
	}
	if !bytes.Equal(c.Data, before.Data) {
		what |= headData
	}
	return what
}

func appendCommand(dst []byte, what byte, c, before *Command) []byte {
	if what&headTick != 0 {
		dst = appendVarint(dst, uint64(before.Tick-1-c.Tick))
	}
	if what&headView != 0 {
		dst = appendVarint(dst, zigzag(c.lag()-before.lag()))
	}
	if what&headOffset != 0 {
		dst = append(dst, c.Offset)
	}
	if what&headData != 0 {
		mask := len(dst)
		for range (len(c.Data) + 7) / 8 {
			dst = append(dst, 0)
		}
		for i, v := range c.Data {
			if v != before.Data[i] {
				dst[mask+i/8] |= 1 << (i % 8)
				dst = append(dst, v)
			}
		}
	}
	return dst
}
