package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pictures of a match's shots: what the shooter saw lies on what the server
// used, and behind what it had.
func TestDrawShots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shots")
	r := play(t, "-seconds", "6", "-clients", "4", "-rtt", "200ms", "-draw-shots", dir)
	require.NotZero(t, r.ShotsConfirmed)
	list, err := os.ReadFile(filepath.Join(dir, "shots.txt"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")[1:]
	require.Greater(t, len(lines), 10)
	require.Contains(t, string(list), "hit player")
	apart := 0
	for _, line := range lines {
		f, err := os.Open(filepath.Join(dir, strings.Fields(line)[0]))
		require.NoError(t, err)
		m, err := png.Decode(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		blue, red := 0, 0
		for y := range m.Bounds().Dy() {
			for x := range m.Bounds().Dx() {
				switch c := m.At(x, y); c {
				case onScreen:
					blue++
				case atTime:
					red++
				}
			}
		}
		if blue > 0 && red > 0 {
			apart++
		}
	}
	require.Greater(t, apart, 5, "a picture shows both where a body was seen and where it was")
	require.Error(t, run(t.Context(), []string{"-serve", "127.0.0.1:0", "-draw-shots", dir}, new(strings.Builder)))
}
