package bots

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Player is what a Crowd runs: a [Light] or a [Client].
type Player interface {
	// Step runs the player at a time that is due. The error is the reason why the player left.
	Step(now time.Time) error
	// Next returns when Step is due.
	Next() time.Time
	// Playing reports whether the player is in the match.
	Playing() bool
	// Close leaves the match.
	Close() error
}

// Crowd runs many players in one process.
type Crowd struct {
	// Count is how many players join.
	Count int
	// PerSecond is how many of them start in a second. 0 means all at once. Negative is an
	// error.
	PerSecond float64
	// Start makes the n-th player, from 0. Several goroutines call it. Required.
	Start func(n int) (Player, error)
	// Workers is the number of goroutines that run players. 0 means one for each processor.
	// Negative is an error.
	Workers int
	// OnGone, when set, is called when a player could not be started or was dropped. Several
	// goroutines may call it.
	OnGone func(n int, err error)

	started, playing, gone atomic.Int64
}

// Started returns how many players were started so far.
func (c *Crowd) Started() int { return int(c.started.Load()) }

// Playing returns how many players play. Any goroutine may call it while Run runs.
func (c *Crowd) Playing() int { return int(c.playing.Load()) }

// Gone returns how many players could not be started, or were dropped.
func (c *Crowd) Gone() int { return int(c.gone.Load()) }

// slot is how long a worker sleeps after it has run those of its players that are due.
const slot = time.Millisecond

// Run starts the players one after another and runs them until the context ends. Then it closes
// them, and returns nil. Players that left or could not be started are no error: see OnGone. The
// error names a fault of the Crowd, or a nil context.
func (c *Crowd) Run(ctx context.Context) error {
	if c.Start == nil || c.Count < 0 || c.PerSecond < 0 || c.Workers < 0 {
		return fmt.Errorf("bots: Crowd has Count %d, PerSecond %v, Workers %d: none may be negative, and Start is required", c.Count, c.PerSecond, c.Workers)
	}
	if ctx == nil {
		return errors.New("bots: Crowd.Run is given a nil context: pass context.Background()")
	}
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var running sync.WaitGroup
	begun := time.Now()
	for w := range workers {
		running.Go(func() { c.work(ctx, begun, w, workers) })
	}
	running.Wait()
	return nil
}

// member is a player of a worker.
type member struct {
	Player
	n       int
	playing bool
}

// work runs the players whose number leaves w when divided by workers.
func (c *Crowd) work(ctx context.Context, begun time.Time, w, workers int) {
	var mine []*member
	for n := w; ; time.Sleep(slot) {
		now := time.Now()
		for ; n < c.Count && (c.PerSecond == 0 || now.Sub(begun).Seconds()*c.PerSecond >= float64(n)); n += workers {
			c.started.Add(1)
			p, err := c.Start(n)
			if err != nil {
				c.playerLost(n, err)
				continue
			}
			mine = append(mine, &member{Player: p, n: n})
		}
		kept := mine[:0]
		for _, m := range mine {
			if m.Next().After(now) || c.stepMember(m, now) {
				kept = append(kept, m)
			}
		}
		clear(mine[len(kept):])
		mine = kept
		if ctx.Err() != nil {
			for _, m := range mine {
				c.notePlaying(m, false)
				_ = m.Close()
			}
			return
		}
	}
}

// stepMember runs a player, and reports whether it stays.
func (c *Crowd) stepMember(m *member, now time.Time) bool {
	err := m.Step(now)
	c.notePlaying(m, err == nil && m.Playing())
	if err == nil {
		return true
	}
	_ = m.Close()
	c.playerLost(m.n, err)
	return false
}

// notePlaying updates the number of playing players.
func (c *Crowd) notePlaying(m *member, playing bool) {
	switch {
	case playing && !m.playing:
		c.playing.Add(1)
	case !playing && m.playing:
		c.playing.Add(-1)
	}
	m.playing = playing
}

func (c *Crowd) playerLost(n int, err error) {
	c.gone.Add(1)
	if c.OnGone != nil {
		c.OnGone(n, err)
	}
}
