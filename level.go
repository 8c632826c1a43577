package foretick

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick/netcode"
)

// OnLevel is called on a client when it enters a level: the first, if the server
// named one, and each that follows. data is what the server gave NextLevel; it
// is valid for the call. What the level before had on the client is gone by
// then, and the new entities come with the snapshots that follow.
func (p *Protocol) OnLevel(fn func(f *Frame, data []byte)) {
	if p.able("Level", fn != nil) {
		p.levels = append(p.levels, fn)
	}
}

// NextLevel ends what is being played and begins another level in the middle of
// the match: every replicated entity is destroyed, and build, which may be nil,
// makes the new ones, the players' own included (see [Server.Players]): what they
// are to keep, copy before the call. Players keep their connections and their
// places; ticks go on counting. data is the game's, at most 1024 bytes; every
// client is told it for certain, before anything of the new level, and takes
// nothing of the old one after it.
//
// Call it between Steps, or in a tick, by a Server system or a handler: it then
// waits for the tick's end, and of several calls the last counts. Join, Leave and their kin are called first for
// whoever came or went since the last tick, in the level that ends.
func (s *Server) NextLevel(data []byte, build func(f *Frame)) error {
	if len(data) > netcode.MaxLevelData {
		return fmt.Errorf("foretick: NextLevel has %d bytes of data: the most is %d; name the level, and send the rest as messages", len(data), netcode.MaxLevelData)
	}
	data = slices.Clone(data)
	if s.ticking {
		s.after = func() { s.nextLevel(data, build) }
		return nil
	}
	s.nextLevel(data, build)
	return nil
}

func (s *Server) nextLevel(data []byte, build func(f *Frame)) {
	s.changePlayers()
	s.epoch++
	s.level, s.levelTick, s.named = data, s.frame.Tick+1, true
	s.world.Lock()
	for _, rows := range s.entities.All(s.world) {
		for i := range rows.Len() {
			s.world.Manager().Destroy(rows.Entity(i))
		}
	}
	s.world.Unlock()
	for _, q := range s.frame.queues {
		q.forget()
	}
	s.history.Reset()
	s.recorded = false
	for _, p := range s.players {
		if p.state == playing {
			p.sender.Close()
			p.sender = s.newSender(p)
			s.reintroduce(p)
			p.acked, p.entered, p.epoch = 0, false, s.epoch
		}
	}
	if build != nil {
		build(&s.frame)
	}
}

// levelInfo writes the level into a packet until the player is known to have
// it.
func (s *Server) levelInfo(p *player, pk *netcode.Packet) {
	p.next.level = false
	if !s.named || p.entered {
		return
	}
	info := netcode.LevelInfo{Epoch: s.epoch, Tick: s.levelTick, Data: s.level}
	s.scratch = info.Append(s.scratch[:0])
	p.next.level = s.insist(p, pk, netcode.MessageLevel, s.scratch)
}

// enter takes a client into a level.
func (c *Client) enter(info netcode.LevelInfo) {
	if info.Epoch == c.epoch && c.entered || info.Epoch != c.epoch && !netcode.Newer(info.Epoch, c.epoch) {
		return // told again, or by a packet of the level before that others overtook
	}
	if info.Epoch != c.epoch && c.clearLevel() != nil {
		return // cannot be: the same configuration was accepted before
	}
	c.epoch, c.entered = info.Epoch, true
	c.frame.Tick = info.Tick
	for _, fn := range c.p.levels {
		fn(&c.frame, info.Data)
	}
}

// Configure asks the server for at most so many snapshots a second and bytes a
// second, each 0 for the server's choice, from now on. A player whose line is
// shared by others asks for less.
func (c *Client) Configure(snapshotRate, receiveRate int) error {
	if snapshotRate < 0 || snapshotRate > 255 || receiveRate < 0 || receiveRate > 1<<30 {
		return fmt.Errorf("foretick: Configure(%d, %d): use 0 to 255 snapshots and up to 2³⁰ bytes a second", snapshotRate, receiveRate)
	}
	c.cfg.SnapshotRate, c.cfg.ReceiveRate = snapshotRate, receiveRate
	c.wishes, c.asked, c.granted = true, false, false
	return nil
}

// ask sends the wish of Configure until a packet that carried it was delivered.
func (c *Client) ask(pk *netcode.Packet) bool {
	if !c.wishes || c.granted {
		return false
	}
	wish := netcode.ClientConfig{SnapshotRate: uint8(c.cfg.SnapshotRate), Bytes: uint32(c.cfg.ReceiveRate)}
	c.scratch = wish.Append(c.scratch[:0])
	return pk.Message(netcode.MessageReady, c.scratch)
}

// grant takes a client's wish in, as far as the server's own limits go.
func (s *Server) grant(p *player, w netcode.ClientConfig) {
	p.every = s.everyFor(int(w.SnapshotRate))
	rate := s.cfg.SendRate
	if w.Bytes > 0 {
		rate = min(rate, max(int(w.Bytes), minSendRate))
	}
	p.conn.SetRate(rate)
}

// minSendRate is the least that a client can ask for: below, its own state would
// not fit.
const minSendRate = 2000

// everyFor is the ticks between snapshots at a rate that a client asked for.
func (s *Server) everyFor(rate int) uint32 {
	every := s.every
	if rate > 0 {
		for s.p.tickRate > rate*int(every) && every < maxSnapshotTicks {
			every += s.every
		}
	}
	return every
}
