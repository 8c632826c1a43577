package pair

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// frame is the interval of a client's rendered frames.
const frame = time.Second / 60

// joinTime is how long a client may take to join.
const joinTime = 30 * time.Second

// Result has the figures of the clients of one process.
type Result struct {
	Architecture string // GOARCH of this process
	Clients      int
	Stats        stats.Client // sum of the statistics of all clients
}

// Share returns the mispredictions with a cause for each 1000 compared ticks.
func (r *Result) Share(c prediction.Cause) float64 {
	return 1000 * float64(r.Stats.ByCause.Of(c)) / float64(max(r.Stats.Compared, 1))
}

// String returns the result as one line: the ticks predicted and compared, and the
// mispredictions by cause.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d clients on %s: predicted=%d compared=%d code=%d (%.2f of 1000)",
		r.Clients, r.Architecture, r.Stats.PredictedTicks, r.Stats.Compared,
		r.Stats.ByCause.Of(prediction.Code), r.Share(prediction.Code))
	for c, n := range r.Stats.ByCause.All() {
		if c != prediction.Code {
			fmt.Fprintf(&b, " %v=%d", c, n)
		}
	}
	return b.String()
}

// Err returns an error if nothing was predicted or compared, or if the game's code was the
// cause of a misprediction.
func (r *Result) Err() error {
	switch n := r.Stats.ByCause.Of(prediction.Code); {
	case r.Stats.PredictedTicks == 0 || r.Stats.Compared == 0:
		return errors.New("pair: no tick was predicted and compared: let Sample send commands, and declare a component with foretick.Predicted()")
	case n > 0:
		return fmt.Errorf("pair: %d of %d compared ticks were mispredicted by the game's code: run foretick-vet over it, and simtest.SyncTest", n, r.Stats.Compared)
	}
	return nil
}

// Serve runs the server's end. It listens at an address, such as ":7777", calls ready with
// the address that it got, and plays until the context ends. Then it returns nil. ready may
// be nil.
func Serve(ctx context.Context, addr string, newPlayer func() simtest.Player, ready func(netip.AddrPort)) error {
	end, err := udp.Listen(addr, udp.Config{})
	if err != nil {
		return err
	}
	p := newPlayer()
	srv, err := server.New(server.Config{
		Protocol: p.Protocol, Transport: end,
		MaxWaitingPerAddress: -1, // all clients come from one address
	})
	if err != nil {
		_ = end.Close(transport.Closed, "")
		return err
	}
	if p.Begin != nil {
		p.Begin(srv)
	}
	if ready != nil {
		ready(end.LocalAddr())
	}
	return srv.Run(ctx)
}

// Join runs the clients' end. It plays with this number of clients (at least 1) against the
// server at an address, and returns their figures. The time d begins when all clients play,
// which must be within 30 s.
func Join(ctx context.Context, addr string, clients int, d time.Duration, newPlayer func() simtest.Player) (Result, error) {
	r := Result{Architecture: runtime.GOARCH, Clients: clients}
	if clients < 1 {
		return r, fmt.Errorf("pair: %d clients: use 1 and more", clients)
	}
	all := make([]seat, clients)
	defer func() {
		for _, s := range all {
			if s.client != nil {
				_ = s.client.Close()
			}
		}
	}()
	for i := range all {
		if err := all[i].dialServer(addr, newPlayer()); err != nil {
			return r, err
		}
	}
	ticker := time.NewTicker(frame)
	defer ticker.Stop()
	var from time.Time // the time at which all played
	for begin := time.Now(); from.IsZero() || time.Since(from) < d; {
		playing := 0
		for i := range all {
			n, err := all[i].stepFrame()
			if err != nil {
				return r, err
			}
			playing += n
		}
		switch {
		case !from.IsZero():
		case playing == clients:
			from = time.Now()
		case time.Since(begin) > joinTime:
			return r, fmt.Errorf("pair: %d of %d clients play after %v: is the server at %s?", playing, clients, joinTime, addr)
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-ticker.C:
		}
	}
	for i := range all {
		st := all[i].client.Stats()
		r.Stats.Add(&st)
	}
	return r, nil
}

// seat is one client.
type seat struct {
	client *client.Client
	act    func(*client.Client)
}

func (s *seat) dialServer(addr string, p simtest.Player) error {
	end, err := udp.Dial(addr, udp.Config{})
	if err != nil {
		return err
	}
	s.act = p.Act
	s.client, err = client.New(client.Config{Protocol: p.Protocol, Sample: p.Sample, Transport: end})
	if err != nil {
		_ = end.Close(transport.Closed, "")
	}
	return err
}

// stepFrame renders a frame. It returns 1 while the client plays.
func (s *seat) stepFrame() (playing int, err error) {
	v := s.client.Step(time.Now())
	switch v.State {
	case client.Closed:
		return 0, v.Err
	case client.Playing:
		playing = 1
	}
	if s.act != nil && playing > 0 {
		s.act(s.client)
	}
	return playing, nil
}
