package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Files is a lifecycle by files, for a process without a fleet manager. A file without a name is
// not used, so &Files{} does nothing. A supervisor or a probe looks at the files.
type Files struct {
	// ReadyFile exists while the process takes new matches. It is missing while the process drains, is
	// overloaded, or has a stuck match. Its content is the status.
	ReadyFile string
	// HealthFile is written with each sign of life. If it is older than some seconds, no tick advances.
	HealthFile string
	// DrainFile drains the host as soon as it exists, and at once if it exists already.
	DrainFile string
	// StatusFile holds the newest FileStatus as JSON.
	StatusFile string
	// Poll is the time between two looks at DrainFile. 0 or less means 1 s.
	Poll time.Duration
	// Mode is the permissions of the files. 0 means 0600, which lets no other user read them. A
	// supervisor of another user needs 0644.
	Mode fs.FileMode

	mu      sync.Mutex
	status  FileStatus
	open    bool // the process takes matches when the host is ready
	unready bool // the host is not ready
}

// FileStatus is the content of Files.StatusFile.
type FileStatus struct {
	Phase       string // ready, allocated, draining or shutdown; empty at the start
	Matches     int    // running matches
	Players     int    // players in all matches
	FreeMatches int    // how many more matches fit
	Ready       bool   // new matches should come
}

var _ Lifecycle = (*Files)(nil)

// Watch implements Lifecycle. It reports that the process is ending once DrainFile exists.
func (f *Files) Watch(ctx context.Context, change func(State)) error {
	every := f.Poll
	if every <= 0 {
		every = time.Second
	}
	was := false
	for first := true; ; first = false {
		_, err := os.Stat(f.DrainFile)
		if ending := f.DrainFile != "" && err == nil; first || ending != was {
			was = ending
			change(State{Phase: "files", Ending: ending})
		}
		if !pause(ctx, every) {
			return ctx.Err()
		}
	}
}

// Ready implements Lifecycle.
func (f *Files) Ready(context.Context) error { return f.enterPhase("ready", true) }

// Allocated implements Lifecycle. A host with matches still takes more, so ReadyFile stays.
func (f *Files) Allocated(context.Context) error { return f.enterPhase("allocated", true) }

// Draining implements Lifecycle.
func (f *Files) Draining(context.Context) error { return f.enterPhase("draining", false) }

// Shutdown implements Lifecycle. It removes HealthFile, because the process no longer lives. StatusFile
// stays, with the phase shutdown and all counts zero.
func (f *Files) Shutdown(context.Context) error {
	f.mu.Lock()
	f.status = FileStatus{Phase: f.status.Phase, Ready: f.status.Ready}
	f.mu.Unlock()
	return errors.Join(f.enterPhase("shutdown", false), remove(f.HealthFile))
}

// Health implements Lifecycle.
func (f *Files) Health(context.Context) error {
	return f.replaceFile(f.HealthFile, []byte(time.Now().UTC().Format(time.RFC3339)+"\n"))
}

// Counts implements Lifecycle.
func (f *Files) Counts(_ context.Context, c Counts) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unready = !c.Ready
	s := FileStatus{Phase: f.status.Phase, Matches: c.Matches, Players: c.Players, FreeMatches: c.FreeMatches, Ready: f.open && c.Ready}
	if s == f.status {
		return nil
	}
	return f.writeStatus(s)
}

// writeStatus writes a status to StatusFile. It creates or removes ReadyFile as the status says.
func (f *Files) writeStatus(s FileStatus) error {
	errs := []error{f.replaceFile(f.StatusFile, s.marshal())}
	if !s.Ready {
		errs = append(errs, remove(f.ReadyFile))
	} else if !f.status.Ready || s.Phase != f.status.Phase {
		errs = append(errs, f.replaceFile(f.ReadyFile, s.marshal()))
	}
	err := errors.Join(errs...)
	if err == nil {
		f.status = s
	}
	return err
}

// enterPhase changes the phase and writes the status. open says whether the process takes matches in
// the phase.
func (f *Files) enterPhase(phase string, open bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = open
	s := f.status
	s.Phase, s.Ready = phase, open && !f.unready
	return f.writeStatus(s)
}

func (s FileStatus) marshal() []byte {
	b, _ := json.Marshal(s) // it cannot fail: the fields are numbers, booleans and a word
	return append(b, '\n')
}

// remove removes a file, if it has a name and is there.
func remove(name string) error {
	if err := os.Remove(name); name != "" && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile writes a file as a whole: a reader sees either the old content or the new.
func (f *Files) replaceFile(name string, b []byte) error {
	if name == "" {
		return nil
	}
	t, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"*")
	if err != nil {
		return err
	}
	_, err = t.Write(b)
	if f.Mode != 0 {
		err = errors.Join(err, t.Chmod(f.Mode))
	}
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		_ = os.Remove(t.Name())
	}
	return err
}
