package simtest

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
)

// Delivery checks that reliable messages arrive exactly once and in the order of
// their channel, for as long as a player stays, across lost connections and
// reconnects. When the match is at rest (see [Checker].Quiet), every message must have
// arrived.
type Delivery struct {
	seed   maphash.Seed
	server *server.Server
	sent   map[foretick.PlayerID]*outbox
	got    map[*client.Client]*mailbox

	// Messages counts the messages that arrived.
	Messages uint64
}

// outbox holds the messages sent to a player, and those sent to the previous
// player with its number.
type outbox struct{ now, before *letters }

// letters are the messages of one session that have not arrived yet.
type letters struct {
	session uint64
	begun   bool // some messages have arrived
	queue   []letter
}

// letter is a message: its channel, its tick and a digest of the rest.
type letter struct {
	channel int
	tick    foretick.Tick
	sum     uint64
}

// oldestOf returns the index of the oldest letter of a channel, −1 when there is
// none.
func (l *letters) oldestOf(channel int) int {
	return slices.IndexFunc(l.queue, func(x letter) bool { return x.channel == channel })
}

// mailbox is what Delivery knows about a client's newest session.
type mailbox struct {
	number   uint64   // number of the session, as the client counts them
	from     *letters // what the server sent in this session; nil before the first message
	orphaned bool     // the server of this session is gone
}

func (d *Delivery) makeMaps() {
	if d.got == nil {
		d.seed, d.sent, d.got = maphash.MakeSeed(), map[foretick.PlayerID]*outbox{}, map[*client.Client]*mailbox{}
	}
}

func (d *Delivery) letter(channel int, t foretick.Tick, kind uint8, payload []byte) letter {
	return letter{channel, t, maphash.Bytes(d.seed, payload) + uint64(kind)*0x9E3779B97F4A7C15}
}

// Sent implements [MessageChecker].
func (d *Delivery) Sent(m *Match, s MessageSent) {
	d.makeMaps()
	o := d.sent[s.To]
	if o == nil {
		o = &outbox{}
		d.sent[s.To] = o
	}
	if o.now == nil || o.now.session != s.Session {
		o.now, o.before = &letters{session: s.Session}, o.now
	}
	o.now.queue = append(o.now.queue, d.letter(s.Channel, s.Tick, s.Kind, s.Payload))
}

// Received implements [MessageChecker].
func (d *Delivery) Received(_ *Match, c *client.Client, r MessageReceived) error {
	d.makeMaps()
	got := d.letter(r.Channel, r.Tick, r.Kind, r.Payload)
	b := d.got[c]
	if n := sessions(c); b == nil || b.number != n {
		b = &mailbox{number: n}
		d.got[c] = b
	}
	if b.orphaned {
		return nil
	}
	if b.from == nil {
		b.from = d.sent[c.View().Player].beginning(got)
	}
	if b.from == nil {
		return fmt.Errorf("player %d: the first message of its session, kind %d of tick %d, is not the first that was sent", c.View().Player, r.Kind, r.Tick)
	}
	at := b.from.oldestOf(got.channel)
	if at < 0 || b.from.queue[at] != got {
		return fmt.Errorf("player %d: a message of kind %d of tick %d is not the expected one (%d in transit)", c.View().Player, r.Kind, r.Tick, len(b.from.queue))
	}
	b.from.begun = true
	b.from.queue = slices.Delete(b.from.queue, at, at+1)
	d.Messages++
	return nil
}

// sessions returns how many sessions a client has had.
func sessions(c *client.Client) uint64 {
	st := c.Stats()
	return st.Connections - st.Resumed
}

// beginning finds the session that starts with a letter.
func (o *outbox) beginning(l letter) *letters {
	if o == nil {
		return nil
	}
	for _, from := range []*letters{o.now, o.before} {
		if from == nil || from.begun {
			continue
		}
		if at := from.oldestOf(l.channel); at >= 0 && from.queue[at] == l {
			return from
		}
	}
	return nil
}

// Tick implements [Checker].
func (d *Delivery) Tick(m *Match) error {
	d.makeMaps()
	if s := m.Server(); s != d.server {
		// Messages in transit from the former server no longer count.
		if d.server != nil {
			for _, c := range m.Clients(nil) {
				d.got[c] = &mailbox{number: sessions(c), orphaned: true}
			}
			d.sent = map[foretick.PlayerID]*outbox{}
		}
		d.server = s
	}
	if len(d.got) > len(m.seats) {
		live := map[*client.Client]*mailbox{}
		for _, c := range m.Clients(nil) {
			if b := d.got[c]; b != nil {
				live[c] = b
			}
		}
		d.got = live
	}
	return nil
}

// Quiet implements [Checker].
func (d *Delivery) Quiet(m *Match) error {
	d.makeMaps()
	for _, c := range m.Clients(nil) {
		player := c.View().Player
		st, ok := m.Server().PlayerStats(m.Server().Player(player))
		o := d.sent[player]
		if ok && o != nil && o.now.session == st.SessionNumber && len(o.now.queue) > 0 {
			return fmt.Errorf("player %d: %d messages have not arrived, the oldest of tick %d", player, len(o.now.queue), o.now.queue[0].tick)
		}
	}
	return nil
}

// Worked implements [Checker].
func (d *Delivery) Worked(m *Match) (string, error) {
	line := fmt.Sprintf("delivery: %d messages", d.Messages)
	if d.Messages == 0 && m.kinds > 0 {
		return line, fmt.Errorf("no message arrived: play for long enough that the game sends one, or leave Delivery out of Plan.Checkers")
	}
	return line, nil
}
