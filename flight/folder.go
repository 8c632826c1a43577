package flight

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foretick/foretick/internal/counts"
)

// FolderConfig configures a Folder. Dir is required.
type FolderConfig struct {
	// Dir is the directory for the tapes. It is made if it does not exist. Give each process its
	// own directory: a Folder assumes that the tapes that it finds belong to ended processes. So
	// it locks Dir, and NewFolder fails while another Folder has it locked. Required.
	Dir string
	// Most is how many bytes all tapes in Dir may take. Beyond it the oldest tapes are removed,
	// whichever process left them, but none of a running match. 0 means 10 GiB. Negative is an
	// error. At most 2⁵⁰.
	Most int64
	// Every is the time between two writes of a match. If the process is killed, at most so much
	// of the match is lost. 0 means 1 s. Negative is an error. 10 ms to an hour.
	Every time.Duration
}

// Folder writes the tapes of running matches into files: see [Config].Durable. A process that
// is killed, runs out of memory or ends with a fatal error leaves the tapes of its matches,
// without their last second. A match that ends well leaves no file, as without a Folder. One
// goroutine writes for all matches. Any goroutine may call its methods.
type Folder struct {
	cfg  FolderConfig
	lock *os.File
	left []string
	stop chan struct{}
	done chan struct{}
	once sync.Once

	mu      sync.Mutex
	running []*Recorder
	stats   FolderStats
}

// FolderStats counts what a Folder did.
type FolderStats struct {
	Running int    // running matches that are written
	Written uint64 // bytes written
	Failed  uint64 // matches whose tape could not be written further: the disk is full, or Config.MaxFile is reached
	Removed uint64 // tapes removed because FolderConfig.Most was reached
}

// String returns the counters that are not zero as one line for a log.
func (s FolderStats) String() string { return counts.Line(s) }

func (c *FolderConfig) checkConfig() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("flight: FolderConfig.Dir is empty: name a directory"))
	}
	if c.Most < 0 || c.Most > 1<<50 {
		errs = append(errs, fmt.Errorf("flight: FolderConfig.Most is %d: use up to 2⁵⁰ bytes, or 0 for 10 GiB", c.Most))
	}
	if c.Every < 0 || c.Every > time.Hour || c.Every > 0 && c.Every < 10*time.Millisecond {
		errs = append(errs, fmt.Errorf("flight: FolderConfig.Every is %v: use 10 ms to an hour, or 0 for 1 s", c.Every))
	}
	if c.Most == 0 {
		c.Most = 10 << 30
	}
	if c.Every == 0 {
		c.Every = time.Second
	}
	return errors.Join(errs...)
}

var errTaken = errors.New("another process keeps its tapes there, and runs: name a directory for each process")

// NewFolder makes a folder, and removes the oldest tapes in it if they take more than
// FolderConfig.Most. Call Close when it is no longer needed. The error lists every fault of the
// configuration, or says why the directory cannot be used.
func NewFolder(cfg FolderConfig) (*Folder, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(cfg.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("flight: FolderConfig.Dir %s: %w", cfg.Dir, err)
	}
	f := &Folder{cfg: cfg, lock: lock, stop: make(chan struct{}), done: make(chan struct{})}
	if err := f.trimTapes(); err != nil {
		_ = lock.Close()
		return nil, err
	}
	go f.runWriter()
	return f, nil
}

// trimTapes removes tapes beyond FolderConfig.Most, and stores the paths of the others in left.
func (f *Folder) trimTapes() error {
	all, err := f.tapes()
	if err != nil {
		return err
	}
	f.trim(all)
	if all, err = f.tapes(); err != nil {
		return err
	}
	for _, t := range all {
		f.left = append(f.left, t.path)
	}
	return nil
}

// Left returns the paths of the tapes that earlier processes left in the directory, oldest first.
// It lists those that were there when the Folder was made. A program that collects tapes should
// remove them or move them away.
func (f *Folder) Left() []string { return slices.Clone(f.left) }

// Stats returns the counters so far.
func (f *Folder) Stats() FolderStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.stats
	st.Running = len(f.running)
	return st
}

// Close stops the writing. Running matches continue, and their files end here.
func (f *Folder) Close() error {
	f.once.Do(func() {
		close(f.stop)
		<-f.done
		_ = f.lock.Close()
	})
	<-f.done
	return nil
}

func (f *Folder) addRunning(r *Recorder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = append(f.running, r)
}

// written counts the bytes that a match's file got. Without more, the match is no longer written.
func (f *Folder) written(r *Recorder, bytes int64, more bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Written += uint64(max(bytes, 0))
	if err != nil {
		f.stats.Failed++
	}
	if !more {
		f.running = slices.DeleteFunc(f.running, func(x *Recorder) bool { return x == r })
	}
}

// runWriter writes the new records of each match, one match after another. It trims the
// directory whenever a 64th of FolderConfig.Most has been written.
func (f *Folder) runWriter() {
	defer close(f.done)
	ticker := time.NewTicker(f.cfg.Every)
	defer ticker.Stop()
	since := int64(0) // bytes written since the directory was trimmed
	for {
		select {
		case <-ticker.C:
		case <-f.stop:
			return
		}
		f.mu.Lock()
		running := slices.Clone(f.running)
		f.mu.Unlock()
		for _, r := range running {
			n, more, err := r.flushNew()
			since += n
			f.written(r, n, more, err)
		}
		if since > f.cfg.Most/64 {
			since = 0
			if all, err := f.tapes(); err == nil {
				f.trim(all)
			}
		}
	}
}

// flushNew writes what was recorded since the last call, and waits for it. n is the number of
// bytes, and more reports whether the match is to be written further.
func (r *Recorder) flushNew() (n int64, more bool, err error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return 0, false, nil
	}
	if !r.inStep && len(r.raw) > 0 {
		r.scratch = r.scratch[:0]
		r.putRecord(recPause)
	}
	r.storeBlock()
	if len(r.raw) > 0 {
		r.stored.b = r.stored.b[:0]
		r.stored.store(r.raw)
		r.memory.addBytes(r.stored.b)
		r.raw = r.raw[:0]
	}
	r.toFile()
	list, f := r.memory.takeCopy(), r.file
	for _, b := range list {
		n += int64(len(b))
	}
	writes := f.queueUp(list)
	r.mu.Unlock()
	if writes {
		f.writeQueue() // without mu, so that the match can continue meanwhile
	}
	_, err = f.waitWritten()
	return n, err == nil, err
}

// kept is a tape in the directory.
type kept struct {
	path string
	size int64
	at   time.Time
}

// tapes lists the tapes in the directory, oldest first.
func (f *Folder) tapes() (all []kept, err error) {
	list, err := os.ReadDir(f.cfg.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), ending) {
			all = append(all, kept{filepath.Join(f.cfg.Dir, e.Name()), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return a.at.Compare(b.at) })
	return all, nil
}

// trim removes the oldest tapes until all together take at most FolderConfig.Most.
func (f *Folder) trim(all []kept) {
	f.mu.Lock()
	running := slices.Clone(f.running)
	f.mu.Unlock()
	runs := map[string]bool{}
	for _, r := range running { // without mu: a match calls addRunning with its own lock held, which path needs
		runs[r.path()] = true
	}
	size, removed := int64(0), uint64(0)
	for _, t := range all {
		size += t.size
	}
	for _, t := range all {
		if size <= f.cfg.Most {
			break
		}
		if !runs[t.path] && os.Remove(t.path) == nil {
			size -= t.size
			removed++
		}
	}
	f.mu.Lock()
	f.stats.Removed += removed
	f.mu.Unlock()
}

// path returns the path of the tape's file, or "" if there is none yet.
func (r *Recorder) path() string {
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f == nil {
		return ""
	}
	return f.f.Name()
}
