package netcode

import (
	"bytes"

	"github.com/foretick/foretick/internal/misuse"
)

// CommandSender holds a client's commands until the server has them, and writes
// them into packets. It is not safe for concurrent use.
type CommandSender struct {
	cfg    CommandConfig
	fields commandFields
	ring   [maxCommands]Command
	sent   [maxCommands]uint8 // sent counts the packets that each command of ring was in.
	// head is the ring index of the oldest command, and n the number of commands held.
	head, n int
	newest  Tick // newest is the newest tick that was pushed, if any was.
	any     bool
	base    Command // base is a command that the server has, if based is true.
	based   bool
	oldest  Tick // oldest is the oldest tick in the newest body, if wrote is true.
	wrote   bool
	again   bool // again is true once some tick was pushed again.
	single  Tick // single is the tick from which on none was pushed again.
	runs    lossRuns
	acked   Tick // acked is the tick of the last call of Acked.
	stuck   bool // stuck is true if the last two calls of Acked had the same tick: commands are missing.
	turn    bool // turn is true if the next body also takes the commands that only Late asks for.
	zero    []byte
}

// NewCommandSender returns a sender for commands of size bytes. It panics
// unless size is 1 to 1024: the size comes from a schema, not from the wire. It
// also panics when cfg is not valid. Each is a foretick.UsageError that unwraps
// to a *ConfigError.
func NewCommandSender(size int, cfg CommandConfig) *CommandSender {
	checkCommandSize(size)
	if err := cfg.Validate(); err != nil {
		misuse.Panic(err)
	}
	if cfg.Redundancy == 0 {
		cfg.Redundancy = 3
	}
	s := &CommandSender{cfg: cfg, fields: newCommandFields(size, cfg.Fields), zero: make([]byte, size)}
	s.base.Data = make([]byte, size)
	data := make([]byte, size*maxCommands)
	for i := range s.ring {
		s.ring[i].Data = data[i*size : (i+1)*size : (i+1)*size]
	}
	return s
}

func checkCommandSize(size int) {
	if size < 1 || size > maxCommandSize {
		misuse.Panic(&ConfigError{malformed("command size must be 1 to 1024 bytes")})
	}
}

// ringIndex returns the ring index of the i-th newest command.
func (s *CommandSender) ringIndex(i int) int {
	return (s.head + s.n - 1 - i + maxCommands) % maxCommands
}

// Push adds the command of a tick and copies Data, cut or zero-filled to the
// size. Commands come in rising order of tick. A command whose tick is not
// newer than the last, as after a hard reset of the clock, drops all commands
// from its tick on. Beyond 64 unacknowledged commands, the oldest are dropped.
func (s *CommandSender) Push(c Command) {
	switch {
	case !s.any || Newer(c.Tick, s.newest):
		s.any, s.newest = true, c.Tick
	default: // the server may have either command of a tick
		s.again, s.single, s.based = true, s.newest+1, false
	}
	for s.n > 0 && !Newer(c.Tick, s.ring[s.ringIndex(0)].Tick) {
		s.n--
	}
	if s.n == maxCommands {
		s.head, s.n = (s.head+1)%maxCommands, s.n-1
	}
	s.n++
	at := s.ringIndex(0)
	s.sent[at] = 0
	s.ring[at].copyFrom(c)
}

// copyFrom copies a command, and its data into memory that c has.
func (c *Command) copyFrom(from Command) {
	data := c.Data
	clear(data[copy(data, from.Data):])
	from.Data = data
	*c = from
}

// Acked drops the commands up to tick t: the server has them, or their ticks are
// past. arrived says that the server has the command of tick t. Later commands are
// then coded as differences from it. With false it only says that tick t is past. If
// a tick was pushed twice, the server may have the first command only. So the second
// stays until it was in as many bodies as [CommandConfig.Redundancy] says.
func (s *CommandSender) Acked(t Tick, arrived bool) {
	s.stuck, s.acked = t == s.acked, t
	if !arrived {
		s.based = false // otherwise a base that the server lacks would be kept
	}
	packets, kept := s.packets(), false
	for i := s.n - 1; i >= 0; i-- { // from the oldest one
		at := s.ringIndex(i)
		c := &s.ring[at]
		if Distance(t, c.Tick) < 0 { // half the circle ahead does not count as up to t
			return
		}
		unique := s.unique(c.Tick)
		if arrived && c.Tick == t && unique {
			s.base.copyFrom(*c)
			s.based = true
		}
		if kept = kept || arrived && !unique && int(s.sent[at]) < packets; !kept {
			s.head, s.n = (s.head+1)%maxCommands, s.n-1
		}
	}
}

// unique reports whether one command was pushed for a tick, and never another.
func (s *CommandSender) unique(t Tick) bool { return !s.again || Distance(t, s.single) >= 0 }

// Fate takes whether a packet was delivered. Call it for each packet, in the order of
// sending. While more packets in a row are lost than Redundancy makes up for, each
// command is sent in two packets more than the longest run of losses in the last
// seconds, up to 12. If Fate is never called, Redundancy alone counts.
func (s *CommandSender) Fate(delivered bool) { s.runs.noteFate(delivered) }

// Unacked returns the number of commands that the server has not acknowledged.
func (s *CommandSender) Unacked() int { return s.n }

// Append appends a body of MessageCommands to dst, newest command first: those that were
// in too few bodies yet, and with Late the unacknowledged ones that are not too old. It
// takes them while they fit into room, in bytes. It returns dst unchanged when there is
// nothing to send or not even the newest command fits.
func (s *CommandSender) Append(dst []byte, room int) []byte {
	if s.n == 0 {
		return dst
	}
	newest := s.ring[s.ringIndex(0)].Tick
	before := Command{Tick: newest + 1, Data: s.zero}
	before.setLag(0)
	far := Tick(Distance(newest, s.base.Tick))
	based := s.based && far-1 < baseReach
	if based {
		before.Offset, before.Data = s.base.Offset, s.base.Data
		before.setLag(s.base.lag())
	}
	count := s.dueCommands(newest)
	for count > 0 {
		w := bitWriter{dst: dst}
		writeHead(&w, based, count, newest, far)
		wrote := 0
		for last := before; wrote < count; wrote++ {
			c := &s.ring[s.ringIndex(wrote)]
			s.writeCommand(&w, c, &last, wrote == 0 && !based)
			if len(w.dst)-len(dst) > room {
				break
			}
			last = *c
		}
		if wrote == count {
			s.turn = !s.turn
			for i := range count {
				at := s.ringIndex(i)
				s.sent[at], s.oldest = s.sent[at]+1, s.ring[at].Tick
			}
			s.wrote = true
			return w.dst
		}
		count = wrote
	}
	return dst
}

// Oldest returns the tick of the oldest command in the newest body. It returns false before
// the first one.
func (s *CommandSender) Oldest() (Tick, bool) { return s.oldest, s.wrote }

// packets returns the number of bodies that each command goes into.
func (s *CommandSender) packets() int {
	packets := max(s.cfg.Redundancy, 1)
	if s.cfg.Redundancy > 0 && s.runs.longest >= packets {
		return min(s.runs.longest+2, mostPackets)
	}
	return packets
}

// dueCommands returns how many of the newest commands a body takes. Commands that only Late asks for go in
// every other body, and in every body while the same tick is acknowledged again and again.
func (s *CommandSender) dueCommands(newest Tick) (n int) {
	packets := s.packets()
	for i := range s.n {
		at := s.ringIndex(i)
		if int(s.sent[at]) < packets || (s.stuck || s.turn) && Distance(newest, s.ring[at].Tick) < s.cfg.Late {
			n = i + 1
		}
	}
	return n
}

func writeHead(w *bitWriter, based bool, count int, newest, far Tick) {
	if based {
		w.writeBits(1, 1)
	} else {
		w.writeBits(0, 1)
	}
	if w.writeBits(uint64(min(count-1, fewCommands)), 2); count > fewCommands {
		w.writeBits(uint64(count-fewCommands-1), 6)
	}
	if !based {
		w.writeBits(uint64(newest), 32)
		return
	}
	w.writeBits(uint64(newest), tickBits)
	w.writeBits(uint64(far-1), baseBits)
}

// writeCommand appends a command, relative to the one written before it.
func (s *CommandSender) writeCommand(w *bitWriter, c, before *Command, whole bool) {
	gap, offset := before.Tick-1-c.Tick, c.Offset != before.Offset
	if gap == 0 && !offset {
		w.writeBits(0, 1)
	} else {
		w.writeBits(1|bit(gap != 0)<<1|bit(offset)<<2, 3)
		if gap != 0 {
			writeVarint(w, uint64(gap))
		}
		if offset {
			w.writeBits(uint64(c.Offset), 8)
		}
	}
	writeLag(w, c.lag()-before.lag())
	if whole {
		for _, v := range c.Data {
			w.writeBits(uint64(v), 8)
		}
		return
	}
	if bytes.Equal(c.Data, before.Data) {
		w.writeBits(0, 1)
		return
	}
	w.writeBits(1, 1)
	s.fields.append(w, c.Data, before.Data)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// writeLag appends a change of the lag.
func writeLag(w *bitWriter, d int64) {
	if d == 0 {
		w.writeBits(0, 2)
		return
	}
	switch u := zigzag(d) - 1; {
	case u < lagLimits[1]:
		w.writeBits(1|u<<2, 2+lagBits[1])
	case u < lagLimits[2]:
		w.writeBits(2|(u-lagLimits[1])<<2, 2+lagBits[2])
	default:
		w.writeBits(3, 2)
		writeVarint(w, u-lagLimits[2])
	}
}

func writeVarint(w *bitWriter, v uint64) {
	for ; v >= 0x80; v >>= 7 {
		w.writeBits(v&0x7f|0x80, 8)
	}
	w.writeBits(v, 8)
}

const (
	mostPackets = 12  // the most packets that a command is sent in
	runFades    = 300 // packets after which the longest run counts as one shorter
)

// lossRuns measures how many packets are lost in a row.
type lossRuns struct{ run, longest, since int }

func (r *lossRuns) noteFate(delivered bool) {
	if r.run++; delivered {
		r.run = 0
	}
	switch r.since++; {
	case r.run > 0 && r.run >= r.longest:
		r.longest, r.since = r.run, 0
	case r.since >= runFades:
		r.longest, r.since = max(r.longest-1, 0), 0
	}
}
