package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// play runs the program and returns its result.
func play(t *testing.T, in string, data, train string, o Options) Result {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(strings.NewReader(in), &out, data, train, o, true))
	var r Result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	return r
}

// trace writes a scene to a file.
func trace(t *testing.T, seed uint64, frames int) (file, bytes string) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, writeTrace(&b, scene(seed, frames)))
	file = filepath.Join(t.TempDir(), "trace.bin")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file, b.String()
}

// TestExact: every frame that arrives is decoded exactly, with and without loss.
func TestExact(t *testing.T) {
	_, in := trace(t, 3, 150)
	r := play(t, in, "-", "", Options{Lag: 6, Seed: 1})
	require.Equal(t, 150, r.Frames)
	require.Equal(t, 150, r.Verified)
	require.Equal(t, "built-in", r.Tables)
	require.InDelta(t, r.BytesPerFrame*hz*8/1000, r.Kbps, 1e-9)
	require.Positive(t, r.EncodePerFrame)

	lossy := play(t, in, "-", "", Options{Lag: 6, Seed: 1, Loss: 0.1})
	require.Greater(t, lossy.Verified, 120)
	require.Less(t, lossy.Verified, 150)
	again := play(t, in, "-", "", Options{Lag: 6, Seed: 1, Loss: 0.1})
	require.Equal(t, lossy.BytesPerFrame, again.BytesPerFrame)
}

// TestLearning: tables learned from another scene need fewer bytes.
func TestLearning(t *testing.T) {
	other, _ := trace(t, 11, 400)
	own, _ := trace(t, 12, 250)
	builtin := play(t, "", own, "", Options{Lag: 6})
	learned := play(t, "", own, other, Options{Lag: 6})
	require.Equal(t, "learned", learned.Tables)
	require.Equal(t, 250, learned.Verified)
	require.Less(t, learned.Kbps, builtin.Kbps*1.02)
}

// TestScene: the scene moves, and is the same after it was written to a file and read again.
func TestScene(t *testing.T) {
	frames := scene(5, 60)
	require.NotEqual(t, frames[0], frames[59])
	require.Equal(t, frames, scene(5, 60))
	var b bytes.Buffer
	require.NoError(t, writeTrace(&b, frames))
	back, err := readTrace(&b)
	require.NoError(t, err)
	require.Equal(t, frames, back)
}

func TestBadInput(t *testing.T) {
	for _, in := range []string{"", "short", strings.Repeat("\xff", cubes*cubeWords*4)} {
		err := run(strings.NewReader(in), &bytes.Buffer{}, "-", "", Options{Lag: 6}, true)
		require.ErrorIs(t, err, errTrace)
	}
	require.Error(t, run(nil, &bytes.Buffer{}, "", "", Options{}, true))
	require.Error(t, run(nil, &bytes.Buffer{}, filepath.Join(t.TempDir(), "none"), "", Options{Lag: 6}, true))
}
