package relay

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

const (
	worldPatience  = 5 * time.Second  // worldPatience is for how long a player may send too little of a world, and a guest take too little.
	nobodyPatience = 20 * time.Second // nobodyPatience is for how long a guest waits if no player can be asked.
	mostLies       = 2                // mostLies is the number of wrong worlds with which a player is dropped.
	mostTries      = 3                // mostTries is how often all players are asked again for a guest, and it is deferred.
	mostOutrun     = 2                // mostOutrun is how many worlds of a guest may come too late to be of use.

	// hurryPatience is worldPatience for a guest that others wait for. In it, the guest must take hurryPieces, or a quarter
	// of what SendRate allows if that is less.
	hurryPatience = 2 * time.Second
	hurryPieces   = settled.MaxPieces / 2

	// leastPieces is how many pieces a guest must take in worldPatience, if so many wait for it.
	leastPieces = settled.MaxPieces / 4
	// leastBytes is how many bytes of a world a player must send in worldPatience, if so many were asked for.
	leastBytes = leastPieces * settled.MaxPiece
)

// Why a guest gets no world although players have it, with the length in bytes.
const (
	tooLong = "a world of %d bytes comes too late: raise relay.Config.SendRate or History, or call Step more often"
	tooMuch = "a world of %d bytes is longer than relay.Config.MaxWorld: raise it"
	tooFar  = "the peer took a world of %d bytes and not the ticks after it: raise relay.Config.SendRate or History"
	tooSlow = "players send a world of %d bytes too slowly: raise their rollback.Config.SendRate, or relay.Config.History"
)

// worlds passes worlds from players to guests that join late: one at a time. It never has a world itself, but one piece.
// Guests that were deferred less often go first, of these players before observers, and then those that came first.
type worlds struct {
	places   *places
	settling *settling
	sums     *sums
	rate     uint8
	most     uint32 // most is Config.MaxWorld.
	sendable uint64 // sendable is how many bytes Config.SendRate allows to send within Config.History.
	hurry    int    // hurry is how many pieces a guest must take in hurryPatience while others wait.
	drop     func(g *guest, code transport.Code, reason string)
	queue    []*guest // queue has the guests that wait, in the order of their turns.
	taking   []*guest // taking has the guests that were sent a world whole, and have yet to take the end of it.
	transfer transfer // transfer is that of the first guest in queue.

	passed uint64 // passed counts worlds that guests took whole.
	failed uint64 // failed counts guests that were dropped because they got no world.
	lies   uint64 // lies counts worlds that were not those of the majority.
}

// transfer is one world that is passed on. Its zero value asks nobody.
type transfer struct {
	from    *guest        // from is the player whose world it is.
	tick    netcode.Tick  // tick is the one at whose end the world is.
	base    []byte        // base is the standing of tick. It is nil until the tick has settled.
	until   uint32        // until is the offset up to which from was asked for pieces.
	got     uint32        // got is the offset up to which pieces came.
	total   uint32        // total is the world's length in bytes. It is 0 before the first piece.
	hash    hash.Hash     // hash has taken all pieces that came.
	news    time.Duration // news is when from had last sent all it was asked for, or leastBytes more.
	newsAt  uint32        // newsAt is what got was at news.
	sent    int           // sent counts the pieces that were passed on to the guest.
	took    time.Duration // took is when the guest had last taken all pieces, or leastPieces more.
	tookAt  int           // tookAt is how many of sent the guest had taken at took.
	verdict *sumRound     // verdict is a copy of the round of tick. It is nil until that is decided.
	asked   uint64        // asked has a bit for each player that was asked.
	long    uint64        // long has a bit for each player in asked whose world is longer than worlds.most or sendable.
	claimed uint32        // claimed is the length of the newest of these worlds.
	tries   int           // tries counts how often all players were asked.
	outrun  int           // outrun counts players that sent a world so slowly that the ticks after it were gone.
}

// await makes a guest wait for a world.
func (w *worlds) await(g *guest) {
	g.state, g.showed, g.deferred = waiting, false, 0
	w.enqueue(g)
}

// enqueue puts a guest into the queue. The guest whose turn it is keeps it.
func (w *worlds) enqueue(g *guest) {
	at := len(w.queue)
	for ; at > 1; at-- {
		if b := w.queue[at-1]; b.deferred < g.deferred || b.deferred == g.deferred && (b.player != 0 || g.player == 0) {
			break
		}
	}
	w.queue = slices.Insert(w.queue, at, g)
}

// hurried reports whether a guest that was deferred no more often waits for the first one.
func (w *worlds) hurried() bool {
	return slices.ContainsFunc(w.queue[1:], func(g *guest) bool { return g.deferred <= w.queue[0].deferred })
}

// forget takes in that a guest is gone.
func (w *worlds) forget(g *guest) {
	if i := slices.Index(w.queue, g); i >= 0 {
		if w.queue = slices.Delete(w.queue, i, i+1); i == 0 {
			w.transfer = transfer{}
		}
	}
	w.taking = slices.DeleteFunc(w.taking, func(t *guest) bool { return t == g })
	if w.transfer.from == g {
		w.giveUp()
	}
}

// settled takes in that a tick settled.
func (w *worlds) settled(t netcode.Tick) {
	if x := &w.transfer; x.from != nil && x.tick == t {
		x.base = w.settling.standing.AppendWhole(nil)
	}
}

// step goes on with the first guest that waits, and lets those follow that took their worlds.
func (w *worlds) step(now time.Duration) {
	w.finish()
	if len(w.queue) == 0 {
		return
	}
	x, to := &w.transfer, w.queue[0]
	if to.outrun >= mostOutrun {
		w.refuse(to, transport.Overflow, fmt.Sprintf(tooFar, to.world))
		return
	}
	if x.from == nil && !w.ask(now) {
		w.askAgain(now, to)
		return
	}
	least, patience := leastPieces, worldPatience
	hurried := w.hurried()
	if hurried {
		least, patience = w.hurry, hurryPatience
	}
	waits := to.conn.PendingOn(settled.ChannelWorld)
	if taken := x.sent - waits; waits == 0 || x.took == 0 || taken-x.tookAt >= least {
		x.took, x.tookAt = now, taken
	}
	switch {
	case now-x.took > patience:
		w.deferGuest(to, !hurried)
		return
	case x.base == nil: // its tick has not settled
		x.news = now
	case !w.settling.follows(x.tick) && x.got < x.until && x.got != x.total:
		if x.outrun++; x.outrun >= mostOutrun {
			w.refuse(to, transport.Overflow, fmt.Sprintf(tooSlow, x.total))
			return
		}
		w.giveUp()
		return
	case !w.settling.follows(x.tick):
		w.places.blame(x.from.player) // it may have held back its pieces until now
		w.refuse(to, transport.Overflow, fmt.Sprintf(tooLong, x.total))
		return
	case waits > 0 && x.got == x.until:
		x.news = now // the guest is slow, not the player
	case now-x.news > worldPatience:
		w.giveUp()
		return
	}
	w.judge(to)
	if until := x.got + uint32(max(settled.MaxPieces-waits, 0))*settled.MaxPiece; x.from != nil && until >= x.until+leastBytes {
		x.until = until
		w.send(x.from, settled.KindAsk, settled.Ask{Tick: x.tick, Until: until}.Append(nil))
	}
}

// deferGuest lets the other guests go before one that takes too little of its world. It drops the guest if that was so
// too often and bad is true.
func (w *worlds) deferGuest(g *guest, bad bool) {
	if g.deferred++; bad && g.deferred > mostTries {
		w.refuse(g, transport.Overflow, "the peer takes too little of its world: its path or relay.Config.SendRate is too slow")
		return
	}
	w.queue = slices.Delete(w.queue, 0, 1)
	w.transfer = transfer{}
	w.enqueue(g)
}

// finish makes guests that took all of their worlds follow the match. Before, ticks would only take the room of pieces.
func (w *worlds) finish() {
	for i := len(w.taking) - 1; i >= 0; i-- {
		switch g := w.taking[i]; {
		case g.conn.PendingOn(settled.ChannelWorld) == 0:
			g.state = following
			w.taking = slices.Delete(w.taking, i, i+1)
			w.passed++
		case !w.settling.follows(g.holds):
			w.refuse(g, transport.Overflow, fmt.Sprintf(tooLong, g.world))
		}
	}
}

// refuse drops a guest that gets no world.
func (w *worlds) refuse(to *guest, code transport.Code, reason string) {
	w.failed++
	w.drop(to, code, reason)
}

// ask asks a player that was not asked yet: of those that were too slow least often, the one whose own inputs
// came in time for the longest time. It returns false if there is none.
func (w *worlds) ask(now time.Duration) bool {
	x := &w.transfer
	best := ecs.Owner(0)
	better := func(a, b *place) bool {
		return a.slow < b.slow || a.slow == b.slow && netcode.Newer(b.stoodIn, a.stoodIn)
	}
	for i := range w.places.all {
		pl, p := &w.places.all[i], ecs.Owner(i+1)
		if !pl.joined || pl.leaves || !w.places.caughtUp(pl.guest, w.settling.newest) || x.asked&settled.BitOf(p) != 0 {
			continue
		}
		if best == 0 || better(pl, w.places.at(best)) {
			best = p
		}
	}
	if best == 0 {
		return false
	}
	t := w.settling.newest
	t += netcode.Tick(w.rate) - t%netcode.Tick(w.rate)
	*x = transfer{from: w.places.at(best).guest, tick: t, news: now, hash: sha256.New(), asked: x.asked | settled.BitOf(best), long: x.long, claimed: x.claimed, tries: x.tries, outrun: x.outrun}
	return true
}

// askAgain makes the next step ask all players again, or drops the guest if that is of no use.
func (w *worlds) askAgain(now time.Duration, to *guest) {
	x := &w.transfer
	if x.asked != 0 && x.long == x.asked {
		reason := tooLong
		if x.claimed > w.most {
			reason = tooMuch
		}
		w.refuse(to, transport.Overflow, fmt.Sprintf(reason, x.claimed))
		return
	}
	if x.asked != 0 {
		x.asked, x.long, x.tries = 0, 0, x.tries+1
	}
	if x.news == 0 {
		x.news = now
	}
	if x.tries > mostTries || now-x.news > nobodyPatience {
		w.refuse(to, transport.Full, "no player has a world that is that of most players")
	}
}

// giveUp gives up a player that did not send its world in time, or another one. Others are asked before it from now on.
func (w *worlds) giveUp() {
	w.places.blame(w.transfer.from.player)
	w.askAnother()
}

// askAnother ends what a player was asked for. The next step asks another one.
func (w *worlds) askAnother() {
	x := &w.transfer
	*x = transfer{asked: x.asked, long: x.long, claimed: x.claimed, tries: x.tries, outrun: x.outrun}
}

// take passes on a piece. A piece of another tick is one that was on its way when the player was given up.
func (w *worlds) take(now time.Duration, g *guest, body []byte) error {
	p, err := settled.ReadPiece(body)
	x := &w.transfer
	if err != nil || x.from != g || p.Tick != x.tick {
		return err
	}
	end := p.Offset + uint32(len(p.Data))
	if x.base == nil || p.Offset != x.got || len(p.Data) < settled.MaxPiece && end != p.Total || end > x.until || x.total != 0 && p.Total != x.total {
		w.giveUp()
		return netcode.ErrMalformed
	}
	if p.Total > w.most || uint64(p.Total) > w.sendable {
		x.long, x.claimed = x.long|settled.BitOf(g.player), p.Total
		w.giveUp()
		return nil
	}
	x.got, x.total = end, p.Total
	if end == x.until || end == x.total || end-x.newsAt >= leastBytes {
		x.news, x.newsAt = now, end
	}
	x.hash.Write(p.Data)
	w.send(w.queue[0], settled.KindPiece, body)
	x.sent++
	return nil
}

// judge ends a world that came whole, if it is known what most players' sum of it is.
func (w *worlds) judge(to *guest) {
	x := &w.transfer
	if r := w.sums.round(x.tick); x.verdict == nil && r != nil && r.decided {
		of := *r
		x.verdict = &of
	}
	if x.total == 0 || x.got < x.total || x.verdict == nil {
		return
	}
	own := settled.LE.Uint64(x.hash.Sum(nil))
	switch from := x.from; {
	case !x.verdict.most: // nobody knows which world is right
		w.askAnother()
	case own != x.verdict.majority:
		w.lies++
		w.giveUp()
		pl := w.places.at(from.player)
		if pl.lies++; pl.lies >= mostLies {
			w.drop(from, transport.Protocol, "its world is not that of the other players")
			w.places.leave(pl)
		}
	default:
		w.send(to, settled.KindWorld, append(settled.WorldVerdict{Tick: x.tick, Total: x.total, Sum: own}.Append(nil), x.base...))
		to.state, to.holds, to.world = taking, x.tick, x.total
		w.taking = append(w.taking, to)
		w.queue = slices.Delete(w.queue, 0, 1)
		w.transfer = transfer{}
	}
}

// send sends a guest a message about worlds. The bounds on what is asked keep its queue from being full;
// if it is all the same, the guest gets no whole world, and is dropped as silent.
func (w *worlds) send(g *guest, kind uint8, body []byte) {
	channel := uint8(settled.ChannelWorld)
	if kind == settled.KindAsk {
		channel = settled.ChannelMain
	}
	_ = g.conn.SendOn(channel, w.settling.newest, kind, body)
}
