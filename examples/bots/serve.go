package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

// counts are totals since the server started, except Players, Memory and Late.
type counts struct {
	CPU       time.Duration // processor time that the process used
	Players   int           // players that are now in matches
	Ticks     uint64        // ticks computed in all matches
	Slips     uint64        // ticks that were skipped
	Missing   uint64        // how often a tick had no command of a player
	Taken     uint64        // how often it had one
	BytesOut  uint64
	BytesIn   uint64
	Memory    uint64          // bytes of memory that the process uses
	Left      uint64          // players that left
	Datagrams uint64          // packets received and sent
	Calls     uint64          // system calls that read or write packets
	Late      []time.Duration // how late the ticks since the last report ended
}

// places returns how many players a match admits. It is more than will join, because absent players
// from one address may hold only a quarter of the places.
func (o *options) places() int { return min(4*o.each, 4096) }

// servers are all the matches that a process runs.
type servers struct {
	o    options
	mu   sync.Mutex // guards all and late
	all  []*server.Server
	ends []*udp.Endpoint // the sockets
	// late holds the ticks since the last report: the time from when a tick was due to the end of its
	// systems.
	late []time.Duration
}

// lateMost is the largest number of samples that are kept between two reports.
const lateMost = 1 << 18

func (s *servers) match(end transport.Endpoint) (*server.Server, error) {
	g := Game{rate: s.o.rate, near: float32(s.o.near)}
	var srv *server.Server
	srv, err := server.New(server.Config{
		Protocol: g.Protocol(), Transport: end, MaxClients: s.o.places(), MaxWaitingPerAddress: -1,
		OnTick: func(*foretick.ServerFrame) {
			late := time.Since(srv.Next()) + time.Second/time.Duration(s.o.rate)
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.late) < lateMost {
				s.late = append(s.late, late)
			}
		},
	})
	if err == nil {
		s.mu.Lock()
		s.all = append(s.all, srv)
		s.mu.Unlock()
	}
	return srv, err
}

// identify is the accept hook: a bot's token is the name of its match and its number, such as "12/3".
// A game for people checks a ticket here.
func identify(_ netip.AddrPort, token []byte) ([]byte, error) {
	match, player, ok := bytes.Cut(token, []byte("/"))
	if !ok {
		return nil, errors.New("the token is not MATCH/PLAYER")
	}
	return ticket.JoinIdentity(string(match), player), nil
}

func (s *servers) listen(at string, batch, peers int) (*udp.Endpoint, error) {
	e, err := udp.Listen(at, udp.Config{MaxPeers: peers, Batch: batch, HelloRate: -1, Accept: identify, SocketBuffer: 8 << 20})
	if err == nil {
		s.ends = append(s.ends, e)
	}
	return e, err
}

// serve runs the matches until ctx ends. Then it drains: it returns when the last player has left.
func serve(ctx context.Context, o options, out io.Writer) error {
	s := &servers{o: o}
	var run []func(context.Context) error
	var drain []func(string)
	var addrs []string
	switch o.how {
	case "host":
		e, err := s.listen(o.serve, 64, 2*o.count)
		if err != nil {
			return err
		}
		h, err := host.New(host.Config{Transport: e, OnDemand: true, PlayersPerMatch: o.places(), MaxMatches: o.matches,
			NewMatch: func(_ string, end transport.Endpoint) (host.Match, error) { return s.match(end) }})
		if err != nil {
			return err
		}
		run, drain, addrs = append(run, h.Run), append(drain, h.Drain), append(addrs, e.LocalAddr().String())
	default:
		for range o.matches {
			e, err := s.listen(o.serve, 0, o.places())
			if err != nil {
				return err
			}
			srv, err := s.match(e)
			if err != nil {
				return err
			}
			run, drain, addrs = append(run, srv.Run), append(drain, srv.Drain), append(addrs, e.LocalAddr().String())
		}
	}
	fmt.Fprintln(out, "serving on", strings.Join(addrs, ","))
	if o.report {
		go s.reports(out)
	}
	return runAll(ctx, run, drain)
}

// runAll runs servers or hosts. When ctx ends they drain, and it returns when all have ended.
func runAll(ctx context.Context, run []func(context.Context) error, drain []func(string)) error {
	stopped := context.AfterFunc(ctx, func() {
		for _, d := range drain {
			d("this server ends")
		}
	})
	defer stopped()
	errs := make([]error, len(run))
	var running sync.WaitGroup
	for i, r := range run {
		running.Go(func() { errs[i] = r(context.Background()) })
	}
	running.Wait()
	return errors.Join(errs...)
}

// reports prints the counters as JSON for each line of standard input.
func (s *servers) reports(out io.Writer) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		_ = json.NewEncoder(out).Encode(s.count())
	}
}

func (s *servers) count() counts {
	s.mu.Lock()
	all, late := slices.Clone(s.all), s.late
	s.late = make([]time.Duration, 0, 1024)
	s.mu.Unlock()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c := counts{CPU: cpuTime(), Memory: m.Sys - m.HeapReleased, Late: late}
	for _, srv := range all {
		st := srv.Stats()
		c.Players += len(srv.Players(nil))
		c.Ticks += st.Ticks
		c.Slips += st.Slips
		c.Missing += st.InputsMissing
		c.Taken += st.InputsTaken
		c.BytesOut += st.BytesOut
		c.BytesIn += st.BytesIn
		c.Left += st.Left
		c.Datagrams += st.PacketsIn + st.PacketsOut
	}
	for _, e := range s.ends {
		n := e.Counters()
		c.Calls += n.Reads + n.Writes
	}
	return c
}
