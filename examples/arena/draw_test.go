package main

import (
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/lagcomp"
)

// The images of a match's shots: the body on the shooter's screen covers the one
// that the server used, and trails the server's own.
func TestDrawShots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shots")
	r := play(t, "-seconds", "4", "-clients", "4", "-rtt", "200ms", "-draw-shots", dir)
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
	require.Greater(t, apart, 5, "a frame shows both where a body was seen and where it was")
	require.Error(t, run(t.Context(), []string{"-serve", "127.0.0.1:0", "-draw-shots", dir}, new(strings.Builder)))
}

// An image shows the positions: filled green the body that the server judged by, a
// blue ring for the screen, a red ring for the server at that time, the line of fire
// in yellow and the hit in white.
func TestPictureOfAShot(t *testing.T) {
	ball := func(x, y float32) lagcomp.Hitbox { return lagcomp.SphereHitbox(lagcomp.Sphere{X: x, Y: y, R: 0.5}) }
	x := lagcomp.Explanation{Ray: lagcomp.Ray2D(0, 0, 0, 6), Hit: lagcomp.Hit{ID: 7, Point: lagcomp.Vec{X: 2.5}}}
	x.Bodies = []lagcomp.ExplainedBody{{ID: 7, Used: []lagcomp.Hitbox{ball(3, 0.2)}, Present: []lagcomp.Hitbox{ball(5, -1)}}}
	m := picture2D(x, []lagcomp.Sphere{{X: 4, Y: 1.2, R: 0.5}})
	at := func(x, y float64) color.Color { return m.At(int((x+2.5)*28), m.Bounds().Dy()-1-int((y+2.5)*28)) }
	for _, p := range []struct {
		x, y float64
		want color.RGBA
	}{
		{3, 0.4, usedThen}, {4, 0.725, onScreen}, {5, -1.46, atTime}, {1, 0, fireLine}, {5.5, 0, fireLine}, {2.5, 0.05, struck},
	} {
		require.Equal(t, p.want, at(p.x, p.y), "%v, %v", p.x, p.y)
	}
	for _, c := range []color.RGBA{onScreen, atTime} {
		require.NotEqual(t, c, at(4, 1.2), "rings alone")
		require.NotEqual(t, c, at(5, -1), "rings alone")
	}
	x.Hit = lagcomp.Hit{}
	m = picture2D(x, nil)
	require.NotEqual(t, struck, at(2.5, 0.05), "nothing was hit")
}
