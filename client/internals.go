package client

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
)

func init() { probe.OfClient = func(c any) probe.Client { return (*internals)(c.(*Client)) } }

// internals is a Client with the methods for simtest and inspect.
type internals Client

func (in *internals) Hash() uint64 { return in.world.Hash(in.p.Order) }

func (in *internals) SetArchitecture(name string) { in.architecture = name }

func (in *internals) OnMessage(fn func(probe.MessageReceived)) {
	in.hooks.message = append(in.hooks.message, fn)
}

func (in *internals) OnRequest(fn func(probe.RequestSent)) {
	in.hooks.request = append(in.hooks.request, fn)
}

func (in *internals) ScreenHash() probe.ScreenHash {
	c := (*Client)(in)
	t, ok := c.ghosts.receiver.Newest()
	if !ok || c.view.State < Syncing || c.view.State == Resuming || c.view.State == Closed {
		return probe.ScreenHash{}
	}
	out := probe.ScreenHash{Tick: t}
	out.Digest, out.Fields = c.ghosts.receiver.Hash(t)
	return out
}

func (in *internals) Newest() foretick.Tick {
	t, _ := in.ghosts.receiver.Newest()
	return t
}

func (in *internals) Count() int {
	n := 0
	for _, g := range in.ghosts.receiver.Ghosts() {
		if g.Data != 0 {
			n++
		}
	}
	in.timeline.spawning.waiting.Open(func(_ foretick.Tick, s spawned) bool {
		if in.world.Alive(s.e) {
			n++
		}
		return true
	})
	return n + in.timeline.clientOnly.localEntityCount()
}

func (in *internals) Entity(w schema.WireID) probe.ClientEntity {
	g := in.ghosts.ghost(w)
	if w == 0 || g == nil {
		return probe.ClientEntity{}
	}
	told := in.Newest()
	for k := 0; told != 0; k, told = k+1, told-1 {
		if _, ok := g.At(told); ok {
			break
		}
		if k > in.cfg.History { // nothing older is remembered
			told = 0
			break
		}
	}
	if v := g.Newest(); int32(v.Tick-told) > 0 {
		told = v.Tick // it was sent in pieces, and the snapshot of its tick did not arrive
	}
	return probe.ClientEntity{
		Told: told, Known: true, Alien: in.ghosts.alien(g), Own: g.Mine,
		Alive: g.Data != 0 && in.world.Alive(ecs.Entity(g.Data)),
	}
}

func (in *internals) Wire(local ecs.Entity) schema.WireID {
	if id := in.p.Identity.Find(in.world, local); id != nil {
		return schema.WireID(id.Net)
	}
	return 0
}

func (in *internals) Components() int { return len(in.p.Components) }

func (in *internals) Compare(w schema.WireID, comp int, theirs []int32, a schema.Audience, visit func(probe.Field)) (name string, known, both bool) {
	c, own := (*Client)(in), &in.p.Components[comp]
	g := c.ghosts.ghost(w)
	if own.Unknown || g == nil {
		return own.Name, false, false
	}
	at := ecs.Engine(c.world).Pointer(ecs.Entity(g.Data), own.ID)
	if at == nil || theirs == nil {
		return own.Name, true, (at == nil) == (theirs == nil)
	}
	ours, sent := make([]int32, own.Schema.Words()), make([]int32, own.Schema.Words())
	own.Schema.Quantise(at, c.ghosts.receiver.Grid(g, comp), wireRefs{&c.ghosts}, ours)
	own.Schema.Known(theirs, c.ghosts.receiver.Grid(g, comp), sent)
	for k, f := range own.Schema.Fields() {
		if f.Audience != 0 && f.Audience&a == 0 || !own.Schema.Knows(k) {
			continue
		}
		value := func(words []int32) any {
			all := make([]int32, own.Schema.Words())
			copy(all[f.Word:], words)
			return own.Schema.Value(k, all, c.ghosts.receiver.Grid(g, comp))
		}
		visit(probe.Field{Name: f.Name, Ref: f.Ref, Ours: ours[f.Word : f.Word+f.Words], Theirs: sent[f.Word : f.Word+f.Words], Singleton: own.Singleton >= 0, Value: value})
	}
	return own.Name, true, true
}

func (in *internals) SampleWhile(wanted func() bool) {
	if s := in.cfg.Sample; s != nil {
		in.cfg.Sample = interrupted{s, wanted}
	}
}

func (in *internals) OnSample(fn func(shown foretick.Tick, command unsafe.Pointer)) {
	if s := in.cfg.Sample; s != nil {
		in.cfg.Sample = overheard{s, fn}
	}
}

func (in *internals) SyncTest(ticks int, found func(probe.Desync)) error {
	c := (*Client)(in)
	switch {
	case c.begun:
		return errors.New("foretick: a sync test begins before the client's first Step")
	case ticks >= c.cfg.History:
		return fmt.Errorf("foretick: a sync test goes %d ticks back: use less than client.Config.History, which is %d", ticks, c.cfg.History)
	}
	c.hooks.desync, c.hooks.syncTest = found, max(ticks, 0)
	if ticks > 0 {
		c.build.Watch(true)
	}
	return nil
}

// post publishes the counters.
func (c *Client) post() {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	c.board.stats = c.stats
	if c.link.conn != nil {
		c.board.stats.Connection = c.link.conn.Stats()
	}
	if c.link.clock != nil {
		c.board.stats.Clock = c.link.clock.Stats()
	}
}

// Losses appends the losses of the state that the client predicts, and of the commands and
// requests that it sends, as server.Server.Losses does.
func (c *Client) Losses(dst []stats.Loss) []stats.Loss { return append(dst, c.losses.List...) }

// Stats returns the client's counters as of the end of the newest Step, or of the newest
// session if that is later. Any goroutine may call it, also while Run runs.
func (c *Client) Stats() stats.Client {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	return c.board.stats
}

const (
	countsEvery = 10 * time.Second // the least time between two reports of counts
	countsRate  = 3                // how many bytes a second the reports may take, with the message's header
)

// causeCounts reports to the server how many corrections the client had, by cause. A report has all
// counts of the connection, so a lost report does not matter once the next one arrives.
type causeCounts struct {
	base  prediction.ByCause // the counts when the connection began
	said  cause.Counts       // the counts in the newest report
	again bool               // said was sent twice, since packets may be lost
	next  time.Duration      // when a report is due
}

// beginCounts starts the counts of a connection.
func (c *causeCounts) beginCounts(l *base) {
	*c = causeCounts{base: l.stats.ByCause, again: true, next: l.now + countsEvery}
}

// writeCounts puts a report into the packet that is being built, if one is due and would have something
// new.
func (c *causeCounts) writeCounts(l *link, pk *netcode.Packet) {
	if l.now < c.next {
		return
	}
	var counts cause.Counts
	for i, n := range l.stats.ByCause.All() {
		counts[i] = uint32(n - c.base.Of(i))
	}
	same := counts == c.said
	if same && c.again {
		return
	}
	l.scratch = counts.Append(l.scratch[:0])
	if pk.Message(game.MessageReport, l.scratch) {
		size := time.Duration(len(l.scratch) + 2)
		c.said, c.again, c.next = counts, same, l.now+max(countsEvery, size*time.Second/countsRate)
	}
}

// keepFrames makes the history for the frames that shots are predicted with. Without prediction that
// happens long after the frame.
func (sc *screen) keepFrames() {
	if seen, err := lagcomp.NewHistory(sc.framesKept()); err == nil { // a similar one was accepted before
		sc.visible = seen
	}
}

// framesKept returns for how many frames the hitboxes are kept.
func (sc *screen) framesKept() lagcomp.Config {
	kept := lagcomp.Config{TickRate: sc.p.TickRate, Shapes: sc.p.Shapes}
	if sc.cfg.InputDelay > 0 || sc.cfg.DelayAbove > 0 || sc.cfg.NoPrediction { // a shot is predicted that much later than its frame
		kept.Depth = min(max(delayedFrames*time.Second/time.Duration(sc.p.TickRate), lagcomp.DefaultDepth), 10*time.Second)
	}
	return kept
}

// receivedBytes counts the bytes of snapshots by component and field, while an inspector wants it. A
// server of another build may have components that this build does not know: their bytes are counted
// with those of no component.
type receivedBytes struct {
	own     *schema.Registry  // this build's registry: its lines are counted
	spoken  *schema.Registry  // the registry of the profile
	profile *snapshot.Profile // nil: nothing is counted
	to      []int             // this build's line for each line of the profile
	before  []float64         // the counts with earlier servers' registries
	now     []float64         // scratch
}

// startCounting begins to count, or ends it.
func (b *receivedBytes) startCounting(on bool, own *schema.Registry, r *snapshot.Receiver) {
	*b = receivedBytes{}
	if !on {
		r.SetProfile(nil)
		return
	}
	b.own = own
	b.before = make([]float64, len(snapshot.NewProfile(own).Lines()))
	b.follow(r)
}

// follow counts the bytes that a new receiver reads.
func (b *receivedBytes) follow(r *snapshot.Receiver) {
	if b.own == nil {
		return
	}
	if spoken := r.Registry(); spoken != b.spoken {
		b.before = b.sums(b.before[:0:0])
		b.spoken, b.profile = spoken, snapshot.NewProfile(spoken)
		b.to = linesOf(b.own, b.profile)
	}
	r.SetProfile(b.profile)
}

// linesOf returns the line of a build for each line of a profile.
func linesOf(own *schema.Registry, p *snapshot.Profile) []int {
	lines := snapshot.NewProfile(own).Lines()
	var to []int
	for _, l := range p.Lines() {
		i := slices.IndexFunc(lines, func(x snapshot.ProfileLine) bool { return x.Component == l.Component && x.Field == l.Field })
		if i < 0 {
			i = len(lines) - 1
		}
		to = append(to, i)
	}
	return to
}

// sums appends the bytes of each line of this build.
func (b *receivedBytes) sums(dst []float64) []float64 {
	from := len(dst)
	dst = append(dst, b.before...)
	if b.profile == nil {
		return dst
	}
	b.now = b.profile.Sums(b.now[:0])
	for i, n := range b.now {
		dst[from+b.to[i]] += n
	}
	return dst
}

func (in *internals) CountBytes(on bool) {
	c := (*Client)(in)
	c.ghosts.bytes.startCounting(on, c.build.Registry, c.ghosts.receiver)
}

func (in *internals) Counted(dst [][2]string) [][2]string {
	return game.CountedLines(in.build.Registry, dst)
}

func (in *internals) CountedBytes(dst []float64) []float64 { return in.ghosts.bytes.sums(dst) }
