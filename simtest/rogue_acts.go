package simtest

import (
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// act is one kind of thing that a rogue does.
type act struct {
	name string
	do   func(r *rogue)
}

// acts are what sequences are made of. Their order is a fuzzer's alphabet: add new
// ones at the end.
var acts = [rogueActs]act{
	{"behave", (*rogue).behave},
	{"words", (*rogue).sayWords},
	{"strange ack", (*rogue).strangeAck},
	{"strange number", (*rogue).strangeNumber},
	{"strange header", (*rogue).strangeHeader},
	{"many hellos", (*rogue).manyHellos},
	{"request", (*rogue).ask},
	{"replay", (*rogue).replay},
	{"mutate", (*rogue).mutate},
	{"short", (*rogue).short},
	{"burst", (*rogue).burst},
	{"wait", (*rogue).wait},
	{"reconnect", (*rogue).reconnect},
	{"leave", (*rogue).goAway},
	{"vanish", (*rogue).vanishFor},
	{"other build", (*rogue).otherBuild},
	{"break rules", (*rogue).breakRules}, // the transport's own
}

const rogueActs = 17

// The acts that are named elsewhere.
const (
	actBehave    = 0
	actReconnect = 12
)

// step takes in what came and does what is due.
func (r *rogue) step(now time.Duration) {
	r.receive(now)
	for r.left > 0 && r.next <= now && !r.dice.spent() {
		if !r.action() {
			r.next = now + r.den.interval
			return
		}
		r.left--
		r.pause(now)
	}
	if r.left == 0 && r.next <= now {
		r.end()
	}
}

// pause draws how long the next action waits: as often as not it does not.
func (r *rogue) pause(now time.Duration) {
	if r.next > now {
		return // it waits already
	}
	switch r.dice.n(8) {
	case 0, 1, 2, 3, 4:
	case 5:
		r.next = now + time.Duration(2+r.dice.n(3))*r.den.interval
	default:
		r.next = now + r.den.interval
	}
}

// action does one thing; false when there is nothing that it could do yet.
func (r *rogue) action() bool {
	what := actBehave
	switch {
	case r.state == rogueDials:
		return false
	case r.endpoint == nil || r.peer == 0:
		if !r.den.room() {
			return false
		}
		what = actReconnect
	case r.dice.rand == nil:
		what = r.dice.n(rogueActs) // as the script says
	case r.state == rogueOther && r.dice.one(2):
		what = 1 + r.dice.n(len(acts)-1)
	case r.state != roguePlays && r.dials == 1 && r.wild < 64:
		// Most get in before they go wrong.
	case r.dice.n(64) < r.wild:
		what = 1 + r.dice.n(len(acts)-1)
	}
	r.den.counts.States[r.state][what]++
	r.den.counts.Actions++
	acts[what].do(r)
	return true
}

// end ends a sequence: without a word, mostly.
func (r *rogue) end() {
	if r.dice.one(4) {
		r.leave(transport.Closed)
	} else {
		r.vanish()
	}
	r.left = -1
	r.den.counts.Sequences++
}

// behave is an honest packet.
func (r *rogue) behave() {
	r.start(r.head())
	switch {
	case r.state == roguePlays:
		r.sayCommand()
	case r.build != buildSame:
		r.greetAsOther()
	default:
		r.sayHello()
	}
	r.send()
}

// greetAsOther is what a client of another build says: hello by its own hash, then a
// request for the schema, then, if it can match that, hello by the server's hash.
func (r *rogue) greetAsOther() {
	switch {
	case r.state != rogueOther:
		r.helloBy(r.den.hash^1<<r.dice.n(64), r.token)
	case !r.asked:
		r.asked = true
		r.askSchema(netcode.SchemaRequest{Name: r.den.schema})
	case r.build == buildCompatible:
		r.sayHello()
	} // else it looks at what it was sent, and acknowledges it
}

// breakRules breaks the transport's own rules, mostly over connections of their own.
func (r *rogue) breakRules() {
	var e transport.Endpoint
	if r.dice.one(4) {
		e = r.endpoint
	}
	r.den.net.Break(e, r.dice.n)
}

// otherBuild is the words of another build out of their order, or a connection of one.
func (r *rogue) otherBuild() {
	if r.state == roguePlays || r.dice.one(4) {
		if r.den.room() {
			r.connect()
			r.build = builds[len(builds)-1-r.dice.n(3)]
		}
		return
	}
	r.start(r.head())
	for range 1 + r.dice.n(4) {
		switch r.dice.n(4) {
		case 0:
			r.helloBy(r.dice.long(), r.anyToken())
		case 1:
			r.saySchema()
		case 2:
			r.askSchema(netcode.SchemaRequest{Name: r.den.schema})
		default:
			r.sayHello()
		}
	}
	r.send()
}

// sayWords is a packet of any messages.
func (r *rogue) sayWords() {
	r.start(r.head())
	for range 1 + r.dice.low(6) {
		w := r.dice.n(len(words))
		r.den.counts.Words[w]++
		words[w].say(r)
	}
	r.send()
}

func (r *rogue) ask() {
	r.start(r.head())
	r.sayRequest()
	r.send()
}

// strangeAck is honest but for what it acknowledges.
func (r *rogue) strangeAck() {
	h := r.head()
	h.has = true
	switch r.dice.n(4) {
	case 0, 1:
		h.ack = r.dice.number16(h.ack)
	case 2:
		h.bits = r.dice.number(h.bits)
	default:
		h.ack, h.bits = r.dice.number16(h.ack), r.dice.number(h.bits)
	}
	if r.dice.one(4) {
		h.delay = byte(r.dice.bits(8))
	}
	r.start(h)
	if r.dice.one(2) {
		r.sayCommand()
	}
	r.send()
}

// strangeNumber is honest but for its number, which it may go on from.
func (r *rogue) strangeNumber() {
	n := r.dice.number16(r.number)
	if r.dice.one(2) {
		r.number = n
	}
	h := r.head()
	h.number = n
	r.start(h)
	r.sayCommand()
	r.send()
}

func (r *rogue) strangeHeader() {
	h := head{
		flags: byte(r.dice.bits(8)), number: r.number, has: r.dice.one(2),
		ack: r.dice.number16(r.line), bits: r.dice.number(r.bits), delay: byte(r.dice.bits(8)),
	}
	r.number++
	r.start(h)
	if r.dice.one(2) {
		r.sayHello()
	}
	r.send()
}

// manyHellos is several hellos in one packet, each with a token of its own.
func (r *rogue) manyHellos() {
	r.start(r.head())
	for range 2 + r.dice.n(3) {
		switch r.dice.n(4) {
		case 0:
			r.hello(r.token)
		case 1:
			r.hello([16]byte{})
		case 2:
			r.hello(r.anyToken())
		default:
			r.sayStrangeHello()
		}
	}
	r.send()
}

// replay sends the packet before once more, or many times.
func (r *rogue) replay() {
	for range 1 + r.dice.low(20) {
		r.resend(r.last)
	}
}

// mutate changes bytes of the packet before; mostly the checksum fits.
func (r *rogue) mutate() {
	r.buf = append(r.buf[:0], r.last...)
	if len(r.buf) <= sumBytes+2 {
		return
	}
	r.buf[sumBytes+1], r.buf[sumBytes+2] = byte(r.number), byte(r.number>>8)
	r.number++
	for range 1 + r.dice.low(4) {
		r.buf[sumBytes+r.dice.n(len(r.buf)-sumBytes)] = byte(r.dice.bits(8))
	}
	if r.dice.one(4) {
		r.buf = r.buf[:sumBytes+r.dice.n(len(r.buf)-sumBytes)]
	}
	if r.dice.one(8) {
		r.resend(r.buf) // damaged
		return
	}
	r.send()
}

// short is a packet with hardly anything in it, or with as much as fits.
func (r *rogue) short() {
	if r.dice.one(4) {
		r.start(r.head())
		kind := byte(r.dice.bits(8))
		for len(r.buf) < rogueMTU {
			r.buf = append(r.buf, kind, 0)
		}
		r.send()
		return
	}
	r.buf = r.dice.fill(r.buf[:0], r.dice.n(12))
	r.send()
}

// burst is a crowd of packets at once.
func (r *rogue) burst() {
	for range 1 + r.dice.low(60) {
		r.behave()
	}
}

func (r *rogue) wait() { r.next = r.den.now + time.Duration(1+r.dice.low(40))*r.den.interval }

// reconnect vanishes and comes back by another connection, with its token or
// without.
func (r *rogue) reconnect() {
	if !r.den.room() {
		return
	}
	r.connect()
	switch r.dice.n(8) {
	case 0:
		r.token = [16]byte{}
	case 1:
		r.token = r.anyToken()
	}
}

func (r *rogue) goAway() {
	r.leave(transport.Code(r.dice.n(14)))
	r.next = r.den.now + time.Duration(r.dice.low(30))*r.den.interval
}

func (r *rogue) vanishFor() {
	r.vanish()
	r.next = r.den.now + time.Duration(r.dice.low(60))*r.den.interval
}
