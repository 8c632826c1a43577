package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// child is a server that runs as a process of its own.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser // to its standard input; a line asks for the counters
	out   *bufio.Scanner // its standard output
	addrs []string       // where it listens, one address for each socket
}

func startServer(o options) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"-serve", "127.0.0.1:0", "-report", "-how", o.how, "-count", fmt.Sprint(o.count), "-matches", fmt.Sprint(o.matches),
		"-rate", fmt.Sprint(o.rate), "-near", fmt.Sprint(o.near), "-full", "0"}
	c := &child{cmd: exec.Command(self, args...)} // #nosec G204 -- this program itself
	c.cmd.Env = append(os.Environ(), "BOTS_PROGRAM=1")
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.out = bufio.NewScanner(out)
	c.out.Buffer(nil, 64<<20)
	if !c.out.Scan() {
		return nil, errors.New("the server said nothing")
	}
	c.addrs = strings.Split(strings.TrimPrefix(c.out.Text(), "serving on "), ",")
	return c, nil
}

// count asks the server for its counters and returns them.
func (c *child) count() (n counts, err error) {
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		return n, err
	}
	if !c.out.Scan() {
		return n, errors.New("the server is gone")
	}
	return n, json.Unmarshal(c.out.Bytes(), &n)
}

// stop interrupts the server, or kills it on a system without such a signal. An interrupted server
// drains: it ends when its players have left.
func (c *child) stop() {
	if c.cmd.Process.Signal(os.Interrupt) != nil {
		_ = c.cmd.Process.Kill()
	}
	timer := time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// crowd makes the bots of all matches. The first o.full of them are full clients.
func crowd(o options, addrs []string) (*bots.Crowd, error) {
	light, err := bots.New((&Game{rate: o.rate, near: float32(o.near)}).Protocol(), func(dst *Command, bot int, tick uint32) { *dst = walk(bot, tick, o.rate) })
	if err != nil {
		return nil, err
	}
	c := &bots.Crowd{Count: o.count, PerSecond: o.perSecond}
	c.Start = func(n int) (bots.Player, error) {
		match := n / o.each
		token := fmt.Appendf(nil, "%d/%d", match, n)
		socket, err := udp.Dial(addrs[match%len(addrs)], udp.Config{Token: token, SocketBuffer: -1})
		if err != nil {
			return nil, err
		}
		var e transport.Endpoint = socket
		if line := o.link(); line != (sim.Link{}) {
			e = impair.Wrap(e, line, line, uint64(n)+1)
		}
		if n >= o.full {
			return light.Join(n, e)
		}
		g := &Game{rate: o.rate, near: float32(o.near)}
		cfg := client.Config{Protocol: g.Protocol(), Transport: e}
		cfg.Sample = client.Sample(&g.Cmd, func(v client.View) Command { return walk(n, v.Tick, o.rate) })
		return bots.NewClient(cfg, 0)
	}
	return c, nil
}

// row is the result of one measurement, and a row of the printed table.
type row struct {
	options
	counts                  // what the server counted during the measurement
	seconds  float64        // how long the measurement took
	bots     time.Duration  // the processor time of this process, which runs the bots
	gone     int            // bots that are not in a match at the end
	reasons  map[string]int // how many bots were dropped for each reason
	p50, p99 time.Duration  // of counts.Late: the median, and the value that 1 in 100 exceeds
}

// measure starts a server, fills it, and measures it for o.seconds once all bots play.
func measure(ctx context.Context, o options) (*row, error) {
	server, err := startServer(o)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	return measureAt(ctx, o, server)
}

func measureAt(ctx context.Context, o options, server *child) (*row, error) {
	all, err := crowd(o, server.addrs)
	if err != nil {
		return nil, err
	}
	r := &row{options: o, reasons: map[string]int{}}
	var mu sync.Mutex
	all.OnGone = func(_ int, err error) {
		mu.Lock()
		defer mu.Unlock()
		r.reasons[err.Error()]++
	}
	playing, leave := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = all.Run(playing) }) // Run fails only for a wrong Crowd
	defer running.Wait()
	defer leave()
	patience := time.Now().Add(time.Minute + time.Duration(float64(o.count)/o.perSecond*float64(time.Second)))
	for all.Playing()+all.Gone() < o.count && time.Now().Before(patience) && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(2 * time.Second) // until the clients' clocks are steady
	before, err := server.count()
	if err != nil {
		return nil, err
	}
	begun, own := time.Now(), cpuTime()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(o.seconds) * time.Second):
	}
	after, err := server.count()
	if err != nil {
		return nil, err
	}
	r.seconds = time.Since(begun).Seconds()
	r.counts, r.bots = after.since(before), cpuTime()-own
	r.gone = o.count - all.Playing()
	if slices.Sort(r.Late); len(r.Late) > 0 {
		r.p50, r.p99 = r.Late[len(r.Late)/2], r.Late[len(r.Late)*99/100]
	}
	return r, nil
}

// since returns the counts between b and c.
func (c counts) since(b counts) counts {
	c.CPU -= b.CPU
	c.Ticks -= b.Ticks
	c.Slips -= b.Slips
	c.Missing -= b.Missing
	c.Taken -= b.Taken
	c.BytesOut -= b.BytesOut
	c.BytesIn -= b.BytesIn
	c.Left -= b.Left
	c.Datagrams -= b.Datagrams
	c.Calls -= b.Calls
	return c
}

// perClientTick returns the server's processor time for each player and tick.
func (r *row) perClientTick() time.Duration {
	return time.Duration(float64(r.CPU) / max(float64(r.Missing+r.Taken), 1))
}

func (r *row) callsPerDatagram() float64 { return float64(r.Calls) / max(float64(r.Datagrams), 1) }

const heading = `
| matches | players | dropped | slips | inputs missing | late p50 | late p99 | server CPU | CPU a player and tick | down a player | up a player | memory | calls a datagram |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

func (r *row) print(out io.Writer) {
	fmt.Fprintf(out, "| %d %s | %d | %d | %d | %.2f %% | %.1f ms | %.1f ms | %.0f %% | %.1f µs | %.1f kB/s | %.1f kB/s | %.0f MB | %.3f |\n",
		r.matches, r.how, r.Players, r.gone, r.Slips, 100*float64(r.Missing)/max(float64(r.Missing+r.Taken), 1),
		ms(r.p50), ms(r.p99), 100*r.CPU.Seconds()/r.seconds, float64(r.perClientTick())/1e3,
		r.perPlayer(r.BytesOut), r.perPlayer(r.BytesIn), float64(r.Memory)/1e6, r.callsPerDatagram())
	if why := r.starved(); why != "" {
		fmt.Fprintln(out, why)
	}
	for why, n := range r.reasons {
		fmt.Fprintf(out, "%d dropped: %s\n", n, why)
	}
}

// perPlayer converts bytes of the whole measurement into kB for each player and second.
func (r *row) perPlayer(bytes uint64) float64 {
	return float64(bytes) / 1e3 / r.seconds / max(float64(r.Players), 1)
}

// starved returns a warning if ticks were skipped though the server did little: then other programs
// used the processor, and the row does not describe the server. Otherwise it returns "".
func (r *row) starved() string {
	server, all := r.CPU.Seconds()/r.seconds, float64(runtime.NumCPU())
	if r.Slips == 0 || server > 0.8*min(all, float64(r.matches)) {
		return ""
	}
	return fmt.Sprintf("Ticks were skipped while the server used %.0f %% of a processor: the machine's other time went elsewhere, %.0f %% of %.0f processors to the bots. "+
		"This row says nothing of the server: run the bots on another machine, with -serve there and -join here.", 100*server, 100*r.bots.Seconds()/r.seconds/all, all)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// growth measures one match with 8 players, then with twice as many, and so on.
func growth(ctx context.Context, o options, out io.Writer) error {
	fmt.Fprint(out, heading)
	best, unsure := 0, false
	for n := 8; n <= o.most; n *= 2 {
		o.count, o.matches, o.each, o.full, o.how = n, 1, n, min(2, n), "one"
		r, err := measure(ctx, o)
		if err != nil {
			return err
		}
		r.print(out)
		if r.Slips == 0 && r.gone == 0 {
			best = n
		}
		unsure = unsure || r.starved() != ""
	}
	fmt.Fprintf(out, "\nThe largest number without slips: %d players at %d Hz.\n", best, o.rate)
	if unsure {
		fmt.Fprintln(out, "It may hold more: in a row above the processor went elsewhere.")
	}
	return nil
}

// hosting compares matches that share a port with matches that have a socket each. It measures the
// two in turns, so that both run under the same conditions.
func hosting(ctx context.Context, o options, out io.Writer) error {
	for _, shape := range []struct{ matches, each int }{{200, 4}, {50, 6}} {
		o.matches, o.each, o.full = min(shape.matches, o.most), shape.each, 0
		o.count = o.matches * o.each
		fmt.Fprint(out, heading)
		cost := map[string][]time.Duration{}
		calls := 0.0
		for range o.rounds {
			for _, how := range []string{"sockets", "host"} {
				o.how = how
				r, err := measure(ctx, o)
				if err != nil {
					return err
				}
				r.print(out)
				cost[how] = append(cost[how], r.perClientTick())
				if how == "host" {
					calls = max(calls, r.callsPerDatagram())
				}
			}
		}
		fmt.Fprintf(out, "\n%d matches of %d: the median CPU a player and tick behind one port is %.2f of that with a socket a match; at most %.3f system calls a datagram.\n",
			o.matches, o.each, float64(median(cost["host"]))/float64(max(median(cost["sockets"]), 1)), calls)
	}
	return nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// joinAlone runs bots against a server that was started elsewhere.
func joinAlone(ctx context.Context, o options, out io.Writer) error {
	all, err := crowd(o, strings.Split(o.join, ","))
	if err != nil {
		return err
	}
	all.OnGone = func(n int, err error) { fmt.Fprintf(out, "bot %d is gone: %v\n", n, err) }
	ctx, stop := context.WithTimeout(ctx, time.Duration(o.seconds)*time.Second+time.Duration(float64(o.count)/o.perSecond*float64(time.Second)))
	defer stop()
	go func() {
		for ctx.Err() == nil {
			time.Sleep(time.Second)
			fmt.Fprintf(out, "%d of %d play, %d are gone\n", all.Playing(), o.count, all.Gone())
		}
	}()
	return all.Run(ctx)
}
