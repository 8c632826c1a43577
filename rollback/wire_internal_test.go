package rollback

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
)

// testRules are those of a command of 12, 4, 1 and 7 bits.
var testRules = rules{rate: 60, window: 8, size: 3, tags: 7, fields: []field{12, 4, 1 | fieldOnce, 5 | fieldOnce}}

const testPlaces = 10

// vectorTicks are three ticks of a match of ten places: two players join, one plays, one is stood in for,
// one leaves.
func vectorTicks() []settledTick {
	return []settledTick{
		{tick: 41, changes: []rosterChange{{player: 1, joined: true, person: 0x1122334455667788}, {player: 10, joined: true, person: 9}},
			inputs: []settledInput{{player: 1, command: []byte{0x34, 0x12, 0}}, {player: 10, command: make([]byte, 3), standIn: true}}},
		{tick: 42, inputs: []settledInput{{player: 1, command: []byte{0x34, 0x12, 0}}, {player: 10, command: make([]byte, 3), standIn: true}}},
		{tick: 43, changes: []rosterChange{{player: 1}}, inputs: []settledInput{{player: 10, command: []byte{0, 0, 0x15}}}},
	}
}

func vectorStanding() *standing {
	s := newStanding(&testRules, testPlaces)
	s.tick = 40
	return s
}

// TestWireVectors: the bytes of each message stay what they are, and every message is read as it was
// written.
func TestWireVectors(t *testing.T) {
	check := func(name, want string, got []byte, read func([]byte) (any, error), value any) {
		t.Helper()
		require.Equal(t, want, hex.EncodeToString(got), name)
		back, err := read(got)
		require.NoError(t, err, name)
		require.Equal(t, value, back, name)
		_, err = read(got[:len(got)-1])
		require.ErrorIs(t, err, netcode.ErrMalformed, "%s, cut", name)
	}
	d := declaration{rules: testRules, match: 0x0102030405060708, holds: 41}
	check("declaration", "3c080300070000000000000008070605040302012900000"+"00c048185", d.append(nil), func(b []byte) (any, error) {
		if len(b) < 28 { // it may end after each field
			return nil, netcode.ErrMalformed
		}
		return readDeclaration(b)
	}, d)
	w := welcome{player: 3, places: 8, resumed: true, world: true, next: 42, match: 5, token: [16]byte{1, 2, 15: 16}}
	check("welcome", "0308032a000000050000000000000001020000000000000000000000000010", w.append(nil), func(b []byte) (any, error) { return readWelcome(b) }, w)
	p := presence{settled: 0x01020304}
	check("presence", "0403020100", p.append(nil), func(b []byte) (any, error) { return readPresence(b) }, p)
	s := sum{tick: 60, sum: 0x1122334455667788}
	check("sum", "3c0000008877665544332211", s.append(nil), func(b []byte) (any, error) { return readSum(b) }, s)
	f := differ{tick: 120, agreed: 60, other: 2, theirs: 3, most: true}
	check("differ", "780000003c00000003000000000000000201", f.append(nil), func(b []byte) (any, error) { return readDiffer(b) }, f)
	cl := clue{player: 2, tick: 120, level: levelValues, length: 300, points: []point{{7, 0x01020304}}, place: 9, found: true, build: "b",
		cause: &finding{spot: spot{5, 3, 1}, field: "a.B", value: "1", expected: "2", first: 60, last: 61}}
	check("clue", "02780000000203"+"2c01000009000000"+"010700000004030201"+"0162"+"050000000000000003000100"+"3c0000003d000000"+"03612e42013101"+"32", cl.append(nil), func(b []byte) (any, error) { return readClue(b) }, cl)
	a := ask{tick: 60, until: 65536}
	check("ask", "3c00000000000100", a.append(nil), func(b []byte) (any, error) { return readAsk(b) }, a)
	pc := piece{tick: 60, offset: 1024, total: 1026, data: []byte{7, 8}}
	check("piece", "3c00000000040000020400000708", pc.append(nil), func(b []byte) (any, error) {
		if len(b) < 14 { // a shorter piece is another one
			return nil, netcode.ErrMalformed
		}
		return readPiece(b)
	}, pc)
	h := settledHead{clock: 44, fraction: 128, early: -3, hasEarly: true, taken: 47, first: 41}
	check("settled", "2c0000008001fdff2f000000290000", h.append(nil), func(b []byte) (any, error) {
		h, _, err := readSettled(b)
		return h, err
	}, h)
	v := worldVerdict{tick: 60, total: 1026, sum: 1}
	check("verdict", "3c000000020400000100000000000000", v.append(nil), func(b []byte) (any, error) {
		v, _, err := readVerdict(b)
		return v, err
	}, v)
}

// TestStandingVectors: the bytes of ticks stay what they are, and a reader has the ticks and the standing
// of the writer after each.
func TestStandingVectors(t *testing.T) {
	write, read := vectorStanding(), vectorStanding()
	want := []string{"070201887766554433221" + "10a0900000000000000" + "0002" + "0100" + "696400", "00", "070181" + "0002" + "0002" + "5c01"}
	for i, tick := range vectorTicks() {
		b := write.append(nil, &tick)
		require.Equal(t, want[i], hex.EncodeToString(b), "tick %d", tick.tick)
		skipped, ok := read.skip(b)
		require.True(t, ok)
		require.Empty(t, skipped)
		var got settledTick
		rest, ok := read.read(b, &got)
		require.True(t, ok)
		require.Empty(t, rest)
		require.Equal(t, len(tick.changes), len(got.changes))
		tick.changes, got.changes = append([]rosterChange{}, tick.changes...), append([]rosterChange{}, got.changes...)
		require.Equal(t, tick, got)
		require.Equal(t, write.appendWhole(nil), read.appendWhole(nil))
		other := newStanding(&testRules, testPlaces)
		require.NoError(t, other.readWhole(tick.tick, write.appendWhole(nil)))
		require.Equal(t, write.commands, other.commands)
		require.Equal(t, write.persons, other.persons)
	}
}

// TestWrongTicksAreRefused: a tick has one encoding, and says nothing of players that are not there.
func TestWrongTicksAreRefused(t *testing.T) {
	for what, b := range map[string]string{
		"no flags":                      "",
		"an unknown flag":               "08",
		"no change":                     "0100",
		"more changes than places":      "010b",
		"who is in joins":               "0101" + "01" + "0000000000000000",
		"who is not in leaves":          "010182",
		"a place that is not there":     "01018b",
		"changes out of order":          "01028a81",
		"an empty mask":                 "020000",
		"a mask beyond the places":      "020004",
		"a stand-in of nobody":          "020200",
		"the input of nobody":           "040200" + "690400",
		"an input that does not differ": "040100" + "00",
		"a field that does not differ":  "040100" + "69e400", // the first is as before, the second is 3
		"bits after the last":           "040100" + "cc",
		"a cut input":                   "040100" + "69",
	} {
		s := vectorStanding()
		require.True(t, s.change(rosterChange{player: 1, joined: true}))
		require.True(t, s.change(rosterChange{player: 10, joined: true}))
		copy(s.command(1), []byte{0x34, 0x12, 0})
		raw, err := hex.DecodeString(b)
		require.NoError(t, err)
		_, ok := s.read(raw, &settledTick{})
		require.False(t, ok, what)
	}
	s := vectorStanding()
	require.True(t, s.change(rosterChange{player: 1, joined: true}))
	_, ok := s.read([]byte{4, 1, 0, 0x0c}, &settledTick{})
	require.True(t, ok, "the bits after the last may be zeros")
}

// randomTick returns a tick that may follow a standing.
func randomTick(r *rand.Rand, s *standing) settledTick {
	t := settledTick{tick: s.tick + 1}
	for p := foretick.PlayerID(1); int(p) <= s.places; p++ {
		in := s.has(p)
		if r.IntN(20) == 0 {
			c := rosterChange{player: p, joined: !in}
			if in = !in; in {
				c.person = r.Uint64()
			}
			t.changes = append(t.changes, c)
		}
		if !in {
			continue
		}
		command := make([]byte, s.size)
		if copy(command, s.command(p)); r.IntN(3) == 0 {
			command[r.IntN(s.size)] ^= 1 << r.IntN(8)
		}
		t.inputs = append(t.inputs, settledInput{player: p, command: command, standIn: r.IntN(5) == 0})
	}
	return t
}

// TestStandingRoundTrip: readers have the same ticks as the writer, at every number of places, also those
// that begin with a whole standing, and none takes a tick that is cut.
func TestStandingRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, places := range []int{1, 2, 7, 8, 9, 63, 64} {
		write, read := newStanding(&testRules, places), newStanding(&testRules, places)
		changed := 0
		for range 300 {
			tick := randomTick(r, write)
			changed += len(tick.changes)
			b := write.append(nil, &tick)
			if len(b) > 1 {
				_, ok := read.skip(b[:len(b)-1])
				require.False(t, ok, "a tick that is cut")
			}
			var got settledTick
			_, ok := read.read(b, &got)
			require.True(t, ok)
			require.Equal(t, len(tick.inputs), len(got.inputs))
			for i := range tick.inputs {
				require.Equal(t, tick.inputs[i], got.inputs[i])
			}
			require.Equal(t, write.appendWhole(nil), read.appendWhole(nil))
		}
		require.Positive(t, changed)
	}
}

// FuzzSettled: no body of settled ticks makes a reader panic or allocate much, and each tick that is read
// has one encoding.
func FuzzSettled(f *testing.F) {
	s := vectorStanding()
	h := settledHead{clock: 44, first: 41, count: 3}
	b := h.append(nil)
	for _, tick := range vectorTicks() {
		b = s.append(b, &tick)
	}
	f.Add(b)
	f.Add((&settledHead{}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() {
			h, ticks, err := readSettled(b)
			if err != nil {
				return
			}
			read, write := vectorStanding(), vectorStanding()
			var got settledTick
			for range h.count {
				rest, form := read.skip(ticks)
				after, ok := read.read(ticks, &got)
				if !ok {
					return
				}
				require.True(t, form, "read takes what skip does not")
				require.Equal(t, len(rest), len(after))
				require.Equal(t, ticks[:len(ticks)-len(after)], write.append(nil, &got))
				ticks = after
			}
		})
		_ = vectorStanding().readWhole(1, b)
	})
}

// FuzzDeclaration: no declaration makes its reader panic or allocate much, and each has one encoding.
func FuzzDeclaration(f *testing.F) {
	f.Add((&declaration{rules: testRules}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() {
			if d, err := readDeclaration(b); err == nil {
				require.Equal(t, b, d.append(nil))
				newStanding(&d.rules, 1)
			}
		})
	})
}
