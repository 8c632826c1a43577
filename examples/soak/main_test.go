package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/simtest/pair"
	"github.com/foretick/foretick/snapshot"
)

// TestMain lets the test binary be the program, for tests of whole processes.
func TestMain(m *testing.M) {
	if os.Getenv("SOAK_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// lines runs the program and returns its output.
func lines(t *testing.T, args ...string) []string {
	t.Helper()
	virtual(t, args...)
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), args, &out), out.String())
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// Ten lines are enough to play a game on a terrible network.
func TestOwnGame(t *testing.T) {
	simtest.Check(t, simtest.Plan{
		New:     NewPlayer,
		Clients: 4,
		Play:    10 * time.Second,
	}, 2)
}

// The short form of row 1 of docs/RELIABILITY.md.
func TestMatchesOnATerribleNetwork(t *testing.T) {
	out := lines(t, "-json", "-seeds", "3", "-seconds", "20")
	require.Len(t, out, 4)
	for _, l := range out[:3] {
		var m line
		require.NoError(t, json.Unmarshal([]byte(l), &m))
		require.InDelta(t, 22, m.Seconds, 1)
		require.Greater(t, m.Snapshots, uint64(16*100))
		require.NotZero(t, m.Mended)
		require.Len(t, m.Worked, 8)
	}
	require.Contains(t, out[3], "3 matches of 20 s, 16 clients")
	require.Contains(t, out[3], "all agree")
}

func TestProcessesComeAndGo(t *testing.T) {
	var m line
	require.NoError(t, json.Unmarshal([]byte(lines(t, "-json", "-kills", "-seconds", "40", "-clients", "6")[0]), &m))
	require.NotZero(t, m.Kills)
	require.NotZero(t, m.Freezes)
	require.NotZero(t, m.Leaves)
}

// Matches in which clients joined again while the server withheld their own entities, and once took old
// state for new.
func TestLateInputsAfterSilence(t *testing.T) {
	long(t)
	for _, seed := range []string{"3", "29", "58"} {
		for _, world := range []string{"-late-world=false", "-late-world"} {
			out := lines(t, "-late-inputs", "200ms", world, "-seconds", "60", "-seed", seed)
			require.Contains(t, out[len(out)-1], "all agree")
		}
	}
}

// The last line of a long match is its result.
func TestLongMatch(t *testing.T) {
	out := lines(t, "-json", "-hours", "0.1", "-clients", "3")
	var r map[string]float64
	require.NoError(t, json.Unmarshal([]byte(out[len(out)-1]), &r))
	require.Len(t, r, 5)
	for _, key := range []string{"goroutines_delta", "desyncs", "events_lost", "panics"} {
		require.Zero(t, r[key], key)
	}
	require.Contains(t, r, "heap_growth_percent")
	require.Less(t, r["heap_growth_percent"], 20.0, "a match so short is not flat yet, but nearly")
	var h map[string]float64
	require.NoError(t, json.Unmarshal([]byte(out[len(out)-4]), &h))
	require.Greater(t, h["messages_sent"], 1000.0)
	require.NotZero(t, h["left"])
}

// The server holds nothing of connections that ended.
func TestManyConnections(t *testing.T) {
	var r churned
	require.NoError(t, json.Unmarshal([]byte(lines(t, "-connections", "3000")[0]), &r))
	require.EqualValues(t, 2700, r.Joined)
	require.Empty(t, r.MapEntriesLeft)
	leaky := r
	leaky.MapEntriesLeft = map[string]int{"x": 1}
	require.ErrorContains(t, leaky.check(), "not empty")
	leaky = r
	leaky.Left--
	require.ErrorContains(t, leaky.check(), "left")
	leaky = r
	leaky.HeapAfter += 1 << 20
	require.ErrorContains(t, leaky.check(), "grew")
}

// Packets that no correct client would send do no harm: the short form of the mutator.
func TestMutations(t *testing.T) {
	out := lines(t, "-json", "-mutate", "300000")
	var w campaign.Weather
	require.NoError(t, json.Unmarshal([]byte(out[0]), &w))
	require.GreaterOrEqual(t, w.Packets, uint64(300_000))
	require.NotZero(t, w.Snapshots)
	require.Contains(t, out[1], "mutations over")
}

// Peers that break every rule do no harm: the short form.
func TestRogues(t *testing.T) {
	heaps := t.TempDir()
	out := lines(t, "-rogues", "100", "-workers", "2", "-sequences", "32", "-heaps", heaps)
	profiles, err := filepath.Glob(filepath.Join(heaps, "*.heap"))
	require.NoError(t, err)
	require.Len(t, profiles, 4, "one a batch")
	require.ErrorContains(t, run(context.Background(), []string{"-rogues", "32", "-sequences", "32", "-leak", "65536"}, &bytes.Buffer{}), "the heap grew")
	require.Contains(t, out[len(out)-1], "a second")
	require.Contains(t, out[len(out)-2], "came to play")
}

// Rogue peers over real sockets do no harm either. .ci/run plays a longer form.
func TestRoguesOverSockets(t *testing.T) {
	for _, transport := range []string{"udp", "dtls", "ws"} {
		t.Run(transport, func(t *testing.T) {
			out := lines(t, "-rogues", "8", "-sequences", "8", "-transport", transport)
			require.Contains(t, out[len(out)-2], "8 sequences of ")
			require.Contains(t, out[len(out)-2], "came to play")
		})
	}
	for _, args := range [][]string{{"-rogues", "1", "-transport", "pigeon"}, {"-transport", "udp"}} {
		require.ErrorIs(t, run(context.Background(), args, &bytes.Buffer{}), errUsage)
	}
}

// The capture has what fuzzers begin with: packets of a whole match, of every kind.
func TestCapture(t *testing.T) {
	name := filepath.Join(t.TempDir(), "match.txt")
	require.Contains(t, lines(t, "-capture", name, "-seconds", "10", "-clients", "3")[0], "packets of")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	all := strings.Split(strings.TrimSpace(string(b)), "\n")
	require.Greater(t, len(all), 30)
	for _, l := range all[1:] {
		_, err := hex.DecodeString(l)
		require.NoError(t, err)
	}
}

// The capture of snapshots is what a decoder begins with: it can read them all in their order.
func TestCaptureSnapshots(t *testing.T) {
	name := filepath.Join(t.TempDir(), "snapshots.txt")
	require.Contains(t, lines(t, "-snapshots", name, "-seconds", "6", "-clients", "3")[0], "150 snapshots")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var recv *snapshot.Receiver
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		p, err := hex.DecodeString(l)
		require.NoError(t, err)
		if recv == nil {
			r, err := schema.ReadRegistry(p)
			require.NoError(t, err)
			recv = snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
			continue
		}
		_, err = recv.Read(p)
		require.NoError(t, err)
	}
	require.Greater(t, recv.Counters().Records, uint64(300))
}

func TestRealSockets(t *testing.T) {
	out := lines(t, "-udp", "-seconds", "5", "-clients", "3", "-link", "wifi")
	var r result
	require.NoError(t, json.Unmarshal([]byte(out[len(out)-1]), &r))
	require.LessOrEqual(t, r.GoroutinesDelta, 0, "a goroutine of an earlier test may end meanwhile")
	r.HeapGrowth, r.GoroutinesDelta = 0, 0
	require.Equal(t, result{}, r)
	require.NotContains(t, out[0], " 0 messages")
}

// The same seed gives the same match on any number of processors. CI compares it with the race
// detector's build as well.
func TestSameTraceOnAnyProcessors(t *testing.T) {
	args := []string{"-json", "-kills", "-seconds", "15", "-clients", "6", "-seed", "9"}
	var here line
	require.NoError(t, json.Unmarshal([]byte(lines(t, args...)[0]), &here))
	require.Len(t, here.Trace, 64)
	for _, procs := range []string{"1", "2"} {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		c := exec.CommandContext(ctx, os.Args[0], args...)
		c.Env = append(os.Environ(), "SOAK_PROGRAM=1", "GOMAXPROCS="+procs)
		b, err := c.Output()
		stop()
		require.NoError(t, err)
		var there line
		require.NoError(t, json.Unmarshal(bytes.SplitN(b, []byte("\n"), 2)[0], &there))
		require.Equal(t, here.Trace, there.Trace, "GOMAXPROCS=%s", procs)
	}
}

func TestFaultsOfTheCommandLine(t *testing.T) {
	for _, args := range [][]string{
		{"-nonsense"}, {"left over"}, {"-hours", "-1"}, {"-hours", "NaN"}, {"-hours", "1", "-udp"}, {"-clients", "0"},
		{"-seeds", "0"}, {"-seconds", "0"}, {"-link", "pigeon"}, {"-workers", "0"}, {"-connections", "-1"},
		{"-together", "513"}, {"-leak", "1"}, {"-rogues", "1", "-leak", "-1"}, {"-heaps", "somewhere"},
	} {
		err := run(context.Background(), args, &bytes.Buffer{})
		require.ErrorIs(t, err, errUsage, args)
		var said bytes.Buffer
		require.Equal(t, 2, exitCode(err, &said))
		require.Equal(t, 1, strings.Count(said.String(), "\n"))
	}
	var help bytes.Buffer
	require.Equal(t, 0, exitCode(run(context.Background(), []string{"-help"}, &help), &help))
	require.Contains(t, help.String(), "-connections")
	var said bytes.Buffer
	require.Equal(t, 1, exitCode(errors.New("a\nb"), &said))
	require.Equal(t, "soak: a; b\n", said.String())
}

// When a match fails, the output names the command that plays it again.
func TestFailureNamesItsCommand(t *testing.T) {
	c := &tally{out: &bytes.Buffer{}}
	fault := &simtest.Fault{Checker: &simtest.Agreement{}, Err: errors.New("differs")}
	require.Error(t, c.note(simtest.Outcome{Seed: 12}, fault, time.Second))
	err := c.end(options{seconds: 60, clients: 16, kills: true, observers: 4, late: 200 * time.Millisecond, lateWorld: true})
	require.ErrorContains(t, err, "go run ./examples/soak -seconds 60 -clients 16 -kills -observers 4 -late-inputs 200ms -late-world -seed 12")
	var r result
	r.blame(fault)
	r.blame(&simtest.Fault{Checker: &simtest.Delivery{}, Err: errors.New("lost")})
	require.Equal(t, result{Desyncs: 1, EventsLost: 1}, r)
	_, err = guarded(simtest.Plan{New: func() simtest.Player { panic("boom") }}, 1, &r)
	require.ErrorContains(t, err, "boom")
	require.Equal(t, 1, r.Panics)
}

// TestPair plays over UDP; with flags it is one end, on a machine of its own: see package pair.
func TestPair(t *testing.T) { pair.Test(t, NewPlayer) }

// BenchmarkGame measures what a match costs a player. It is the same in every run; the limits are 1.3
// times the current values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 1600, "corrections/min": 1, "server-allocs/tick": 25, "client-allocs/step": 2.2}
	simtest.Bench(b, NewPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
