package campaign

import (
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// act is one kind of action of a rogue.
type act struct {
	name string
	do   func(r *rogue)
}

// acts are the actions of sequences. A fuzzer's input depends on their order: add
// new ones at the end.
var acts = [rogueActs]act{
	{"behave", (*rogue).behave},
	{"words", (*rogue).sayWords},
	{"strange ack", (*rogue).strangeAck},
	{"strange number", (*rogue).strangeNumber},
	{"strange header", (*rogue).strangeHeader},
	{"many hellos", (*rogue).manyHellos},
	{"request", (*rogue).sendRequest},
	{"replay", (*rogue).replay},
	{"mutate", (*rogue).mutate},
	{"short", (*rogue).short},
	{"burst", (*rogue).burst},
	{"wait", (*rogue).waitTicks},
	{"reconnect", (*rogue).reconnect},
	{"leave", (*rogue).goAway},
	{"vanish", (*rogue).vanishFor},
	{"other build", (*rogue).otherBuild},
	{"break rules", (*rogue).breakRules}, // the transport's own rules
}

const rogueActs = 17

// Indices of acts used elsewhere.
const (
	actBehave    = 0
	actReconnect = 12
)

// stepRogue handles incoming events and takes the actions that are due.
func (r *rogue) stepRogue(now time.Duration) {
	r.receive(now)
	for r.left > 0 && r.next <= now && !r.dice.spent() {
		if !r.action() {
			r.next = now + r.match.interval
			return
		}
		r.left--
		r.pause(now)
	}
	if r.left == 0 && r.next <= now {
		r.endSequence()
	}
}

// pause draws the wait before the next action: half of the time there is none.
func (r *rogue) pause(now time.Duration) {
	if r.next > now {
		return // the action itself set a wait
	}
	switch r.dice.n(8) {
	case 0, 1, 2, 3, 4:
	case 5:
		r.next = now + time.Duration(2+r.dice.n(3))*r.match.interval
	default:
		r.next = now + r.match.interval
	}
}

// action takes one action; it returns false when none is possible yet.
func (r *rogue) action() bool {
	what := actBehave
	switch {
	case r.state == rogueDials:
		return false
	case r.endpoint == nil || r.peer == 0:
		if !r.match.hasPlace() {
			return false
		}
		what = actReconnect
	case r.dice.rand == nil:
		what = r.dice.n(rogueActs) // the fuzzer's bytes choose any action
	case r.state == rogueOther && r.dice.one(2):
		what = 1 + r.dice.n(len(acts)-1)
	case r.state != roguePlays && r.dials == 1 && r.wild < 64:
		// Most rogues join the match before they misbehave.
	case r.dice.n(64) < r.wild:
		what = 1 + r.dice.n(len(acts)-1)
	}
	r.match.counts.States[r.state][what]++
	r.match.counts.Actions++
	acts[what].do(r)
	return true
}

// endSequence ends a sequence, mostly without notice.
func (r *rogue) endSequence() {
	if r.dice.one(4) {
		r.hangUp(transport.Closed)
	} else {
		r.vanish()
	}
	r.left = -1
	r.match.counts.Sequences++
}

// behave sends an honest packet.
func (r *rogue) behave() {
	r.startPacket(r.head())
	switch {
	case r.state == roguePlays:
		r.sayCommand()
	case r.state == rogueWatches:
		if r.dice.one(4) {
			r.sayEye()
		}
	case r.build == buildObserver:
		r.sayHelloOfObserver()
	case r.build != buildSame:
		r.greetAsOther()
	default:
		r.sayHello()
	}
	r.sendPacket()
}

// greetAsOther sends what a client of another build sends: a hello with its own
// hash, then a request for the schema, then, if it can match that, a hello with the
// server's hash.
func (r *rogue) greetAsOther() {
	switch {
	case r.state != rogueOther:
		r.helloBy(r.match.hash^1<<r.dice.n(64), r.token)
	case !r.asked:
		r.asked = true
		r.askSchema(netcode.SchemaRequest{Name: r.match.schema})
	case r.build == buildCompatible:
		r.sayHello()
	} // otherwise it only acknowledges what it receives
}

// breakRules breaks the transport's own rules, mostly on separate connections.
func (r *rogue) breakRules() {
	var e transport.Endpoint
	if r.dice.one(4) {
		e = r.endpoint
	}
	r.match.net.Break(e, r.dice.n)
}

// otherBuild sends messages of another build out of order, or opens a connection as
// one.
func (r *rogue) otherBuild() {
	if r.state == roguePlays || r.dice.one(4) {
		if r.match.hasPlace() {
			r.dialAgain()
			r.build = builds[len(builds)-1-r.dice.n(3)]
		}
		return
	}
	r.startPacket(r.head())
	for range 1 + r.dice.n(4) {
		switch r.dice.n(4) {
		case 0:
			r.helloBy(r.dice.long(), r.anyToken())
		case 1:
			r.saySchema()
		case 2:
			r.askSchema(netcode.SchemaRequest{Name: r.match.schema})
		default:
			r.sayHello()
		}
	}
	r.sendPacket()
}

// sayWords sends a packet of arbitrary messages.
func (r *rogue) sayWords() {
	r.startPacket(r.head())
	for range 1 + r.dice.low(6) {
		w := r.dice.n(len(words))
		r.match.counts.Words[w]++
		words[w].say(r)
	}
	r.sendPacket()
}

func (r *rogue) sendRequest() {
	r.startPacket(r.head())
	r.sayRequest()
	r.sendPacket()
}

// strangeAck sends a packet that is honest except for its acknowledgements.
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
	r.startPacket(h)
	if r.dice.one(2) {
		r.sayCommand()
	}
	r.sendPacket()
}

// strangeNumber sends a packet that is honest except for its number, from which it
// may continue.
func (r *rogue) strangeNumber() {
	n := r.dice.number16(r.number)
	if r.dice.one(2) {
		r.number = n
	}
	h := r.head()
	h.number = n
	r.startPacket(h)
	r.sayCommand()
	r.sendPacket()
}

func (r *rogue) strangeHeader() {
	h := head{
		flags: byte(r.dice.bits(8)), number: r.number, has: r.dice.one(2),
		ack: r.dice.number16(r.line), bits: r.dice.number(r.bits), delay: byte(r.dice.bits(8)),
	}
	r.number++
	r.startPacket(h)
	if r.dice.one(2) {
		r.sayHello()
	}
	r.sendPacket()
}

// manyHellos sends several hellos in one packet, each with a different token.
func (r *rogue) manyHellos() {
	r.startPacket(r.head())
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
	r.sendPacket()
}

// replay sends the previous packet again, once or many times.
func (r *rogue) replay() {
	for range 1 + r.dice.low(20) {
		r.resend(r.last)
	}
}

// mutate changes bytes of the previous packet; mostly the checksum is correct.
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
	r.sendPacket()
}

// short sends a packet that is nearly empty, or as full as possible.
func (r *rogue) short() {
	if r.dice.one(4) {
		r.startPacket(r.head())
		kind := byte(r.dice.bits(8))
		for len(r.buf) < rogueMTU {
			r.buf = append(r.buf, kind, 0)
		}
		r.sendPacket()
		return
	}
	r.buf = r.dice.appendBytes(r.buf[:0], r.dice.n(12))
	r.sendPacket()
}

// burst sends many packets at once.
func (r *rogue) burst() {
	for range 1 + r.dice.low(60) {
		r.behave()
	}
}

func (r *rogue) waitTicks() { r.next = r.match.now + time.Duration(1+r.dice.low(40))*r.match.interval }

// reconnect vanishes and connects again, with or without its token.
func (r *rogue) reconnect() {
	if !r.match.hasPlace() {
		return
	}
	r.dialAgain()
	switch r.dice.n(8) {
	case 0:
		r.token = [16]byte{}
	case 1:
		r.token = r.anyToken()
	}
}

func (r *rogue) goAway() {
	r.hangUp(transport.Code(r.dice.n(14)))
	r.next = r.match.now + time.Duration(r.dice.low(30))*r.match.interval
}

func (r *rogue) vanishFor() {
	r.vanish()
	r.next = r.match.now + time.Duration(r.dice.low(60))*r.match.interval
}
