package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats/metrics"
)

// collectTime is how long the command that collects a tape may run.
const collectTime = time.Minute

// tapes keeps the tapes of running matches, and has the tapes of those that failed collected.
type tapes struct {
	o      options
	folder *flight.Folder
	found  chan string   // paths of tapes to collect
	quit   chan struct{} // closed when no more tapes come
	done   sync.WaitGroup

	collected, failed atomic.Uint64
}

// newTapes opens the directory. It has the tapes that an earlier process left collected at once.
func newTapes(o options) (*tapes, error) {
	folder, err := flight.NewFolder(flight.FolderConfig{Dir: o.tapes, Most: 1 << 30})
	if err != nil {
		return nil, fmt.Errorf("name another directory with -tapes, or none: %w", err)
	}
	left := folder.Left()
	t := &tapes{o: o, folder: folder, found: make(chan string, len(left)+1024), quit: make(chan struct{})}
	for _, path := range left {
		o.log.Warn("a match ended with its process", "tape", path)
		t.found <- path
	}
	t.done.Go(t.run)
	return t, nil
}

// add is called for each match that ended. Only a match that panicked left a tape.
func (t *tapes) add(end host.End) {
	if end.Tape == "" {
		return
	}
	t.o.log.Error("a match panicked", "match", end.Match, "tape", end.Tape)
	select {
	case t.found <- end.Tape:
	default: // the next process finds it
	}
}

// run collects tapes one after another. After quit is closed it collects those that were found, and
// returns.
func (t *tapes) run() {
	for {
		select {
		case path := <-t.found:
			t.collect(path)
			continue
		case <-t.quit:
		}
		select {
		case path := <-t.found:
			t.collect(path)
		default:
			return
		}
	}
}

func (t *tapes) collect(path string) {
	if t.o.collect == "" {
		return
	}
	if err := t.hand(path); err != nil {
		t.failed.Add(1)
		t.o.log.Error("a tape was not collected, and stays", "tape", path, "err", err)
		return
	}
	t.collected.Add(1)
	t.o.log.Info("a tape was collected", "tape", filepath.Base(path))
}

// hand runs the command with the tape's path. If it succeeds, hand removes the tape.
func (t *tapes) hand(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	words := append(strings.Fields(t.o.collect), path)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) // #nosec G204 -- the operator's own command
	cmd.WaitDelay = time.Second
	b := metrics.ReadBuild()
	cmd.Env = append(os.Environ(), "FORETICK_VERSION="+b.Version, "FORETICK_COMMIT="+b.Commit)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", words[0], err, out[:min(len(out), 500)])
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// replay plays a tape with this program's game. If the match was drained, -drain must be that of the
// host that recorded it.
func replay(o options, out io.Writer) error {
	again := flight.Game{New: func(cfg server.Config) (*server.Server, error) { return newMatch(cfg, o.drain) }}
	return flight.Show(out, o.replay, again, foretick.Tick(o.tick), uint32(o.entity))
}

// close collects the tapes that were found, and closes the folder.
func (t *tapes) close() {
	close(t.quit)
	t.done.Wait()
	_ = t.folder.Close()
}
