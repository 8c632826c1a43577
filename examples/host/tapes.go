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
	"github.com/foretick/foretick/figures/metrics"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/server"
)

// collectTime is the most time of one run of the command that collects a tape.
const collectTime = time.Minute

// tapes keeps the tapes of running matches, and hands on those that say why a match ended.
type tapes struct {
	o      options
	folder *flight.Folder
	found  chan string
	quit   chan struct{}
	done   sync.WaitGroup

	collected, failed atomic.Uint64
}

// newTapes opens the directory. What an earlier process left is collected at once.
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

// add is called for each match that ended. Only one that panicked left a tape.
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

// run hands on one tape after another, to the last one that was found.
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

// hand runs the command with the tape's path. If it succeeds, the tape goes.
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

// replay plays a tape through the game of this program. A tape of a match that was drained needs the
// -drain that recorded it.
func replay(o options, out io.Writer) error {
	again := flight.Game{New: func(cfg server.Config) (*server.Server, error) { return newMatch(cfg, o.drain) }}
	return flight.Show(out, o.replay, again, foretick.Tick(o.tick), uint32(o.entity))
}

// close collects what was found, and ends the writing.
func (t *tapes) close() {
	close(t.quit)
	t.done.Wait()
	_ = t.folder.Close()
}
