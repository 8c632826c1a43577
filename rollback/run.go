package rollback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/game"
)

// Run calls Step at a fixed interval (for example time.Second/60) and passes each View to draw, which may be nil.
// It is for peers that no engine calls.
//
// Run returns nil after an end that the program asked for: the context has ended, which makes Run close the peer,
// or [Peer.Close] was called. It returns [View].Err if the relay refused the connection, or if it was lost and did not
// come back. It also returns an error for a nil context, and for an interval that is not positive. Each of these ends
// closes the transport.
func (p *Peer) Run(ctx context.Context, interval time.Duration, draw func(View)) error {
	if ctx == nil {
		return errors.New("foretick: Peer.Run is given a nil context: pass context.Background()")
	}
	if interval <= 0 {
		return fmt.Errorf("foretick: Peer.Run every %v: use the time of a rendered frame, for example time.Second / 60", interval)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		v := p.Step(time.Now())
		if draw != nil {
			draw(v)
		}
		switch {
		case p.closed:
			return nil
		case v.State == Closed:
			_ = p.Close() // its error would hide why the connection ended
			return v.Err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return game.Orderly(p.Close())
}
