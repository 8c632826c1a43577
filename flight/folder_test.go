package flight_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/fieldtest"
)

const killedIn = "FORETICK_TEST_TAPES" // names the tapes' directory for the process that the test kills

// tapesIn lists the tapes in a directory.
func tapesIn(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.tape"))
	require.NoError(t, err)
	return all
}

func folder(t *testing.T, cfg flight.FolderConfig) *flight.Folder {
	t.Helper()
	f, err := flight.NewFolder(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// A killed process leaves the tape of its match, which replays up to its end.
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv(killedIn); dir != "" {
		f := folder(t, flight.FolderConfig{Dir: dir, Every: 20 * time.Millisecond})
		m := newMatch(t, 9, 3, flight.Config{Name: "killed", Durable: f}, &game{})
		for { // plays until the test kills this process
			m.run(100 * time.Millisecond)
			time.Sleep(5 * time.Millisecond)
		}
	}
	costtest.Concurrent(t)
	dir := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	child := exec.Command(program, "-test.run", "^TestKilledProcess$")
	child.Env = append(os.Environ(), killedIn+"="+dir)
	var said strings.Builder
	child.Stdout, child.Stderr = &said, &said
	require.NoError(t, child.Start())
	require.Eventually(t, func() bool {
		all := tapesIn(t, dir)
		if len(all) == 0 {
			return false
		}
		info, err := os.Stat(all[0])
		return err == nil && info.Size() > 30<<10
	}, time.Minute, 10*time.Millisecond, &said)
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()

	next := folder(t, flight.FolderConfig{Dir: dir})
	require.Equal(t, tapesIn(t, dir), next.Left(), "what the process before left")
	tape, err := flight.Open(next.Left()[0])
	if err != nil { // the process was killed while it wrote
		var damaged *flight.DamagedError
		require.ErrorAs(t, err, &damaged)
	}
	defer tape.Close()
	require.False(t, tape.Info().Closed)
	require.Greater(t, tape.Info().Ticks, 100)
	res, playErr := flight.Play(tape, replayed(nil))
	if err == nil {
		require.NoError(t, playErr)
		require.Equal(t, tape.Info().Last, res.Last)
	}
}

// While a match runs its file grows. When the match ends well the file is removed, and when it
// panics the file stays.
func TestDurable(t *testing.T) {
	costtest.Concurrent(t)
	dir := filepath.Join(t.TempDir(), "tapes")
	f := folder(t, flight.FolderConfig{Dir: dir, Every: 10 * time.Millisecond})
	require.Empty(t, f.Left())
	m := newMatch(t, 9, 3, flight.Config{Durable: f}, &game{})
	m.run(5 * time.Second)
	size := func() (n int64) {
		for _, path := range tapesIn(t, dir) {
			if info, err := os.Stat(path); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return size() > 1000 }, 20*time.Second, 5*time.Millisecond)
	before := size()
	m.run(5 * time.Second)
	require.Eventually(t, func() bool { return size() > before+1000 }, 20*time.Second, 5*time.Millisecond)
	require.Equal(t, 1, f.Stats().Running)
	path, err := m.rec.File()
	require.NoError(t, err)
	require.Empty(t, path, "nobody asked for it yet")

	// The records are the same as those of a match without a Folder.
	same := newMatch(t, 9, 3, flight.Config{}, &game{})
	same.run(5 * time.Second)
	same.run(5 * time.Second)
	require.True(t, maps.Equal(same.hashes, m.hashes))
	res, err := flight.Play(m.tape(), replayed(nil))
	require.NoError(t, err)
	require.Equal(t, m.srv.Tick(), res.Last)

	require.NoError(t, m.srv.Close("over"))
	require.Empty(t, tapesIn(t, dir))
	require.Eventually(t, func() bool { return f.Stats().Running == 0 }, 20*time.Second, 5*time.Millisecond)
	require.Zero(t, f.Stats().Failed)

	m = newMatch(t, 9, 3, flight.Config{Durable: f}, &game{})
	m.run(3 * time.Second)
	m.game.panicAt = m.srv.Tick() + 1
	m.run(time.Second)
	require.NotNil(t, m.died)
	_ = m.srv.Close("the match failed")
	require.Len(t, tapesIn(t, dir), 1)
}

// slowly is a writer that takes small pieces, slowly, and stores them.
type slowly struct{ b bytes.Buffer }

func (s *slowly) Write(p []byte) (n int, err error) {
	for n < len(p) {
		k := min(64, len(p)-n)
		s.b.Write(p[n : n+k])
		n += k
		runtime.Gosched()
	}
	return n, nil
}

// WriteTo writes the whole tape of a match that a Folder writes, however slow the writer is.
func TestCopyBesideFolder(t *testing.T) {
	costtest.Concurrent(t)
	f := folder(t, flight.FolderConfig{Dir: t.TempDir(), Every: time.Hour})
	m := newMatch(t, 9, 6, flight.Config{Durable: f}, &game{})
	m.run(3 * time.Second)
	stop, flushed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(flushed)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = flight.Flush(m.rec)
			}
		}
	}()
	for range 40 {
		copied := make(chan []byte)
		go func() {
			var s slowly
			_, err := m.rec.WriteTo(&s)
			assert.NoError(t, err)
			copied <- s.b.Bytes()
		}()
		m.run(200 * time.Millisecond)
		b := <-copied
		_, err := flight.Read(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
	}
	close(stop)
	<-flushed
	require.NoError(t, m.srv.Close("over"))
}

// A Folder removes the oldest tapes if all together are too large, but none of a running match.
func TestFolderIsTrimmed(t *testing.T) {
	costtest.Concurrent(t)
	dir := t.TempDir()
	for i, name := range []string{"oldest", "older", "old"} {
		path := filepath.Join(dir, name+".tape")
		require.NoError(t, os.WriteFile(path, make([]byte, 40<<10), 0o600))
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), make([]byte, 1<<20), 0o600))
	f := folder(t, flight.FolderConfig{Dir: dir, Most: 100 << 10, Every: 10 * time.Millisecond})
	require.Equal(t, []string{filepath.Join(dir, "older.tape"), filepath.Join(dir, "old.tape")}, f.Left())
	require.EqualValues(t, 1, f.Stats().Removed)
	m := newMatch(t, 9, 6, flight.Config{Durable: f}, &game{})
	require.Eventually(t, func() bool {
		m.run(time.Second)
		return f.Stats().Removed == 3
	}, 50*time.Second, 5*time.Millisecond, "its tape grows")
	require.FileExists(t, filepath.Join(dir, "notes.txt"))
	require.Len(t, tapesIn(t, dir), 1)
	require.NoError(t, m.srv.Close("over"))
}

// A full disk, or a directory that is gone, is counted, and the match continues.
func TestFullDisk(t *testing.T) {
	costtest.Concurrent(t)
	dir := t.TempDir()
	f := folder(t, flight.FolderConfig{Dir: dir, Every: 10 * time.Millisecond})
	m := newMatch(t, 9, 3, flight.Config{Durable: f, MaxFile: 2000}, &game{})
	require.Eventually(t, func() bool {
		m.run(time.Second)
		return f.Stats().Failed == 1
	}, 50*time.Second, 5*time.Millisecond)
	require.Zero(t, f.Stats().Running)
	tick := m.srv.Tick()
	m.run(5 * time.Second)
	require.Greater(t, m.srv.Tick(), tick+100)
	require.NoError(t, m.srv.Close("over"))
}

func TestFolderConfig(t *testing.T) {
	_, err := flight.NewFolder(flight.FolderConfig{Most: -1, Every: time.Millisecond})
	for _, want := range []string{"Dir is empty", "Most is -1", "Every is 1ms"} {
		require.ErrorContains(t, err, want)
	}
	dir := t.TempDir()
	fieldtest.Config[flight.FolderConfig](t, fieldtest.Rules{}, func(c flight.FolderConfig) error {
		c.Dir = dir
		f, err := flight.NewFolder(c)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

// TestFolderIsOneProcess: NewFolder fails while another Folder uses the directory.
func TestFolderIsOneProcess(t *testing.T) {
	cfg := flight.FolderConfig{Dir: t.TempDir()}
	first, err := flight.NewFolder(cfg)
	require.NoError(t, err)
	_, err = flight.NewFolder(cfg)
	require.ErrorContains(t, err, "name a directory for each process")
	require.NoError(t, first.Close())
	next, err := flight.NewFolder(cfg)
	require.NoError(t, err)
	require.NoError(t, next.Close())
	require.NoError(t, next.Close())
}
