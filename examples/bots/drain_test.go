package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// drain is what a test of SIGTERM observed.
type drain struct {
	refused, back int
	late, ended   bool
	why           error
}

// drained fills a server, sends it SIGTERM while every player loses its connection once, and then makes
// the players leave.
func drained(server *child, o options, play time.Duration) (d drain, err error) {
	light, err := bots.New((&Game{rate: o.rate}).Protocol(), func(dst *Command, bot int, tick uint32) { *dst = walk(bot, tick, o.rate) })
	if err != nil {
		return d, err
	}
	dial := func(n int) (transport.Endpoint, error) {
		return udp.Dial(server.addrs[0], udp.Config{Token: fmt.Appendf(nil, "%d/%d", n/o.each, n)})
	}
	var mu sync.Mutex
	var all []*breaking
	c := &bots.Crowd{Count: o.count, PerSecond: o.perSecond, OnGone: func(_ int, err error) { mu.Lock(); defer mu.Unlock(); d.refused++; d.why = err }}
	c.Start = func(n int) (bots.Player, error) {
		e, err := dial(n)
		if err != nil {
			return nil, err
		}
		b, err := light.Join(n, e)
		if err != nil {
			return nil, err
		}
		b.Redial = func() (transport.Endpoint, error) { return dial(n) }
		mu.Lock()
		defer mu.Unlock()
		all = append(all, &breaking{Light: b})
		return all[len(all)-1], nil
	}
	playing, leave := context.WithCancel(context.Background())
	defer leave()
	left := make(chan error, 1)
	go func() { left <- c.Run(playing) }()
	wait := func(is func() bool) {
		for end := time.Now().Add(time.Minute); !is() && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
	}
	wait(func() bool { return c.Playing() == o.count })
	time.Sleep(play) // a place is held for as long as its player has played
	for i, b := range all {
		if i%2 == 0 {
			b.cut.Store(true) // half of them are disconnected when the signal comes
		}
	}
	time.Sleep(100 * time.Millisecond)
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return d, err
	}
	for i, b := range all {
		if i%2 == 1 {
			b.cut.Store(true)
		}
	}
	resumed := func() (n int) {
		for _, b := range all {
			n += int(b.back.Load())
		}
		return n
	}
	wait(func() bool { return resumed() == o.count })
	d.back = resumed()
	d.late = refuses(light, server.addrs[0])
	leave()
	if err := <-left; err != nil {
		return d, err
	}
	ended := make(chan struct{})
	go func() { _ = server.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
		d.ended = true
	case <-time.After(time.Minute):
		_ = server.cmd.Process.Kill()
	}
	return d, nil
}

// refuses reports whether a draining server refuses a new player.
func refuses(light *bots.Game, addr string) bool {
	e, err := udp.Dial(addr, udp.Config{Token: []byte("0/newcomer")})
	if err != nil {
		return false
	}
	b, err := light.Join(0, e)
	if err != nil {
		return false
	}
	defer b.Close()
	for range 2000 {
		if b.Step(time.Now()) != nil {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// breaking is a bot that loses its connection when the test wants it.
type breaking struct {
	*bots.Light
	cut  atomic.Bool
	back atomic.Uint64
}

func (b *breaking) Step(now time.Time) error {
	if b.cut.CompareAndSwap(true, false) {
		b.Vanish()
	}
	err := b.Light.Step(now)
	b.back.Store(min(b.Stats().Resumed, 1))
	return err
}
