package settled_test

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/internal/settled/settledtest"
	"github.com/foretick/foretick/netcode"
)

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
	d := settled.Declaration{Rules: settledtest.Rules, Match: 0x0102030405060708, Holds: 41}
	check("declaration", "3c080300070000000000000008070605040302012900000"+"00c048185", d.Append(nil), func(b []byte) (any, error) {
		if len(b) < 28 { // it may end after each field
			return nil, netcode.ErrMalformed
		}
		return settled.ReadDeclaration(b)
	}, d)
	w := settled.Welcome{Player: 3, Places: 8, Resumed: true, World: true, Next: 42, Match: 5, Token: [16]byte{1, 2, 15: 16}}
	check("welcome", "0308032a000000050000000000000001020000000000000000000000000010", w.Append(nil), func(b []byte) (any, error) { return settled.ReadWelcome(b) }, w)
	p := settled.Presence{Settled: 0x01020304}
	check("presence", "0403020100", p.Append(nil), func(b []byte) (any, error) { return settled.ReadPresence(b) }, p)
	s := settled.Sum{Tick: 60, Sum: 0x1122334455667788}
	check("sum", "3c0000008877665544332211", s.Append(nil), func(b []byte) (any, error) { return settled.ReadSum(b) }, s)
	f := settled.Differ{Tick: 120, Agreed: 60, Other: 2, Theirs: 3, Most: true}
	check("differ", "780000003c00000003000000000000000201", f.Append(nil), func(b []byte) (any, error) { return settled.ReadDiffer(b) }, f)
	cl := settled.Clue{Player: 2, Tick: 120, Level: settled.LevelValues, Length: 300, Points: []settled.Point{{7, 0x01020304}}, Place: 9, Found: true, Build: "b",
		Cause: &settled.Finding{Spot: settled.Spot{5, 3, 1}, Prefab: 2, Field: "a.B", Value: "1", Expected: "2", System: "s", First: 60, Last: 61}}
	check("clue", "02780000000203"+"2c01000009000000"+"010700000004030201"+"0162"+"0500000000000000030001000200"+"3c0000003d000000"+"03612e42"+"0131"+"0132"+"0173", cl.Append(nil), func(b []byte) (any, error) { return settled.ReadClue(b) }, cl)
	a := settled.Ask{Tick: 60, Until: 65536}
	check("ask", "3c00000000000100", a.Append(nil), func(b []byte) (any, error) { return settled.ReadAsk(b) }, a)
	pc := settled.Piece{Tick: 60, Offset: 1024, Total: 1026, Data: []byte{7, 8}}
	check("piece", "3c00000000040000020400000708", pc.Append(nil), func(b []byte) (any, error) {
		if len(b) < 14 { // a shorter piece is another one
			return nil, netcode.ErrMalformed
		}
		return settled.ReadPiece(b)
	}, pc)
	h := settled.Head{Clock: 44, Fraction: 128, Early: -3, HasEarly: true, Taken: 47, First: 41}
	check("settled", "2c0000008001fdff2f000000290000", h.Append(nil), func(b []byte) (any, error) {
		h, _, err := settled.ReadSettled(b)
		return h, err
	}, h)
	v := settled.WorldVerdict{Tick: 60, Total: 1026, Sum: 1}
	check("verdict", "3c000000020400000100000000000000", v.Append(nil), func(b []byte) (any, error) {
		v, _, err := settled.ReadVerdict(b)
		return v, err
	}, v)
}

// TestStandingVectors: the bytes of ticks stay what they are, and a reader has the ticks and the standing
// of the writer after each.
func TestStandingVectors(t *testing.T) {
	write, read := settledtest.Standing(), settledtest.Standing()
	want := []string{"070201887766554433221" + "10a0900000000000000" + "0002" + "0100" + "696400", "00", "070181" + "0002" + "0002" + "5c01"}
	for i, tick := range settledtest.Ticks() {
		b := write.Append(nil, &tick)
		require.Equal(t, want[i], hex.EncodeToString(b), "tick %d", tick.Tick)
		skipped, ok := read.Skip(b)
		require.True(t, ok)
		require.Empty(t, skipped)
		var got settled.Tick
		rest, ok := read.Read(b, &got)
		require.True(t, ok)
		require.Empty(t, rest)
		require.Equal(t, len(tick.Changes), len(got.Changes))
		tick.Changes, got.Changes = append([]settled.RosterChange{}, tick.Changes...), append([]settled.RosterChange{}, got.Changes...)
		require.Equal(t, tick, got)
		require.Equal(t, write.AppendWhole(nil), read.AppendWhole(nil))
		other := settled.NewStanding(&settledtest.Rules, settledtest.Places)
		require.NoError(t, other.ReadWhole(tick.Tick, write.AppendWhole(nil)))
		require.Equal(t, write.Commands, other.Commands)
		require.Equal(t, write.Persons, other.Persons)
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
		s := settledtest.Standing()
		require.True(t, s.Change(settled.RosterChange{Player: 1, Joined: true}))
		require.True(t, s.Change(settled.RosterChange{Player: 10, Joined: true}))
		copy(s.Command(1), []byte{0x34, 0x12, 0})
		raw, err := hex.DecodeString(b)
		require.NoError(t, err)
		_, ok := s.Read(raw, &settled.Tick{})
		require.False(t, ok, what)
	}
	s := settledtest.Standing()
	require.True(t, s.Change(settled.RosterChange{Player: 1, Joined: true}))
	_, ok := s.Read([]byte{4, 1, 0, 0x0c}, &settled.Tick{})
	require.True(t, ok, "the bits after the last may be zeros")
}

// TestStandingRoundTrip: readers have the same ticks as the writer, at every number of places, also those
// that begin with a whole standing, and none takes a tick that is cut.
func TestStandingRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, places := range []int{1, 2, 7, 8, 9, 63, 64} {
		write, read := settled.NewStanding(&settledtest.Rules, places), settled.NewStanding(&settledtest.Rules, places)
		changed := 0
		for range 300 {
			tick := settledtest.Random(r, write)
			changed += len(tick.Changes)
			b := write.Append(nil, &tick)
			if len(b) > 1 {
				_, ok := read.Skip(b[:len(b)-1])
				require.False(t, ok, "a tick that is cut")
			}
			var got settled.Tick
			_, ok := read.Read(b, &got)
			require.True(t, ok)
			require.Equal(t, len(tick.Inputs), len(got.Inputs))
			for i := range tick.Inputs {
				require.Equal(t, tick.Inputs[i], got.Inputs[i])
			}
			require.Equal(t, write.AppendWhole(nil), read.AppendWhole(nil))
		}
		require.Positive(t, changed)
	}
}

// FuzzSettled: no body of settled ticks makes a reader panic or allocate much, and each tick that is read
// has one encoding.
func FuzzSettled(f *testing.F) {
	s := settledtest.Standing()
	h := settled.Head{Clock: 44, First: 41, Count: 3}
	b := h.Append(nil)
	for _, tick := range settledtest.Ticks() {
		b = s.Append(b, &tick)
	}
	f.Add(b)
	f.Add((&settled.Head{}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() {
			h, ticks, err := settled.ReadSettled(b)
			if err != nil {
				return
			}
			read, write := settledtest.Standing(), settledtest.Standing()
			var got settled.Tick
			for range h.Count {
				rest, form := read.Skip(ticks)
				after, ok := read.Read(ticks, &got)
				if !ok {
					return
				}
				require.True(t, form, "read takes what skip does not")
				require.Equal(t, len(rest), len(after))
				require.Equal(t, ticks[:len(ticks)-len(after)], write.Append(nil, &got))
				ticks = after
			}
		})
		_ = settledtest.Standing().ReadWhole(1, b)
	})
}

// FuzzDeclaration: no declaration makes its reader panic or allocate much, and each has one encoding.
func FuzzDeclaration(f *testing.F) {
	f.Add((&settled.Declaration{Rules: settledtest.Rules}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() {
			if d, err := settled.ReadDeclaration(b); err == nil {
				require.Equal(t, b, d.Append(nil))
				settled.NewStanding(&d.Rules, 1)
			}
		})
	})
}
