package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
)

// TestMain lets the test binary be the program, for tests of whole processes.
func TestMain(m *testing.M) {
	if os.Getenv("ARENA_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for a process: much longer than needed on an
// idle machine.
const patience = time.Minute

// program returns a command that runs this binary as the arena.
func program(args ...string) *exec.Cmd {
	ctx, stop := context.WithTimeout(context.Background(), 5*patience)
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Cancel = func() error { stop(); return c.Process.Kill() }
	c.Env = append(os.Environ(), "ARENA_PROGRAM=1")
	return c
}

// play runs the arena and reads its report.
func play(t *testing.T, args ...string) Report {
	t.Helper()
	virtual(t, args...)
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), append([]string{"-json"}, args...), &out))
	var r Report
	d := json.NewDecoder(&out)
	require.NoError(t, d.Decode(&r))
	require.False(t, d.More(), "one object and nothing else")
	return r
}

var badNetwork = []string{"-seconds", "20", "-clients", "8", "-rtt", "100ms", "-jitter", "20ms", "-loss", "0.02", "-seed", "7"}

func with(more ...string) []string {
	return append(badNetwork[:len(badNetwork):len(badNetwork)], more...)
}

func TestBadNetwork(t *testing.T) {
	r := play(t, badNetwork...)
	require.EqualValues(t, 600, r.Ticks)
	require.Equal(t, 8, r.Clients)
	require.GreaterOrEqual(t, r.MovingPercent, 80.0)
	require.GreaterOrEqual(t, r.InputChangesPercent, 20.0)
	require.InDelta(t, 80, r.Stuns, 30, "about ten stuns a bot")
	require.NotZero(t, r.Mispredictions)
	require.Less(t, float64(r.Mispredictions), 0.05*float64(r.PredictedTicks))
	require.Zero(t, r.MispredictionsByCause["code"])
	require.Zero(t, r.MispredictionsByCause["untracked"])
	require.Zero(t, r.HardResets)
	require.LessOrEqual(t, float64(r.InputsMissing), 0.01*8*600)
	require.LessOrEqual(t, r.InputToConfirmP50, 100+5*1000.0/30)
	left := r.ShotsHitOnScreen - r.ShotsVoid
	require.GreaterOrEqual(t, left, 200)
	require.GreaterOrEqual(t, float64(r.ShotsConfirmed), 0.95*float64(left))
	require.LessOrEqual(t, float64(r.ShotsConfirmedUnseen), max(1, 0.01*float64(r.Shots-r.ShotsHitOnScreen)))
	require.GreaterOrEqual(t, r.EventsSent, uint64(8*19))
	require.GreaterOrEqual(t, r.HitsTold, 200)
	require.Equal(t, r.HitsTold, r.HitsHeard, "the victims know for certain")
	require.GreaterOrEqual(t, r.HitsRewound, r.HitsHeard*9/10)
	require.GreaterOrEqual(t, float64(r.HitsWhereSeen), 0.97*float64(r.HitsRewound))
	require.InDelta(t, 250, r.RewoundMean, 80)
	require.Equal(t, r.EventsSent, r.EventsDelivered)
	require.NotZero(t, r.EventsResent)
	require.Zero(t, r.Desyncs, r.FirstDesync)
	require.NotZero(t, r.FieldsCompared)
	if !debugBuild {
		require.Less(t, r.BytesDown, 3500.0)
		require.Less(t, r.AllocsPerTick, 5.0)
	}
}

// Sixteen players cost each of them less than 3 kB/s at 30 Hz. The profile shows what the bytes are
// for, without changing one.
func TestTraffic(t *testing.T) {
	args := []string{"-seconds", "8", "-clients", "16"}
	r := play(t, args...)
	if !debugBuild {
		require.Less(t, r.BytesDown, 3000.0)
	}
	require.Empty(t, r.Traffic)
	p := play(t, append(args, "-profile-traffic")...)
	require.Equal(t, r.Trace, p.Trace)
	down, up := 0.0, 0.0
	for name, b := range p.Traffic {
		if strings.HasPrefix(name, "down ") {
			down += b
		} else {
			up += b
		}
	}
	require.InDelta(t, p.BytesDown, down, 0.1)
	require.InDelta(t, p.BytesUp, up, 0.1)
	require.Greater(t, p.Traffic["down Position.X"], 100.0)
	require.Greater(t, p.Traffic["up Command.Aim"], 100.0)
	if !debugBuild {
		require.Less(t, p.Traffic["down (packets)"], 700.0, "headers and notes")
	}
}

// Tables are learned from a match and shorten it; both ends need the same.
func TestLearn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tables.bin")
	play(t, "-seconds", "5", "-clients", "4", "-learn", file)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, schema.NewRegistry().UseTables(b))
	require.NotEqual(t, game.Tables(), b)
}

func TestSeedDecidesTheMatch(t *testing.T) {
	a, b, c := play(t, with("-seconds", "10")...), play(t, with("-seconds", "10")...), play(t, with("-seconds", "10", "-seed", "8")...)
	require.Equal(t, a.Trace, b.Trace)
	require.NotEqual(t, a.Trace, c.Trace)
	for _, r := range []*Report{&a, &b} { // measured, not computed
		r.ServerTickP50, r.ServerTickP99, r.AllocsPerTick = 0, 0, 0
	}
	require.Equal(t, a, b)
}

func TestWithoutLagCompensationFewShotsCount(t *testing.T) {
	r := play(t, with("-no-lagcomp")...)
	left := r.ShotsHitOnScreen - r.ShotsVoid
	require.GreaterOrEqual(t, left, 200)
	require.LessOrEqual(t, float64(r.ShotsConfirmed), 0.75*float64(left))
	require.Less(t, float64(r.HitsWhereSeen), 0.25*float64(r.HitsRewound))
	require.InDelta(t, 33, r.RewoundMean, 1, "the newest tick that was complete")
}

func TestPlantedFaultsAreSeen(t *testing.T) {
	code := play(t, with("-plant", "code", "-seconds", "10")...)
	require.NotZero(t, code.MispredictionsByCause["code"])
	desync := play(t, with("-plant", "desync", "-seconds", "10")...)
	require.Equal(t, 1, desync.Desyncs)
	require.Contains(t, desync.FirstDesync, "Team.ID of prefab")
}

func TestPeaceOnAGoodNetworkIsPredictedExactly(t *testing.T) {
	r := play(t, with("-peaceful", "-loss", "0", "-jitter", "0")...)
	require.Zero(t, r.Mispredictions)
	require.Zero(t, r.TicksShownWrong)
	require.Zero(t, r.InputsMissing)
	require.Greater(t, r.PredictedTicks, uint64(4000))
	require.NotZero(t, r.FieldsCompared)
	require.Zero(t, r.Desyncs)
}

func TestOtherRates(t *testing.T) {
	seconds := "6"
	if longer() {
		seconds = "12"
	}
	for _, args := range [][]string{{"-tickrate", "60"}, {"-tickrate", "60", "-snapshotrate", "20"}, {"-tickrate", "31"}, {"-mode", "interpolate"}, {"-duplicate", "0.1", "-reorder", "0.1"}} {
		r := play(t, with(append(args, "-seconds", seconds)...)...)
		require.Zero(t, r.Desyncs, args)
		require.NotZero(t, r.FieldsCompared)
		require.Zero(t, r.MispredictionsByCause["code"], args)
		require.Equal(t, r.EventsSent, r.EventsDelivered, args)
	}
}

// With a long round trip, a limit of the prediction replaces the rest of the lead by input delay, and
// fewer ticks are shown wrong. Nothing else changes.
func TestDelayAbove(t *testing.T) {
	far := []string{"-rtt", "350ms", "-seconds", "12"}
	predicted, delayed := play(t, far...), play(t, append(far, "-mode", "delay", "-delay-above", "150ms")...)
	wrong := func(r Report) float64 { return 100 * float64(r.TicksShownWrong) / float64(r.PredictedTicks) }
	t.Logf("shown wrong: %.1f %%, with %.0f ms of input delay %.1f %%", wrong(predicted), delayed.InputDelayMean, wrong(delayed))
	require.Zero(t, predicted.InputDelayMean)
	require.InEpsilon(t, delayed.LeadMean-150, delayed.InputDelayMean, 0.1)
	require.Greater(t, wrong(predicted), 25.)
	require.LessOrEqual(t, wrong(delayed), 10.)
	require.Equal(t, predicted.InputsMissing, delayed.InputsMissing)
	require.Equal(t, predicted.InputToConfirmP50, delayed.InputToConfirmP50)
	require.Greater(t, delayed.ShotsConfirmed, delayed.ShotsHitOnScreen*4/5)
	require.Zero(t, delayed.Desyncs)
}

// Without prediction nothing is shown wrong, the player's own shots are drawn when the screen shows
// them, and the response is late by a round trip and the buffers.
func TestInterpolateMode(t *testing.T) {
	r := play(t, with("-mode", "interpolate")...)
	require.Zero(t, r.Mispredictions+r.TicksShownWrong+r.ResimulatedTicks)
	require.Greater(t, r.InputDelayMean, r.LeadMean)
	require.Less(t, r.InputDelayMean, r.LeadMean+r.InterpolationMean)
	require.Greater(t, r.Shots, 100)
	require.Greater(t, r.ShotsConfirmed, (r.ShotsHitOnScreen-r.ShotsVoid)*95/100)
	require.Zero(t, r.Desyncs)
}

// An input delay that is longer than the lead is exact, and shots are judged at their frame.
func TestFixedInputDelay(t *testing.T) {
	r := play(t, "-seconds", "10", "-mode", "delay", "-input-delay", "300ms")
	require.InDelta(t, 300, r.InputDelayMean, 1)
	require.Greater(t, r.LeadMean, 300.)
	require.Greater(t, r.Shots, 100)
	require.Greater(t, r.ShotsConfirmed, (r.ShotsHitOnScreen-r.ShotsVoid)*9/10)
	require.Zero(t, r.MispredictionsByCause["code"])
	require.Zero(t, r.Desyncs)
}

// Partial ticks change only how the player's own body is drawn in a frame.
func TestPartialTicks(t *testing.T) {
	whole, parts := play(t, "-seconds", "6", "-mode", "predict"), play(t, "-seconds", "6", "-mode", "partial")
	require.Equal(t, whole.MispredictionsByCause, parts.MispredictionsByCause)
	require.Equal(t, whole.PredictedTicks, parts.PredictedTicks)
	require.Equal(t, whole.ShotsConfirmed, parts.ShotsConfirmed)
	require.Greater(t, parts.ShotsConfirmed, 50)
	require.Zero(t, parts.Desyncs)
}

func TestRealSockets(t *testing.T) {
	for name, seconds := range map[string]string{"udp": "5", "dtls": "3", "ws": "3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, "-transport", name, "-seconds", seconds, "-clients", "4")
			require.Zero(t, r.Desyncs, r.FirstDesync)
			require.Empty(t, r.FirstDesync)
			require.NotZero(t, r.FieldsCompared)
			require.NotZero(t, r.PredictedTicks)
			require.Zero(t, r.MispredictionsByCause["code"])
			require.Zero(t, r.MispredictionsByCause["untracked"])
		})
	}
}

// Players of three transports play one match, and the server confirms the shots of each.
// The long form has the numbers: .ci/run long.
func TestAllTransportsInOneMatch(t *testing.T) {
	t.Parallel()
	r := play(t, "-transport", "all", "-seconds", "8", "-clients", "6", "-rtt", "60ms", "-jitter", "10ms", "-loss", "0.01")
	require.Zero(t, r.Desyncs, r.FirstDesync)
	require.Len(t, r.ByTransport, 3)
	for kind, shots := range r.ByTransport {
		require.Equal(t, 2, shots.Clients, kind)
		left := shots.ShotsHitOnScreen - shots.ShotsVoid
		require.NotZero(t, left, kind)
		require.GreaterOrEqual(t, shots.ShotsConfirmed, left/2, kind)
	}
	var out bytes.Buffer
	require.Equal(t, 2, exitCode(run(context.Background(), []string{"-transport", "all", "-serve", ":0"}, &out), &out))
}

// All bots that were asked for can join, though they are more than a transport admits by default.
func TestManyBotsOverUDP(t *testing.T) {
	t.Parallel()
	r := play(t, "-transport", "udp", "-seconds", "1", "-clients", "70")
	require.Equal(t, 70, r.Clients)
	require.NotZero(t, r.FieldsCompared)
}

func TestReadableSummary(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), []string{"-seconds", "1", "-clients", "2"}, &out))
	for _, word := range []string{"2 clients", "traffic", "prediction", "shots", "agreement", "0 of 2 clients differ"} {
		require.Contains(t, out.String(), word)
	}
}

func TestFaultsAreOneLine(t *testing.T) {
	busy, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = busy.Close() })
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"unknown flag":   {[]string{"-nonsense"}, 2, "nonsense"},
		"bad value":      {[]string{"-clients", "many"}, 2, "many"},
		"argument":       {[]string{"left over"}, 2, "left over"},
		"transport":      {[]string{"-transport", "pigeon"}, 2, "pigeon"},
		"plant":          {[]string{"-plant", "tree"}, 2, "tree"},
		"loss":           {[]string{"-loss", "1.5"}, 2, "-loss"},
		"not a number":   {[]string{"-loss", "NaN"}, 2, "-loss"},
		"seconds":        {[]string{"-seconds", "0"}, 2, "-seconds"},
		"rate":           {[]string{"-tickrate", "5"}, 2, "-tickrate"},
		"snapshot rate":  {[]string{"-snapshotrate", "7"}, 2, "-snapshotrate"},
		"both":           {[]string{"-serve", "127.0.0.1:0", "-join", "127.0.0.1:1"}, 2, "exclude"},
		"no real net":    {[]string{"-serve", "127.0.0.1:0", "-transport", "sim"}, 2, "udp"},
		"no pin":         {[]string{"-join", "127.0.0.1:9", "-transport", "dtls"}, 2, "-pin"},
		"a pin too much": {[]string{"-join", "127.0.0.1:9", "-pin", strings.Repeat("ab", 32)}, 2, "-pin"},
		"a bad pin":      {[]string{"-join", "127.0.0.1:9", "-transport", "dtls", "-pin", "abc"}, 2, "64 hexadecimal"},
		"inspect alone":  {[]string{"-inspect", ":0"}, 2, "needs -serve or -join"},
		"bad inspect":    {[]string{"-serve", "127.0.0.1:0", "-inspect", "8090"}, 2, "such as :8090"},
		"port in use":    {[]string{"-serve", busy.LocalAddr().String()}, 1, "in use"},
		"bad address":    {[]string{"-serve", "nowhere:port"}, 1, "cannot listen"},
		"nobody there":   {[]string{"-join", "127.0.0.1:9", "-clients", "1"}, 1, "disconnected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stderr, stdout bytes.Buffer
			p := program(c.args...)
			p.Stdout, p.Stderr = &stdout, &stderr
			err := p.Run()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, c.code, exit.ExitCode(), stderr.String())
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			require.Contains(t, stderr.String(), c.want)
		})
	}
}

// watched is a process whose output can be waited for.
type watched struct {
	*exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

func start(t *testing.T, args ...string) *watched {
	t.Helper()
	sockets(t)
	w := &watched{Cmd: program(args...)}
	w.Stdout, w.Stderr = w, w
	require.NoError(t, w.Start())
	t.Cleanup(func() { _ = w.Process.Kill(); _ = w.Wait() })
	return w
}

func (w *watched) says(t *testing.T, what string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(w.text(), what) }, patience, 20*time.Millisecond, "waiting for %q", what)
}

// address returns where a server listens, once the server has printed it.
func (w *watched) address(t *testing.T) string {
	t.Helper()
	w.says(t, " Hz\n")
	_, rest, _ := strings.Cut(w.text(), "serving on ")
	return strings.Fields(rest)[0]
}

// leaves ends a process as its user would, and requires that it exits without an error.
func (w *watched) leaves(t *testing.T) {
	t.Helper()
	require.NoError(t, w.Process.Signal(syscall.SIGTERM))
	require.NoError(t, w.Wait())
}

// Killed bots are dropped with a reason, and the server continues with the rest.
func TestKilledBots(t *testing.T) {
	t.Parallel()
	server := start(t, "-serve", "127.0.0.1:0")
	addr := server.address(t)
	doomed := start(t, "-join", addr, "-clients", "2")
	server.says(t, "player=2")
	others := start(t, "-join", addr, "-clients", "1")
	server.says(t, "player=3")
	doomed.says(t, "playing")
	require.NoError(t, doomed.Process.Kill())
	server.says(t, "code=timeout")
	require.Eventually(t, func() bool { return strings.Count(server.text(), "code=timeout") >= 2 }, patience, 20*time.Millisecond)
	heard := len(others.text())
	require.Eventually(t, func() bool { return strings.Contains(others.text()[heard:], "playing") }, patience, 20*time.Millisecond, "who stayed plays on")
	others.leaves(t)
	server.says(t, "code=closed")
	require.NotContains(t, server.text(), "msg=lost player=3")
	late := start(t, "-join", addr, "-clients", "1")
	late.says(t, "playing")
	late.leaves(t)
}

// A draining server refuses new players and keeps its own. It ends when the last one has left.
func TestDrainingProcess(t *testing.T) {
	t.Parallel()
	server := start(t, "-serve", "127.0.0.1:0")
	addr := server.address(t)
	bots := start(t, "-join", addr, "-clients", "2")
	bots.says(t, "playing")
	server.says(t, "player=2")
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	server.says(t, "draining")
	late := start(t, "-join", addr, "-clients", "1")
	require.Error(t, late.Wait())
	require.Contains(t, late.text(), "takes no new players")
	heard := len(bots.text())
	require.Eventually(t, func() bool { return strings.Contains(bots.text()[heard:], "playing") }, patience, 20*time.Millisecond)
	require.NotContains(t, server.text(), "player=2 code=closed")
	bots.leaves(t)
	require.NoError(t, server.Wait())
	require.Contains(t, server.text(), "2 players joined, 2 left")
}

// Server and bots in separate processes, over each transport; over dtls the bots
// recognise the server by the pin that it prints, and accept no other.
func TestProcesses(t *testing.T) {
	for _, name := range []string{"udp", "dtls", "ws"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, "-serve", "127.0.0.1:0", "-transport", name)
			to := []string{"-join", server.address(t), "-transport", name, "-clients", "2"}
			if name == "dtls" {
				server.says(t, "-pin ")
				_, pin, _ := strings.Cut(server.text(), "-pin ")
				wrong := start(t, append(to, "-pin", strings.Repeat("00", 32))...)
				require.Error(t, wrong.Wait())
				require.Contains(t, wrong.text(), "certificate")
				to = append(to, "-pin", strings.Fields(pin)[0])
			}
			bots := start(t, to...)
			bots.says(t, "playing")
			server.says(t, "player=2")
			bots.leaves(t)
			server.says(t, "msg=left player=2")
			server.says(t, "code=closed")
		})
	}
}

// A server's page and that of its bots show their ends, in separate processes.
func TestInspectedProcesses(t *testing.T) {
	t.Parallel()
	server := start(t, "-serve", "127.0.0.1:0", "-inspect", "127.0.0.1:0")
	server.says(t, "inspect at ")
	bots := start(t, "-join", server.address(t), "-clients", "2", "-inspect", "127.0.0.1:0")
	bots.says(t, "playing")
	for name, p := range map[string]*watched{`"role":"server"`: server, `"name":"bot 2"`: bots} {
		_, url, _ := strings.Cut(p.text(), "inspect at ")
		page, query, _ := strings.Cut(strings.Fields(url)[0], "?")
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		operator := http.Client{Jar: jar}
		opened, err := operator.Get(page + "?" + query)
		require.NoError(t, err)
		require.NoError(t, opened.Body.Close())
		for path, want := range map[string]string{"ends.json": name, "": "<!doctype html>", "graph.dot": "digraph", "entities.json?q=avatar": `"prefab":"avatar"`} {
			res, err := operator.Get(page + path)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Contains(t, string(body), want)
		}
	}
	bots.leaves(t)
}

// Bots with another tick rate get an error that names it.
func TestMismatchedProcess(t *testing.T) {
	server := start(t, "-serve", "127.0.0.1:0", "-seconds", "20")
	addr := server.address(t)
	other := start(t, "-join", addr, "-clients", "1", "-tickrate", "60")
	err := other.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Equal(t, 1, strings.Count(other.text(), "\n"), other.text())
	require.Contains(t, other.text(), fmt.Sprintf("%q", "tick rate 60 Hz"))
}

// Each correction is explained: stuns and deaths name the server's system, lost
// inputs their tick, the planted fault its place in the code.
func TestExplain(t *testing.T) {
	var stdout, stderr bytes.Buffer
	p := program(with("-json", "-explain", "-plant", "code")...)
	p.Stdout, p.Stderr = &stdout, &stderr
	require.NoError(t, p.Run())
	var r Report
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &r))
	causes, systems := map[string]uint64{}, map[string]int{}
	for line := range strings.Lines(stderr.String()) {
		var m struct {
			Tick      uint32
			Component string
			Field     string
			Cause     string
			System    string
			CauseTick uint32 `json:"cause_tick"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		require.NotZero(t, m.Tick)
		require.NotEmpty(t, m.Component)
		require.NotEmpty(t, m.Field)
		causes[m.Cause]++
		systems[m.System]++
		if m.Cause == "input" || m.Cause == "server_effect" {
			require.NotZero(t, m.CauseTick)
			require.LessOrEqual(t, m.CauseTick, m.Tick)
		}
	}
	for cause, n := range causes {
		require.Equal(t, r.MispredictionsByCause[cause], n, cause)
	}
	require.NotZero(t, causes["code"])
	require.NotZero(t, systems["stun"])
	require.NotZero(t, systems["respawn"])
}

func newPlayer() simtest.Player {
	o, err := parse(nil, io.Discard)
	if err != nil {
		panic(err)
	}
	g := game.NewGame(o.rules())
	p, err := g.Protocol()
	if err != nil {
		panic(err)
	}
	return simtest.Player{Protocol: p, Sample: client.Sample(&g.Cmd, game.NewBot(g, 1, 1).Sample)}
}

// TestPair plays over UDP; with flags it is one end, on a machine of its own: see package pair.
func TestPair(t *testing.T) { pair.Test(t, newPlayer) }

// BenchmarkGame measures what a match costs a player. It is the same in every run; the limits are 1.3
// times the current values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 2600, "corrections/min": 36, "server-allocs/tick": 16, "client-allocs/step": 3.3}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
