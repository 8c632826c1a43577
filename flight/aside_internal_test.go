package flight

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// hosted is the endpoint of a server whose caller outlives a panic.
type hosted struct {
	transport.Endpoint
	later []func()
}

func (h *hosted) Aside(wait func()) { h.later = append(h.later, wait) }

// On a host, a panic or the end of a match does not wait for a blocked disk, because other matches
// would wait, too. The tape is still written completely in the end.
func TestNobodyWaitsForTheDisk(t *testing.T) {
	costtest.Concurrent(t)
	stands := make(chan struct{})
	openFile = func(name string, flag int, perm os.FileMode) (*os.File, error) {
		<-stands
		return os.OpenFile(name, flag, perm)
	}
	defer func() { openFile = os.OpenFile }()
	panicked, kept := &hosted{}, &hosted{}
	var recorders []*Recorder
	for i, end := range []*hosted{panicked, kept} {
		r, err := New(Config{Dir: t.TempDir(), Keep: i == 1})
		require.NoError(t, err)
		recorders = append(recorders, r)
		s := tape.SinkOf(r)
		_, _, err = s.Begin(tape.Head{}, end, nil)
		require.NoError(t, err)
		s.Step(time.Unix(100, 0), nil)
		s.Stepped()
		if i == 0 {
			s.Panicked(1, "the field floods", nil)
		}
		s.Closed()
		require.Len(t, end.later, 1)
	}
	close(stands)
	for i, end := range []*hosted{panicked, kept} {
		end.later[0]()
		path, err := recorders[i].File()
		require.NoError(t, err)
		tp, err := Open(path)
		require.NoError(t, err)
		in := tp.Info()
		require.Equal(t, 1, in.Steps)
		require.Equal(t, i == 0, in.Panic != nil)
		require.NoError(t, tp.Close())
	}
}

// The match continues while a caller that asked for its tape waits for the disk, or reads it
// slowly. The caller gets the tape up to the moment of the call.
func TestMatchGoesOnWhileItsTapeIsRead(t *testing.T) {
	costtest.Concurrent(t)
	stands := make(chan struct{})
	openFile = func(name string, flag int, perm os.FileMode) (*os.File, error) {
		<-stands
		return os.OpenFile(name, flag, perm)
	}
	defer func() { openFile = os.OpenFile }()
	r, err := New(Config{Dir: t.TempDir()})
	require.NoError(t, err)
	s, end := tape.SinkOf(r), &hosted{}
	_, _, err = s.Begin(tape.Head{}, end, nil)
	require.NoError(t, err)
	now := time.Unix(100, 0)
	plays := func(what string) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 10 {
				now = now.Add(time.Second / 30)
				s.Step(now, nil)
				s.Stepped()
			}
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			require.Fail(t, "the match waits", what)
		}
	}
	steps := func(path string) int {
		t.Helper()
		tp, err := Open(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, tp.Close()) }()
		return tp.Info().Steps
	}
	plays("at first")

	// Save writes into a file.
	saved := make(chan string)
	go func() {
		path, err := r.Save("asked for")
		if err != nil {
			path = err.Error()
		}
		saved <- path
	}()
	require.Eventually(t, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.file != nil }, 20*time.Second, time.Millisecond)
	plays("for Save")
	go func() { _, _ = r.File() }()
	plays("for File")
	close(stands)
	path := <-saved
	require.GreaterOrEqual(t, steps(path), 10)

	// WriteTo writes to a slow reader.
	in, out := io.Pipe()
	wrote := make(chan error)
	go func() {
		_, err := r.WriteTo(out)
		wrote <- errors.Join(err, out.Close())
	}()
	one := make([]byte, 1)
	_, err = io.ReadFull(in, one)
	require.NoError(t, err)
	plays("for WriteTo")
	rest, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	tp, err := Read(bytes.NewReader(append(one, rest...)), int64(1+len(rest)))
	require.NoError(t, err)
	require.Equal(t, 30, tp.Info().Steps, "those before it was asked")

	// The match ends meanwhile. The tape is longer than a single read.
	much := make([]byte, 2<<10)
	for range 80 {
		_, _ = rand.Read(much)
		tape.SinkOf(r).Report(hex.EncodeToString(much))
	}
	in, out = io.Pipe()
	go func() {
		_, err := r.WriteTo(out)
		wrote <- errors.Join(err, out.Close())
	}()
	_, err = io.ReadFull(in, one)
	require.NoError(t, err)
	s.Closed()
	end.later[0]()
	rest, err = io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	tp, err = Read(bytes.NewReader(append(one, rest...)), int64(1+len(rest)))
	require.NoError(t, err)
	require.Equal(t, 40, tp.Info().Steps)
	require.Greater(t, len(rest), 64<<10)

	require.Equal(t, 40, steps(path), "what was asked for once is kept to the end")
	var whole bytes.Buffer
	_, err = r.WriteTo(&whole)
	require.NoError(t, err)
	tp, err = Read(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	require.NoError(t, err)
	require.Equal(t, 40, tp.Info().Steps)
}

// The file of a match that ends well is removed, even if nobody waits for the end of the writing.
func TestUnwantedFileGoes(t *testing.T) {
	costtest.Concurrent(t)
	dir, end := t.TempDir(), &hosted{}
	r, err := New(Config{Dir: dir, Memory: 1})
	require.NoError(t, err)
	s := tape.SinkOf(r)
	random := io.LimitReader(zeros{}, 1<<20)
	_, dice, err := s.Begin(tape.Head{}, end, random)
	require.NoError(t, err)
	for range 100 {
		_, err := io.ReadFull(dice, make([]byte, 8<<10))
		require.NoError(t, err)
	}
	require.NotNil(t, r.file)
	s.Closed()
	end.later[0]()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, list)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// Stored blocks are valid DEFLATE, even if they are longer than one DEFLATE block.
func TestStoredBlocks(t *testing.T) {
	for _, size := range []int{1, 5000, mostStored, mostStored + 1, maxBlock} {
		raw := make([]byte, size)
		for i := range raw {
			raw[i] = byte(i * i)
		}
		var a appender
		a.store(raw)
		require.Equal(t, uint32(len(a.b)-blockHead), binary.LittleEndian.Uint32(a.b))
		require.Equal(t, uint32(size), binary.LittleEndian.Uint32(a.b[4:]))
		require.Equal(t, crc32.ChecksumIEEE(a.b[blockHead:]), binary.LittleEndian.Uint32(a.b[8:]))
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(a.b[blockHead:])))
		require.NoError(t, err)
		require.True(t, bytes.Equal(raw, got))
	}
}
