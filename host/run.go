package host

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/foretick/foretick/transport"
)

// slot is the least time of a worker's round. A worker flushes the endpoint once in each round.
const slot = time.Millisecond

// endsNow is what players read when the context of Run ends.
const endsNow = "this server ends now"

// Run runs the host until the context ends, or, after Close, Drain or Shutdown, until the last match has
// ended. When the context ends it calls Shutdown with Config.Linger. Then it closes the endpoint.
//
// Run returns nil after each of these ends, and for a host that was closed before. It returns an error
// for a nil context, and the endpoint's error if closing it failed. A match that fails does not end Run:
// see [Config].OnEnd.
func (h *Host) Run(ctx context.Context) error {
	if ctx == nil {
		return errors.New("host: Host.Run is given a nil context: pass context.Background()")
	}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.runs = true
	count := h.cfg.Workers
	if count == 0 {
		count = runtime.GOMAXPROCS(0)
	}
	h.clock = sinceEpoch
	h.load.round.Store(int64(max(h.elapsed(), 1)))
	for len(h.workers) < count {
		h.workers = append(h.workers, newWorker())
	}
	for i, m := range slices.Clone(h.workers[0].members()) { // made before Run
		if w := h.workers[i%count]; w != m.home {
			m.target.Store(w)
		}
	}
	done := make(chan struct{})
	h.start = func(w *worker) {
		h.running.Add(1)
		go h.work(w, done)
	}
	for _, w := range h.workers {
		h.start(w)
	}
	h.mu.Unlock()
	h.running.Go(func() { h.carry(done) })
	h.watchWorkers(ctx, done)
	h.mu.Lock()
	err := h.closeLocked(endsNow)
	h.tails.Wait()
	if errors.Is(err, transport.ErrClosed) { // the program has closed the endpoint
		return nil
	}
	return err
}

// aside runs fn, which may wait for a disk, in a goroutine of its own. In virtual time it runs fn at
// once.
func (h *Host) aside(fn func()) {
	if h.clock == nil {
		fn()
		return
	}
	h.tails.Go(fn)
}

// carry is the porter's goroutine.
func (h *Host) carry(done <-chan struct{}) {
	for {
		h.now = time.Now()
		h.porter()
		select {
		case <-done:
			return
		case <-h.endpoint.Ready():
		}
	}
}

// elapsed returns the time that steps are measured with.
func (h *Host) elapsed() time.Duration { return h.cfg.elapsed() }

// wall returns the present time. In virtual time it returns the time that Step was called with.
func (h *Host) wall() time.Time {
	if h.clock != nil {
		return time.Now()
	}
	return h.now
}

// work is a worker's goroutine. If the game calls runtime.Goexit, this goroutine ends and another one
// begins.
func (h *Host) work(w *worker, done <-chan struct{}) {
	ended := false
	defer func() {
		if ended || w.over {
			h.retire(w)
			return
		}
		go h.work(w, done)
	}()
	w.number.Store(goroutine())
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		next := w.runMatches(h, now)
		if w.over || w.lone && len(w.mine) == 0 {
			ended = true
			return
		}
		h.endpoint.Flush()
		took := time.Since(now)
		w.busy.Add(int64(took))
		if took < slot {
			time.Sleep(slot - took)
		}
		h.load.round.Store(int64(h.elapsed()))
		wait := time.Second
		if !next.IsZero() {
			wait = min(max(time.Until(next), 0), wait)
		}
		timer.Reset(wait)
		select {
		case <-done:
			ended = true
			return
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// retire removes a worker whose goroutine ends.
func (h *Host) retire(w *worker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loners = slices.DeleteFunc(h.loners, func(o *worker) bool { return o == w })
	if !w.left {
		h.running.Done()
	}
}

// epoch is the zero of sinceEpoch.
var epoch = time.Now()

func sinceEpoch() time.Duration { return time.Since(epoch) }

const (
	watchEvery   = 50 * time.Millisecond
	balanceEvery = 2 * time.Second
	// Matches move when one worker is busier than another by this share of the time.
	unequal = 0.25
)

// watchWorkers checks the workers until all matches have ended. Then it ends their goroutines, and goes
// on checking until they have ended: a function of the game may hang in one.
func (h *Host) watchWorkers(ctx context.Context, done chan<- struct{}) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	balanced := time.Now()
	ctxEnds := ctx.Done()
	var gone chan struct{}
	for {
		select {
		case <-ctxEnds:
			ctxEnds = nil
			h.Shutdown(endsNow, h.cfg.Linger)
		case <-gone:
			return
		case now := <-ticker.C:
			h.lookForHangs(h.elapsed())
			h.judgeLoad(h.elapsed())
			h.counted.readCounters(h, now)
			if now.Sub(balanced) >= balanceEvery {
				h.balance(now.Sub(balanced))
				balanced = now
			}
		}
		if gone == nil && h.done() {
			close(done)
			gone = make(chan struct{})
			go func() {
				h.running.Wait()
				close(gone)
			}()
		}
	}
}

// balance moves a match from the busiest worker to the idlest, if they are unequal.
func (h *Host) balance(passed time.Duration) {
	most, least, high, low := 0, 0, int64(-1), int64(1<<62)
	for i, w := range h.workers {
		total := w.busy.Load()
		d := total - w.counted
		w.counted = total
		if d > high {
			most, high = i, d
		}
		if d < low {
			least, low = i, d
		}
	}
	from, to := h.workers[most], h.workers[least]
	if float64(high-low) < unequal*float64(passed) || from.load.Load() < 2 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.matches {
		if m.home == from && m.target.Load() == nil {
			m.target.Store(to)
			from.wakeUp()
			return
		}
	}
}

// goroutine returns the number of the calling goroutine, as stacks show it.
func goroutine() uint64 {
	var b [64]byte
	text := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, _ := strconv.ParseUint(string(number), 10, 64)
	return n
}

// stackOf returns the stack of a goroutine.
func stackOf(number uint64) string {
	b := make([]byte, 1<<20)
	b = b[:runtime.Stack(b, true)]
	head := []byte("goroutine " + strconv.FormatUint(number, 10) + " ")
	for one := range bytes.SplitSeq(b, []byte("\n\n")) {
		if bytes.HasPrefix(one, head) {
			return string(one)
		}
	}
	return ""
}
