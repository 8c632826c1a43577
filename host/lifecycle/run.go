package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/host/internal/hook"
	"github.com/foretick/foretick/internal/contain"
)

// Run runs a host and calls a lifecycle, in the order that the package describes. It returns when
// the host has ended and Shutdown was called. When ctx ends, the host drains: running matches play
// to their end, for Config.DrainFor at most.
//
// Run returns nil when the host has ended as it was asked to: by ctx, Drain, Shutdown or the manager.
// Otherwise the error joins that of [host.Host.Run] with that of Shutdown, if the manager did not take
// Shutdown. Run returns an error at once for a faulty Config.
func Run(ctx context.Context, h *host.Host, l Lifecycle, cfg Config) error {
	if h == nil {
		return cfg.checkConfig(nil, l)
	}
	return runHost(ctx, h, l, cfg)
}

func init() {
	hook.RunLifecycle = func(ctx context.Context, h, l, cfg any) error {
		return runHost(ctx, h.(served), l.(Lifecycle), cfg.(Config))
	}
}

// runHost is Run.
func runHost(ctx context.Context, h served, l Lifecycle, cfg Config) error {
	if ctx == nil {
		return errors.New("lifecycle: Run is given a nil context: pass context.Background()")
	}
	if err := cfg.checkConfig(h, l); err != nil {
		return err
	}
	k := &keeper{Config: cfg, host: h, life: l, lines: lines{log: cfg.Logger}, known: make(chan struct{}), news: make(chan struct{}, 1),
		poll: max(cfg.Every/8, time.Millisecond), count: cfg.Every / 2, retry: max(cfg.Every/20, time.Millisecond)}
	stopped := context.AfterFunc(ctx, func() { h.Drain("this server ends") })
	defer stopped()
	calls, hangUp := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { k.keepWatch(calls) })
	running.Go(func() { k.health(calls) })
	matches, shutDown := context.WithCancel(context.Background())
	defer shutDown()
	running.Go(func() { ended <- h.Run(matches) })
	err := k.loop(calls, ended, shutDown)
	hangUp()
	running.Wait()
	return errors.Join(err, k.shutdown())
}

// keeper holds the state of one call of Run.
type keeper struct {
	Config
	host  served
	life  Lifecycle
	lines lines
	known chan struct{} // closed when the first state arrives
	news  chan struct{} // signals that states wait

	poll  time.Duration // time between two looks at the host
	count time.Duration // time between two calls of Counts
	retry time.Duration // wait before a failed call is first repeated

	onState, escalate contain.Rarely // limits how often panics in OnState and Escalate are logged

	mu     sync.Mutex
	states []State

	// Only the goroutine of loop uses the fields below.
	newest State
	logged string // the phase that was logged last
	some   bool   // a state was seen
	// told is the newest phase that the manager was told, or reported itself.
	told phase
	// idle is when a match last ran, or when the manager allocated the process.
	idle      time.Time
	draining  bool              // the host drains, and the log says so
	saidDrain bool              // the manager has taken Draining
	counted   time.Time         // when the manager last took Counts; zero: call it at once
	tries     map[string]*trial // failed calls that are repeated, by name
}

type phase int

const (
	nothing phase = iota
	ready
	allocated
)

// trial is a failed call that will be repeated.
type trial struct {
	at   time.Time     // when to repeat it
	wait time.Duration // the wait before that
}

const (
	longestWait = 2 * time.Second
	mostStates  = 256 // states that may wait for OnState
)

// loop does everything but Watch, Health and Shutdown. It calls shutDown, which ends all matches, when
// the host has drained for Config.DrainFor.
func (k *keeper) loop(ctx context.Context, ended <-chan error, shutDown func()) error {
	ticker := time.NewTicker(k.poll)
	defer ticker.Stop()
	var overdue *time.Timer
	for {
		select {
		case err := <-ended:
			if overdue != nil {
				overdue.Stop()
			}
			if k.some && !k.saidDrain {
				k.call(ctx, "Draining", k.life.Draining)
			}
			return err
		case <-k.news:
		case <-ticker.C:
		}
		if k.host.Draining() && !k.draining {
			k.draining, k.counted = true, time.Time{}
			if k.DrainFor > 0 {
				overdue = time.AfterFunc(k.DrainFor, shutDown)
			}
			k.lines.logLine(slog.LevelInfo, "the host drains", "")
		}
		k.takeStates()
		k.logPhase()
		if k.some { // before the first state, the manager is told nothing
			k.tellManager(ctx, time.Now())
		}
	}
}

// takeStates takes the states that have arrived.
func (k *keeper) takeStates() {
	k.mu.Lock()
	all := k.states
	k.states = nil
	k.mu.Unlock()
	for _, s := range all {
		before := k.newest
		k.newest, k.some = s, true
		switch {
		case s.Allocated && (!before.Allocated || !maps.Equal(s.Annotations, before.Annotations)):
			k.told, k.idle = allocated, time.Now()
		case !s.Allocated && before.Allocated && k.told == allocated:
			k.told = ready // if matches run, Allocated is called again
		}
		if s.Ending && !k.host.Draining() {
			k.host.Drain("this server is removed")
		}
		if k.OnState != nil {
			k.calls(&k.onState, "OnState", func() { k.OnState(s) })
		}
	}
}

// logPhase logs the newest phase. One that lasts for less than a second may be left out.
func (k *keeper) logPhase() {
	if k.newest.Phase == k.logged {
		return
	}
	if skipped, due := k.lines.mayLog("phase"); due {
		k.logged = k.newest.Phase
		k.Logger.Info("the fleet manager says", "state", k.newest.Phase, "name", k.newest.Name, "skipped", skipped)
	}
}

// tellManager makes the calls that are due.
func (k *keeper) tellManager(ctx context.Context, now time.Time) {
	st := k.host.Stats()
	if now.Sub(k.counted) >= k.count && k.call(ctx, "Counts", func(ctx context.Context) error { return k.life.Counts(ctx, k.counts(st)) }) {
		k.counted = now
	}
	if st.Matches > 0 {
		k.idle = now
	}
	switch {
	case k.draining && k.saidDrain:
	case k.draining:
		k.saidDrain = k.call(ctx, "Draining", k.life.Draining)
	case st.Matches > 0 && k.told != allocated && k.told != nothing:
		if k.call(ctx, "Allocated", k.life.Allocated) {
			k.told = allocated
		}
	case k.told == nothing, st.Matches == 0 && k.told == allocated && k.Idle >= 0 && now.Sub(k.idle) >= k.Idle:
		if k.call(ctx, "Ready", k.life.Ready) {
			k.told = ready
		}
	}
}

// counts returns the numbers and names of the host's matches and players.
func (k *keeper) counts(st host.Stats) Counts {
	c := Counts{Matches: st.Matches, Players: st.Players, Ready: k.host.Ready(),
		MatchNames:  func() []string { return k.host.Matches(nil) },
		PlayerNames: func() []string { return k.host.Identities(nil) }}
	if c.Ready {
		c.FreeMatches, c.FreePlayers = k.host.Free()
	}
	return c
}

// call calls the manager, unless the same call failed and its wait is not over. It reports success.
func (k *keeper) call(ctx context.Context, name string, fn func(context.Context) error) bool {
	if k.tries == nil {
		k.tries = map[string]*trial{}
	}
	t := k.tries[name]
	if t != nil && time.Now().Before(t.at) {
		return false
	}
	err := k.once(ctx, fn)
	if err == nil {
		delete(k.tries, name)
		if name != "Counts" {
			k.lines.logLine(slog.LevelInfo, "told the fleet manager", name)
		}
		return true
	}
	if t == nil {
		t = &trial{wait: k.retry}
		k.tries[name] = t
		k.lines.logLine(slog.LevelWarn, "the fleet manager did not take a call, which is tried again", name, "err", err)
	} else {
		t.wait = min(2*t.wait, longestWait)
	}
	t.at = time.Now().Add(t.wait)
	return false
}

// once calls the manager with Config.Timeout as the limit.
func (k *keeper) once(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, k.Timeout)
	defer cancel()
	return fn(ctx)
}

// keepWatch calls Watch again and again until ctx ends.
func (k *keeper) keepWatch(ctx context.Context) {
	wait, said := k.retry, false
	for ctx.Err() == nil {
		arrived := false
		err := k.life.Watch(ctx, func(s State) {
			arrived, said, wait = true, false, k.retry
			k.putState(s)
		})
		if ctx.Err() != nil {
			return
		}
		if !said {
			k.lines.logLine(slog.LevelWarn, "the watch of the fleet manager ended, and is opened again", "", "err", err)
			said = true
		}
		if !pause(ctx, wait) {
			return
		}
		if !arrived {
			wait = min(2*wait, longestWait)
		}
	}
}

// putState hands a state to the loop.
func (k *keeper) putState(s State) {
	k.mu.Lock()
	if k.states = append(k.states, s); len(k.states) > mostStates {
		k.states = k.states[1:]
	}
	k.mu.Unlock()
	select {
	case <-k.known:
	default:
		close(k.known)
	}
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// health sends signs of life until ctx ends.
func (k *keeper) health(ctx context.Context) {
	select {
	case <-k.known:
	case <-ctx.Done():
		return
	}
	failed, withheld := 0, false
	for {
		alive := k.host.Live()
		if withheld == alive {
			withheld = !alive
			k.lines.logLine(slog.LevelWarn, "steps of the host", "", "end", alive)
		}
		if alive {
			// Without ctx: a call that ctx broke off could reach the manager after Shutdown.
			if err := k.once(context.Background(), k.life.Health); err != nil {
				failed++
				k.failed(failed, err)
			} else {
				failed = 0
			}
		}
		if !pause(ctx, k.Every) {
			return
		}
	}
}

// failed logs that a call of Health failed, for the times-th time in a row. It escalates when that is
// Config.Failures.
func (k *keeper) failed(times int, err error) {
	k.lines.logLine(slog.LevelWarn, "the fleet manager did not take a sign of life", "", "times", times, "err", err)
	if times != k.Failures {
		return
	}
	if k.Escalate != nil {
		k.calls(&k.escalate, "Escalate", func() { k.Escalate(err) })
		return
	}
	k.Logger.Error("the fleet manager hears nothing of this host, which drains", "err", err)
	k.host.Drain("this server lost its fleet")
}

// calls calls a function of Config. A panic in it, or runtime.Goexit, is logged with its stack once an
// hour, and Run goes on.
func (k *keeper) calls(rarely *contain.Rarely, name string, fn func()) {
	failed := contain.Call(fn)
	if failed == nil {
		return
	}
	if skipped, due := rarely.Due(time.Now()); due {
		k.Logger.Error("panic in a function of lifecycle.Config: the host goes on", "function", name, "value", failed.Value, "skipped", skipped, "stack", string(failed.Stack))
	}
}

// shutdown tells the manager that the process ends.
func (k *keeper) shutdown() error {
	var err error
	for i := range k.Failures {
		if i > 0 {
			time.Sleep(k.retry << min(i, 4))
		}
		if err = k.once(context.Background(), k.life.Shutdown); err == nil {
			k.Logger.Info("told the fleet manager", "call", "Shutdown")
			return nil
		}
		k.Logger.Warn("the fleet manager did not take Shutdown", "err", err)
	}
	return fmt.Errorf("lifecycle: the fleet manager did not take Shutdown: %w", err)
}

// pause waits for d. It returns false as soon as ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
