package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/rollback"
)

// playback plays a replay at the speed of the match.
type playback struct {
	*rollback.Replay
	game *game.Game
	next time.Time // next is when the next tick is due.
	over bool
	cut  bool // cut is true if the file ends before the match did.
}

func newPlayback(file string) (*playback, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	p := &playback{game: &game.Game{}}
	p.Replay, err = rollback.NewReplay(rollback.ReplayConfig{Protocol: p.game.Protocol(), From: f})
	return p, err
}

// step runs the ticks that are due. A window that stood still goes on where it was.
func (p *playback) step(now time.Time) error {
	if now.Sub(p.next) > time.Second/4 {
		p.next = now
	}
	for ; !p.over && !now.Before(p.next); p.next = p.next.Add(time.Second / game.TickRate) {
		more, err := p.Step()
		if p.over, p.cut = !more, errors.Is(err, rollback.ErrCut); err != nil && !p.cut {
			return err
		}
	}
	return nil
}

func (p *playback) line() string {
	text := fmt.Sprintf("replay, tick %d", p.Tick())
	switch {
	case p.cut:
		text += ": the file is cut off here"
	case p.over:
		text += ": it is over"
	}
	return text
}
