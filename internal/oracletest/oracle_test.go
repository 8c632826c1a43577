//go:build !foretick_debug

// Debug builds send more than the recordings have, and run ticks again to check them. So they
// have neither the same packets nor the same calls of handlers.

package oracletest

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
)

var update = flag.Bool("update", false, "write the tapes and digests again: only for a change that means to change what is computed or sent")

var digestsFile = filepath.Join("testdata", "digests.txt")

const about = `# One match a block: its name and ticks, then its streams, each with the number of entries, their bytes,
# and a digest by the end of each second. go test ./internal/oracletest -update writes it.
`

func tapeFile(name string) string { return filepath.Join("testdata", name+".tape") }

// recorded returns the digests of testdata.
func recorded(t *testing.T) map[string]digest {
	text, err := os.ReadFile(digestsFile)
	require.NoError(t, err)
	all, err := readDigests(string(text))
	require.NoError(t, err)
	return all
}

// TestMain writes the files first, if -update is set.
func TestMain(m *testing.M) {
	if flag.Parse(); *update {
		if err := rewrite(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// rewrite plays all matches and writes testdata.
func rewrite() error {
	if err := errors.Join(os.RemoveAll("testdata"), os.MkdirAll("testdata", 0o755)); err != nil {
		return err
	}
	text := about
	for _, p := range plans() {
		m, err := p.live()
		if err != nil {
			return err
		}
		b, err := m.bytes()
		if err != nil {
			return err
		}
		if err := os.WriteFile(tapeFile(p.name), b, 0o644); err != nil {
			return err
		}
		text += m.sums.digest(p.name).String()
		fmt.Printf("%s: a tape of %d bytes; server %v; clients %v\n", p.name, len(b), m.counts, m.handled())
		again := p.again()
		if m, err = again.live(); err != nil {
			return err
		}
		text += m.sums.digest(again.name).String()
	}
	d, err := alone()
	return errors.Join(err, os.WriteFile(digestsFile, []byte(text+d.String()), 0o644))
}

// each runs a test for each match, and logs the processor time.
func each(t *testing.T, play func(t *testing.T, p *plan, all map[string]digest)) {
	all := recorded(t)
	var total time.Duration
	for _, p := range plans() {
		t.Run(p.name, func(t *testing.T) {
			_, took := costtest.Cost(func() { play(t, p, all) })
			total += took
		})
	}
	t.Logf("%v of processor time", total.Round(time.Millisecond))
}

// TestTapesReplayTheSame: with each tape the server computes and sends the same as when the match
// was recorded.
func TestTapesReplayTheSame(t *testing.T) {
	each(t, func(t *testing.T, p *plan, all map[string]digest) {
		b, err := os.ReadFile(tapeFile(p.name))
		require.NoError(t, err)
		d, err := p.replay(b)
		assert.Empty(t, d.differences(all[p.name], replayed, p.ticks()))
		assert.NoError(t, err)
	})
}

// TestMatchesPlayTheSame: the same seeds give the same matches, on the clients too. A match
// that is recorded now has the same replay.
func TestMatchesPlayTheSame(t *testing.T) {
	each(t, func(t *testing.T, p *plan, all map[string]digest) {
		for _, p := range []*plan{p, p.again()} {
			m, err := p.live()
			require.NotNil(t, m)
			is := m.sums.digest(p.name)
			assert.Empty(t, is.differences(all[p.name], streams, p.ticks()))
			assert.NoError(t, err)
			b, err := m.bytes()
			require.NoError(t, err)
			d, err := p.replay(b)
			assert.Empty(t, d.differences(is, replayed, p.ticks()), "the replay")
			assert.NoError(t, err)
		}
	})
}

// TestPreviewPlaysTheSame: the same input gives the same match in a preview.
func TestPreviewPlaysTheSame(t *testing.T) {
	d, err := alone()
	assert.NoError(t, err)
	assert.Empty(t, d.differences(recorded(t)[d.name], streams, 30))
}

// TestPlansAreRecorded: each match has its files, and each file its match.
func TestPlansAreRecorded(t *testing.T) {
	names := []string{"preview"}
	size := int64(0)
	for _, p := range plans() {
		names = append(names, p.name, p.again().name)
	}
	slices.Sort(names)
	require.Equal(t, names, slices.Sorted(maps.Keys(recorded(t))))
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_again") || name == "preview" })
	files, err := filepath.Glob(tapeFile("*"))
	require.NoError(t, err)
	for i, file := range files {
		require.Equal(t, tapeFile(names[i]), file)
		info, err := os.Stat(file)
		require.NoError(t, err)
		size += info.Size()
	}
	require.Len(t, files, len(names))
	require.Len(t, names, 27)
	require.Less(t, size, int64(800_000), "the tapes grow the repository: shorten a match")
	t.Logf("%d matches, %d bytes of tapes", len(names), size)
}
