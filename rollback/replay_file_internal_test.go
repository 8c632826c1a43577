package rollback

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/settled"
)

// checkSize is the size of the sum at the end of a replay.
const checkSize = 8

// unpack returns the bytes that a replay has compressed, without their sum.
func unpack(t testing.TB, replay []byte) []byte {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(replay[len(replayMagic):])))
	require.NoError(t, err)
	return plain[:len(plain)-checkSize]
}

// pack makes a replay of bytes. One that is not whole has no sum, and is cut off after them.
func pack(plain []byte, whole bool) []byte {
	out := bytes.NewBufferString(replayMagic)
	packer.Reset(out)
	_, _ = packer.Write(plain)
	if !whole {
		_ = packer.Flush()
		return out.Bytes()
	}
	_, _ = packer.Write(settled.LE.AppendUint64(nil, settled.SumOf(plain)))
	_ = packer.Close()
	return out.Bytes()
}

var packer, _ = flate.NewWriter(nil, 1)

// played is what a replay of the tests came to.
type played struct {
	opened bool // opened is true if NewReplay took it.
	last   foretick.Tick
	worlds []uint64 // worlds has the sum of the world after each tick.
	err    error
}

// playFile plays a replay as far as it goes, with a protocol of fighters.
func playFile(t testing.TB, replay []byte, cfg ReplayConfig) (p played) {
	cfg.From = bytes.NewReader(replay)
	r, err := NewReplay(cfg)
	if err != nil {
		require.Nil(t, r)
		return played{err: err}
	}
	p.opened, p.last = true, r.Last()
	for {
		var more bool
		if more, p.err = r.Step(); !more {
			break
		}
		p.worlds = append(p.worlds, r.play.sum())
	}
	_, again := r.Step()
	require.Equal(t, p.err, again, "the end stays the end")
	if d := (*Divergence)(nil); p.err == nil || errors.Is(p.err, ErrCut) {
		require.Equal(t, p.last, r.Tick())
	} else if !errors.As(p.err, &d) {
		require.ErrorIs(t, p.err, errReplay)
	}
	return p
}

// TestCutReplays: a replay that is cut off anywhere plays to the last tick that it has whole, with the worlds of the
// match, and then says that it is cut off. Without a tick it is an error to open it. The bytes are cut as they are in a
// file, and before they are compressed.
func TestCutReplays(t *testing.T) {
	cfg := ReplayConfig{Protocol: new(fighters).protocol(t)}
	replay, _ := recorded(t, 24, 1500*time.Millisecond)
	whole := playFile(t, replay, cfg)
	require.NoError(t, whole.err)
	require.Greater(t, len(whole.worlds), 60)
	require.EqualValues(t, len(whole.worlds), whole.last)
	plain := unpack(t, replay)
	var f replayFile
	require.NoError(t, f.read(bytes.NewReader(replay), 1<<20))
	check := func(cut []byte, before int) (ticks int) {
		p := playFile(t, cut, cfg)
		require.ErrorIs(t, p.err, ErrCut)
		require.GreaterOrEqual(t, len(p.worlds), before, "more of the file has fewer ticks")
		require.Equal(t, whole.worlds[:len(p.worlds)], append([]uint64{}, p.worlds...))
		require.Equal(t, len(p.worlds) > 0, p.opened)
		require.EqualValues(t, len(p.worlds), p.last)
		return len(p.worlds)
	}
	ticks, lengths := 0, map[int]bool{}
	for n := range len(plain) + 1 {
		ticks = check(pack(plain[:n], false), ticks)
		if lengths[ticks] = true; n < len(plain)-len(f.ticks)+1 {
			require.Zero(t, ticks)
		}
	}
	require.Len(t, lengths, len(whole.worlds)+1, "each number of ticks")
	require.Contains(t, lengths, len(whole.worlds), "only the sum is missing")
	ticks = 0
	for n := range len(replay) {
		if p := playFile(t, replay[:n], cfg); p.err == nil {
			require.Equal(t, whole, p, "only the end of the compressed bytes is missing")
			continue
		}
		ticks = check(replay[:n], ticks)
	}
	require.Positive(t, ticks)
	require.ErrorContains(t, playFile(t, replay[:len(replay)-20], cfg).err, "is cut off after tick ")
	require.ErrorContains(t, playFile(t, replay[:20], cfg).err, "is cut off before its first tick")
	t.Logf("%d bytes, %d before they are compressed", len(replay), len(plain))
}

// TestDamagedReplays: a replay with a wrong byte is an error of NewReplay, or it is the match all the same. If its end
// is missing too, the wrong byte ends it, by its form or by the sums of each second.
func TestDamagedReplays(t *testing.T) {
	cfg := ReplayConfig{Protocol: new(fighters).protocol(t)}
	replay, _ := recorded(t, 24, 3*time.Second)
	whole := playFile(t, replay, cfg)
	require.NoError(t, whole.err)
	plain := unpack(t, replay)
	r := rand.New(rand.NewPCG(1, 2))
	same := 0
	for n := range costtest.Count(200, len(replay)) {
		i := n * len(replay) / costtest.Count(200, len(replay))
		b := bytes.Clone(replay)
		b[i] ^= 1 << r.IntN(8)
		p := playFile(t, b, cfg)
		if p.err == nil {
			same++
			require.Equal(t, whole, p)
			continue
		}
		require.True(t, !p.opened || errors.Is(p.err, ErrCut), "byte %d: %v", i, p.err)
	}
	require.Less(t, same, 8, "bits that fill a byte up")
	var f replayFile
	require.NoError(t, f.read(bytes.NewReader(replay), 1<<20))
	var short, long, other int // a cut that comes earlier, or not, and worlds that differ
	tries := costtest.Count(200, len(f.ticks))
	for n := range tries {
		i := len(plain) - 1 - n*len(f.ticks)/tries
		b := bytes.Clone(plain)
		b[i] ^= 1 << r.IntN(8)
		sum := settled.LE.AppendUint64(nil, settled.SumOf(plain))
		require.ErrorIs(t, playFile(t, pack(append(bytes.Clone(b), sum...), false), cfg).err, errReplay, "the sum is another one")
		switch p := playFile(t, pack(b, false), cfg); {
		case !errors.Is(p.err, ErrCut):
			other++
		case len(p.worlds) < len(whole.worlds):
			short++
		default:
			long++
			require.Equal(t, whole.worlds[:120], p.worlds[:120], "byte %d changed the world before the newest sum", i)
		}
	}
	t.Logf("of %d wrong bytes in a replay without a sum, %d end it, %d make another world, and %d are after the newest sum or change nothing", tries, short, other, long)
	require.Positive(t, other)
	require.Less(t, long, tries/2)
}

// TestForgedReplays: a replay that somebody made up is an error or another match, whatever its bytes say. NewReplay needs
// memory by the bytes that are there, and not by those that it tells of.
func TestForgedReplays(t *testing.T) {
	cfg := ReplayConfig{Protocol: new(fighters).protocol(t)}
	replay, _ := recorded(t, 24, 5*time.Second)
	require.NoError(t, playFile(t, replay, cfg).err)
	for _, b := range [][]byte{[]byte("FTRB\x01"), []byte("no replay at all"), append([]byte(replayMagic), "nothing compressed"...)} {
		require.ErrorIs(t, playFile(t, b, cfg).err, errReplay)
	}
	require.ErrorContains(t, playFile(t, replay, ReplayConfig{Protocol: cfg.Protocol, MaxWorld: 100}).err, "raise rollback.ReplayConfig.MaxWorld")
	plain := unpack(t, replay)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		b := bytes.Clone(plain)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		b = b[:len(b)-r.IntN(2)*r.IntN(40)]
		playFile(t, pack(b, true), cfg)
	}
	var before, after runtime.MemStats
	for i := range len(plain) - 4 {
		b := bytes.Clone(plain)
		settled.LE.PutUint32(b[i:], 0xFFFFFFF0) // each length, among others
		b = pack(b, i%2 == 0)
		var f replayFile
		runtime.ReadMemStats(&before)
		_ = f.read(bytes.NewReader(b), 1<<20)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "at %d", i)
	}
}

// FuzzReplay opens and plays what is no replay of a match.
func FuzzReplay(f *testing.F) {
	replay, _ := recorded(f, 24, time.Second)
	plain := unpack(f, replay)
	cfg := ReplayConfig{Protocol: new(fighters).protocol(f), MaxWorld: 1 << 16}
	f.Add(plain, uint16(0), true)
	f.Add(plain, uint16(40), true)
	f.Add(plain[:len(plain)-30], uint16(0), false)
	f.Add(plain[:100], uint16(7), false)
	f.Fuzz(func(t *testing.T, plain []byte, cut uint16, whole bool) {
		b := pack(plain, whole)
		p := playFile(t, b[:len(b)-min(int(cut), len(b))], cfg)
		require.True(t, whole && cut == 0 || p.err != nil || int(cut) < 12, "the end is missing, and nothing says so")
	})
}
