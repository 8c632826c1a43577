package flight_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/transport/sim"
)

var update = flag.Bool("update", false, "write the golden tape")

func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[flight.Config](t, fieldtest.Rules{}, func(c flight.Config) error {
		_, err := flight.New(c)
		return err
	})
}

// If a game uses random numbers that are not recorded, the error names the first tick that differs,
// and the system that uses them.
func TestChanceIsNamed(t *testing.T) {
	m := newMatch(t, 5, 2, flight.Config{}, &game{})
	m.run(3 * time.Second)
	from := m.srv.Tick() + 1
	clock := float32(0) // continues from one replay to the next, like a clock
	chance := func(f *foretick.Frame, i int) float32 {
		if f.Tick < from {
			return fair(f, i)
		}
		clock++
		return clock / 100
	}
	m.game.chance = chance
	m.run(time.Second)
	tape := m.tape()
	_, err := flight.Play(tape, replayed(func(g *game) { g.chance = chance }))
	var d *flight.DifferenceError
	require.ErrorAs(t, err, &d)
	require.Equal(t, from, d.Tick)
	require.Equal(t, "drift", d.System)
	require.ErrorContains(t, err, "uses chance")
}

// If each replay does the same, but not what the match did, the code is not random. The reason then
// names the function of Server.Do that the tape does not hold.
func TestOpaqueTapeSaysSo(t *testing.T) {
	m := newMatch(t, 6, 2, flight.Config{}, &game{})
	m.run(3 * time.Second)
	heal := func(f *foretick.ServerFrame) { m.game.HP.Get(f.World, m.anyEntity()).Points = 7 }
	require.NoError(t, m.srv.Do("heal", heal))
	tick := m.srv.Tick() + 1
	m.run(time.Second)
	tape := m.tape()
	require.Equal(t, []flight.Note{{Tick: tick - 1, Text: `the function "heal" of Server.Do`}}, tape.Info().Opaque)
	_, err := flight.Play(tape, replayed(nil))
	var d *flight.DifferenceError
	require.ErrorAs(t, err, &d)
	require.Equal(t, tick, d.Tick)
	require.Empty(t, d.System)
	require.ErrorContains(t, err, `"heal"`)
	require.NotContains(t, err.Error(), "chance")

	// With Game.Call, which returns the function, the tape replays.
	var g *game
	known := replayed(func(is *game) { g = is })
	known.Call = func(name string) func(*foretick.ServerFrame) {
		require.Equal(t, "heal", name)
		return func(f *foretick.ServerFrame) {
			for _, e := range probe.OfServer(g.srv).Replicated() {
				if e.Prefab == "avatar" {
					g.HP.Get(f.World, e.Entity).Points = 7
					return
				}
			}
		}
	}
	_, err = flight.Play(tape, known)
	require.NoError(t, err)
}

// A tape notes that the program changed the world between Steps.
func TestWorldChangedBetweenSteps(t *testing.T) {
	m := newMatch(t, 6, 2, flight.Config{}, &game{})
	m.run(2 * time.Second)
	m.game.HP.Get(m.srv.World(), m.anyEntity()).Points = 3
	tick := m.srv.Tick()
	m.run(time.Second)
	require.Equal(t, []flight.Note{{Tick: tick, Text: "the program changed the world between Steps"}}, m.tape().Info().Opaque)
	_, err := flight.Play(m.tape(), replayed(nil))
	require.ErrorContains(t, err, "changed the world between Steps")
}

// Another protocol, another configuration: the error names the first difference.
func TestOtherGame(t *testing.T) {
	m := newMatch(t, 7, 1, flight.Config{}, &game{})
	m.run(time.Second)
	tape := m.tape()
	_, err := flight.NewReplay(tape, flight.Game{New: func(cfg server.Config) (*server.Server, error) {
		g := &game{}
		p := foretick.NewProtocol("meadow", 2)
		p.Component(&g.Place)
		cfg.Protocol = p
		return server.New(cfg)
	}})
	require.ErrorContains(t, err, "another protocol")
	_, err = flight.NewReplay(tape, flight.Game{New: func(cfg server.Config) (*server.Server, error) {
		cfg.ReconnectWindow = time.Minute
		return new(game).serve(cfg)
	}})
	require.ErrorContains(t, err, `server.Config.ReconnectWindow is "1m0s", and was "30s"`)
	_, err = flight.NewReplay(tape, flight.Game{New: func(cfg server.Config) (*server.Server, error) {
		cfg.Recorder = nil
		cfg.Transport = sim.NewNetwork(1).Listen()
		return new(game).serve(cfg)
	}})
	require.ErrorContains(t, err, "pass on the whole server.Config")
	_, err = flight.NewReplay(tape, flight.Game{})
	require.ErrorContains(t, err, "Game.New is nil")
}

// A trace has the values of an entity before and after each system.
func TestTrace(t *testing.T) {
	m := newMatch(t, 8, 2, flight.Config{}, &game{})
	m.run(3 * time.Second)
	r, err := flight.NewReplay(m.tape(), replayed(nil))
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.RunTo(40))
	require.EqualValues(t, 40, r.Server().Tick())
	all := r.Entities()
	var rock, avatar flight.Entity
	for _, e := range all {
		switch e.Prefab {
		case "rock":
			rock = e
		case "avatar":
			avatar = e
		}
	}
	require.NotZero(t, avatar.Owner)
	trace, err := r.Trace(rock.Entity)
	require.NoError(t, err)
	require.EqualValues(t, 41, trace.Tick)
	require.EqualValues(t, 41, r.Server().Tick())
	for _, s := range trace.Systems {
		changes := flight.Changes(s.Before, s.After)
		require.Equal(t, s.System == "move", s.Shared)
		if s.System != "drift" {
			require.Empty(t, changes, s.System)
			continue
		}
		require.Len(t, changes, 1)
		require.Equal(t, "Place.X", changes[0].Path)
	}
	var out strings.Builder
	require.NoError(t, trace.Print(&out))
	require.Contains(t, out.String(), "tick 41")
	require.Contains(t, out.String(), "drift\n    Place.X")
	require.NotContains(t, out.String(), "move")
}

// A panic writes a file that only its owner can read. A match that ends well leaves no file,
// unless Config.Keep is set. A long match is written into its file as it grows.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tapes")
	play := func(c flight.Config, end func(m *match)) *match {
		c.Dir, c.Name = dir, "match/1"
		m := newMatch(t, 9, 3, c, &game{})
		m.run(5 * time.Second)
		end(m)
		return m
	}
	files := func() []string {
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		return list
	}
	m := play(flight.Config{}, func(m *match) { require.NoError(t, m.srv.Close("over")) })
	require.Empty(t, files())
	path, err := m.rec.File()
	require.NoError(t, err)
	require.Empty(t, path)

	m = play(flight.Config{}, func(m *match) {
		m.game.panicAt = m.srv.Tick() + 1
		m.run(time.Second)
		require.NotNil(t, m.died)
		_ = m.srv.Close("the match failed")
	})
	path, err = m.rec.File()
	require.NoError(t, err)
	require.Equal(t, []string{path}, files())
	require.Equal(t, "match_1-20261123T120000.tape", filepath.Base(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	tape, err := flight.Open(path)
	require.NoError(t, err)
	require.NotNil(t, tape.Info().Panic)
	require.Contains(t, tape.Info().Panic.Stack, "match_test.go")
	res, err := flight.Play(tape, replayed(func(g *game) { g.panicAt = m.game.panicAt }))
	require.NoError(t, err)
	require.NotNil(t, res.Panic)
	require.NoError(t, tape.Close())

	// A kept tape that is longer than Config.Memory has the same records as one in memory.
	m = play(flight.Config{Keep: true, Memory: 1000}, func(m *match) {
		m.run(20 * time.Second)
		_, err := m.rec.Save("look at this")
		require.NoError(t, err)
		m.run(10 * time.Second)
		require.NoError(t, m.srv.Close("over"))
	})
	path, err = m.rec.File()
	require.NoError(t, err)
	require.Equal(t, "match_1-20261123T120000-2.tape", filepath.Base(path))
	tape, err = flight.Open(path)
	require.NoError(t, err)
	in := tape.Info()
	require.True(t, in.Closed)
	require.Len(t, in.Reports, 1)
	require.Equal(t, "look at this", in.Reports[0].Text)
	res, err = flight.Play(tape, replayed(nil))
	require.NoError(t, err)
	require.Equal(t, m.srv.Tick(), res.Last)
	require.NoError(t, tape.Close())

	// Without Keep the file of a long match is removed at its end.
	m = play(flight.Config{Memory: 1000}, func(m *match) {
		m.run(2 * time.Minute)
		require.Len(t, files(), 3)
		require.NoError(t, m.srv.Close("over"))
	})
	require.Len(t, files(), 2)
	_, err = m.rec.Save("too late")
	require.ErrorContains(t, err, "Config.Keep")
}

// A panic in a handler, which does not end the match, writes the tape too.
func TestReportsAreWritten(t *testing.T) {
	costtest.Concurrent(t)
	dir := t.TempDir()
	m := newMatch(t, 9, 2, flight.Config{Dir: dir}, &game{})
	m.run(3 * time.Second)
	require.NoError(t, m.srv.Do("break", func(*foretick.ServerFrame) { panic("oh no") }))
	m.run(time.Second)
	path, err := m.rec.File()
	require.NoError(t, err)
	tape, err := flight.Open(path)
	require.NoError(t, err)
	defer tape.Close()
	require.Contains(t, tape.Info().Reports[0].Text, "oh no")
}

// Without a directory the tape ends when the memory is full, and is marked as truncated. It
// replays up to its end.
func TestTruncated(t *testing.T) {
	m := newMatch(t, 10, 3, flight.Config{Memory: 30_000}, &game{})
	m.run(60 * time.Second)
	in := m.tape().Info()
	require.True(t, in.Truncated)
	require.Greater(t, in.Ticks, 100)
	res, err := flight.Play(m.tape(), replayed(nil))
	require.NoError(t, err)
	require.InDelta(t, in.Ticks, res.Ticks, 1)
	_, err = m.rec.Save("")
	require.ErrorContains(t, err, "WriteTo")
}

// Measures the bytes a second of a tape with four players.
func TestSize(t *testing.T) {
	costtest.Concurrent(t)
	m := newMatch(t, 11, 4, flight.Config{}, &game{})
	m.run(60 * time.Second)
	var b bytes.Buffer
	_, err := m.rec.WriteTo(&b)
	require.NoError(t, err)
	raw := m.tape().Info().Bytes
	t.Logf("4 players: %d B/s raw, %d B/s compressed", raw/60, b.Len()/60)
	require.Less(t, raw/60, int64(12_000))
}

// Mistakes of the caller give errors.
func TestMisuse(t *testing.T) {
	m := newMatch(t, 12, 0, flight.Config{}, &game{})
	_, err := (&game{}).serve(server.Config{Transport: m.net.Listen(), Recorder: m.rec})
	require.ErrorContains(t, err, "records one server")
	var none *flight.Recorder
	_, err = (&game{}).serve(server.Config{Transport: m.net.Listen(), Recorder: none})
	require.ErrorContains(t, err, "flight.New")
	require.PanicsWithError(t, "foretick: Server.Record: []int has no fixed size: use numbers, a string, []byte, or structs and arrays of int32, float64 and the like", func() { m.srv.Record(&[]int{1}) })
	require.PanicsWithError(t, "foretick: Server.Record: int is no pointer to a value: pass the address of a variable", func() { m.srv.Record(1) })
	require.ErrorContains(t, flight.Edit(m.srv, ecs.None, "Luck.Seed", []int{1}, nil), "use a bool, a number, or a string")
	require.NoError(t, flight.Edit(m.srv, ecs.None, "Luck.Draws", 7, func(err error) { require.NoError(t, err) }))
	m.run(time.Second)
	require.EqualValues(t, 7, m.game.Luck.Get(m.srv.World()).Draws)
}

// Server.Record returns recorded values of all kinds unchanged.
func TestRecordedValues(t *testing.T) {
	type sample struct {
		A int32
		B [2]float64
	}
	var a int
	var b uint
	var c bool
	var d string
	var e []byte
	var f sample
	record := func(srv *server.Server) {
		for _, p := range []any{&a, &b, &c, &d, &e, &f} {
			srv.Record(p)
		}
	}
	n := sim.NewNetwork(1)
	rec, err := flight.New(flight.Config{})
	require.NoError(t, err)
	make := func(cfg server.Config) (*server.Server, error) {
		cfg.Protocol = new(game).protocol()
		srv, err := server.New(cfg)
		if err == nil {
			record(srv)
		}
		return srv, err
	}
	a, b, c, d, e, f = -5, 6, true, "wind", []byte{1, 2}, sample{3, [2]float64{4, 5}}
	_, err = make(server.Config{Transport: n.Listen(), Recorder: rec})
	require.NoError(t, err)
	a, b, c, d, e, f = 0, 0, false, "", nil, sample{}
	var out bytes.Buffer
	_, err = rec.WriteTo(&out)
	require.NoError(t, err)
	tape, err := flight.Read(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	r, err := flight.NewReplay(tape, flight.Game{New: make})
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, []any{-5, uint(6), true, "wind", []byte{1, 2}, sample{3, [2]float64{4, 5}}}, []any{a, b, c, d, e, f})
}

// small returns the tape of a short match.
func small(t testing.TB) []byte {
	m := newMatch(t, 13, 1, flight.Config{Name: "small"}, &game{seed: func() uint64 { return 7 }})
	m.run(time.Second)
	return m.bytes()
}

// looked returns the tape of a short match with an operator that traces a player and stops.
func looked(t testing.TB) []byte {
	m := newMatch(t, 13, 1, flight.Config{Name: "looked"}, &game{seed: func() uint64 { return 7 }})
	m.run(time.Second)
	tr := trace.OfServer(m.srv, 1)
	tr.Look(m.anyEntity())
	m.run(time.Second / 2)
	tr.Stop()
	m.run(time.Second / 2)
	return m.bytes()
}

// For a damaged tape the error names the place, and the part before it still replays.
func TestDamaged(t *testing.T) {
	m := newMatch(t, 14, 4, flight.Config{}, &game{})
	m.run(60 * time.Second)
	var b bytes.Buffer
	_, err := m.rec.WriteTo(&b)
	require.NoError(t, err)
	whole := b.Bytes()
	read := func(b []byte) (*flight.Tape, error) { return flight.Read(bytes.NewReader(b), int64(len(b))) }
	var bad *flight.DamagedError

	tape, err := read(whole[:len(whole)-100])
	require.ErrorAs(t, err, &bad)
	require.ErrorContains(t, err, "cut off")
	require.Greater(t, tape.Info().Ticks, 100)
	_, err = flight.Play(tape, replayed(nil))
	require.ErrorAs(t, err, &bad, "the replay ends where the tape does")

	flipped := bytes.Clone(whole)
	flipped[len(flipped)-100] ^= 4
	tape, err = read(flipped)
	require.ErrorContains(t, err, "checksum")
	require.Greater(t, tape.Info().Ticks, 100)

	_, err = read(nil)
	require.ErrorIs(t, err, flight.ErrNoTape)
	_, err = read([]byte("GIF89a, and more"))
	require.ErrorIs(t, err, flight.ErrNoTape)
	future := bytes.Clone(whole)
	future[8] = 200
	_, err = read(future)
	require.ErrorContains(t, err, "version 200")

	for _, at := range []int{9, 13} { // lengths without an end
		long := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(long[at:], 0xfffffff0)
		_, err = read(long)
		require.ErrorContains(t, err, "the most is")
	}
	for n := range 200 {
		_, err := read(whole[:n])
		require.Error(t, err)
	}
}

// The command prints a tape, its entities, and the trace of an entity.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	m := newMatch(t, 15, 2, flight.Config{Dir: dir, Game: "forest"}, &game{})
	m.run(3 * time.Second)
	m.game.panicAt = m.srv.Tick() + 1
	m.run(time.Second)
	path, err := m.rec.File()
	require.NoError(t, err)
	again := replayed(func(g *game) { g.panicAt = m.game.panicAt })
	run := func(g flight.Game, args ...string) string {
		var out strings.Builder
		require.NoError(t, flight.Command(append(args, path), &out, g))
		return out.String()
	}
	out := run(again)
	require.Contains(t, out, "the meadow burns")
	require.Contains(t, out, "with the recorded hashes, and the panic in tick")
	require.Contains(t, run(replayed(nil)), "it is mended")
	out = run(again, "-tick", "40")
	require.Contains(t, out, "after tick 40")
	require.Regexp(t, `1 rock +player 0  Place.X=`, out)
	out = run(again, "-tick", "40", "-entity", "1")
	require.Contains(t, out, "tick 40, entity")
	require.Contains(t, out, "drift\n    Place.X")
	out = run(again, "-entity", "1")
	require.Contains(t, out, fmt.Sprintf("tick %d, entity", m.game.panicAt))
	require.Contains(t, out, "weather did not end")
	var none strings.Builder
	require.ErrorContains(t, flight.Command([]string{"-tick", "9999", path}, &none, replayed(nil)), "the tape ends after tick")
	require.ErrorContains(t, flight.Command([]string{"-entity", "9999", path}, &none, again), "no entity has the network id 9999")
	require.ErrorContains(t, flight.Command(nil, &none, again), "name one tape")
	require.Error(t, flight.Command([]string{filepath.Join(dir, "none")}, &none, again))
}

// FuzzRecords: no records make a reader or a replay panic, hang, or take much memory.
func FuzzRecords(f *testing.F) {
	b := small(f)
	for _, b := range [][]byte{b, looked(f)} {
		f.Add(unpacked(f, b))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		play(packed(t, b[:9], raw))
	})
}

// unpacked returns the records of a tape.
func unpacked(t testing.TB, b []byte) (raw []byte) {
	for at := 9; at < len(b); {
		n := int(binary.LittleEndian.Uint32(b[at:]))
		more, err := io.ReadAll(flate.NewReader(bytes.NewReader(b[at+12 : at+12+n])))
		require.NoError(t, err)
		raw = append(raw, more...)
		at += 12 + n
	}
	return raw
}

// packed returns a tape with one block of records.
func packed(t testing.TB, head, raw []byte) []byte {
	out := bytes.NewBuffer(bytes.Clone(head))
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	require.NoError(t, err)
	_, _ = w.Write(raw)
	require.NoError(t, w.Close())
	for _, n := range []uint32{uint32(packed.Len()), uint32(len(raw)), crc32.ChecksumIEEE(packed.Bytes())} {
		out.Write(binary.LittleEndian.AppendUint32(nil, n))
	}
	out.Write(packed.Bytes())
	return out.Bytes()
}

// play reads and replays any bytes.
func play(b []byte) {
	tape, _ := flight.Read(bytes.NewReader(b), int64(len(b)))
	if tape == nil {
		return
	}
	_ = tape.Info().String()
	g := replayed(nil)
	_, _ = flight.Play(tape, g)
	g.Loose = true
	_, _ = flight.Play(tape, g)
}

// FuzzRead: no bytes make a reader or a replay panic, hang, or take much memory.
func FuzzRead(f *testing.F) {
	b := small(f)
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add(b[:9])
	f.Fuzz(func(t *testing.T, b []byte) {
		// Corrects the checksums, so that the code behind them runs.
		for at := 9; at+12 <= len(b); {
			n := int(binary.LittleEndian.Uint32(b[at:]))
			if n > len(b)-at-12 || n < 0 {
				break
			}
			binary.LittleEndian.PutUint32(b[at+8:], crc32.ChecksumIEEE(b[at+12:at+12+n]))
			at += 12 + n
		}
		play(b)
	})
}

// golden returns a tape of testdata, which the function make writes with -update.
func golden(t *testing.T, name string, make func(testing.TB) []byte) *flight.Tape {
	name = filepath.Join("testdata", name+".tape.hex")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(name, []byte(hexLines(make(t))), 0o644))
	}
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	b, err := hex.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
	require.NoError(t, err)
	tape, err := flight.Read(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	return tape
}

// The format, byte by byte: a tape written by an older build still reads.
func TestGolden(t *testing.T) {
	tape := golden(t, "small", small)
	in := tape.Info()
	require.Equal(t, "small", in.Name)
	require.Equal(t, epoch, in.Start)
	require.Equal(t, 61, in.Steps)
	require.Equal(t, 29, in.Ticks)
	require.Equal(t, "30s", in.Settings["ReconnectWindow"])
	require.Equal(t, new(game).protocol().Describe(), in.Describe)
	g := replayed(nil)
	g.Loose = runtime.GOARCH != "amd64"
	res, err := flight.Play(tape, g)
	require.NoError(t, err)
	require.EqualValues(t, 29, res.Last)

	tape = golden(t, "looked", looked)
	require.Empty(t, tape.Info().Opaque)
	res, err = flight.Play(tape, g)
	require.NoError(t, err)
	require.EqualValues(t, 60, res.Last)
}

func hexLines(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		n := min(len(b), 48)
		out.WriteString(hex.EncodeToString(b[:n]) + "\n")
		b = b[n:]
	}
	return out.String()
}
