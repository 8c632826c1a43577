package flight

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// file is the file of a tape. A goroutine writes it while there is something to write, so
// that no tick waits for a disk.
type file struct {
	dir, name string
	most      int64 // largest size of the file: Config.MaxFile

	mu    sync.Mutex // guards the fields below
	idle  sync.Cond  // signals that bytes were written, or that busy is false again
	queue [][]byte   // bytes to write
	got   int64      // number of bytes ever put into the queue
	last  bool       // nothing is put into the queue any more
	drop  bool       // the file is removed once it is closed
	shut  bool       // the file is closed
	busy  bool       // a goroutine writes the queue
	f     *os.File   // the open file; nil: not created yet
	size  int64      // bytes in the file
	err   error      // the reason why nothing more is written
}

func newFile(dir, match string, start time.Time, most int64) *file {
	d := &file{dir: dir, name: fileName(match, start), most: most}
	d.idle.L = &d.mu
	return d
}

// fileName returns a name that is valid on every file system, without the ending.
func fileName(match string, start time.Time) string {
	safe := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, match)
	return safe[:min(len(safe), 80)] + "-" + start.UTC().Format("20060102T150405")
}

// pushBytes adds bytes to the queue, and makes a goroutine write them.
func (d *file) pushBytes(list [][]byte) {
	if d.queueUp(list) {
		go d.writeQueue()
	}
}

// finishFile closes the file when all is written, and removes it unless it is to be kept.
func (d *file) finishFile(keep bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last, d.drop = true, !keep
	d.beginWriting()
}

// queueUp adds bytes to the queue, and reports whether the caller must call writeQueue. Until it
// does, nobody writes these bytes.
func (d *file) queueUp(list [][]byte) (writes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, list...)
	for _, b := range list {
		d.got += int64(len(b))
	}
	writes = !d.busy && len(d.queue) > 0
	d.busy = d.busy || writes
	return writes
}

func (d *file) beginWriting() {
	if !d.busy {
		d.busy = true
		go d.writeQueue()
	}
}

func (d *file) writeQueue() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) > 0 {
		list := d.queue
		d.queue = nil
		if d.err != nil {
			continue // these bytes are dropped: the tape ends before them
		}
		d.mu.Unlock()
		n, err := d.writeAll(list)
		d.mu.Lock()
		d.size += n
		if d.err = err; err == nil && d.size >= d.most {
			d.err = fmt.Errorf("flight: %s has reached Config.MaxFile", d.f.Name())
		}
		d.idle.Broadcast()
	}
	if d.last && d.f != nil && !d.shut {
		d.shut = true
		if d.err = errors.Join(d.err, d.f.Close()); d.drop {
			d.err = errors.Join(d.err, os.Remove(d.f.Name()))
		}
	}
	d.busy = false
	d.idle.Broadcast()
}

func (d *file) writeAll(list [][]byte) (n int64, err error) {
	if d.f == nil {
		if err := d.create(); err != nil {
			return 0, err
		}
	}
	for _, b := range list {
		wrote, err := d.f.Write(b)
		n += int64(wrote)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// ending is the ending of the names of tapes' files.
const ending = ".tape"

var openFile = os.OpenFile // tests replace it by a slow one

// create makes the file, under a name that is free. Only its owner may read it, because it holds
// the players' tokens and chat.
func (d *file) create() (err error) {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	for i := 1; i < 1000; i++ {
		name := d.name + ending
		if i > 1 {
			name = fmt.Sprintf("%s-%d%s", d.name, i, ending)
		}
		d.f, err = openFile(filepath.Join(d.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err != nil {
		d.f = nil
	}
	return err
}

// waitWritten waits until all bytes put into the queue so far are written. It returns the file's
// path, and the error of writing.
func (d *file) waitWritten() (path string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waitFor(d.got)
	if d.f != nil {
		path = d.f.Name()
	}
	return path, d.err
}

// waitFor waits until the file has size bytes, while something is written. The caller holds mu.
// The match may add more bytes meanwhile.
func (d *file) waitFor(size int64) {
	for d.busy && (d.last || d.size < size) {
		d.idle.Wait()
	}
}

// broken reports whether nothing more can be written.
func (d *file) broken() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err != nil
}

// pushed returns how many bytes were ever put into the queue.
func (d *file) pushed() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.got
}

// copyTo waits for the file's first size bytes, and copies those that could be written. It opens
// the file once more to read it, because the match may end and close its own handle meanwhile.
func (d *file) copyTo(w io.Writer, size int64) (int64, error) {
	d.mu.Lock()
	d.waitFor(size)
	written, size, err := d.f, min(size, d.size), d.err
	d.mu.Unlock()
	if written == nil {
		return 0, err
	}
	f, err := os.Open(written.Name())
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	return io.Copy(w, io.NewSectionReader(f, 0, size))
}

// Open opens the tape at path. Call Tape.Close when it is no longer needed. Errors are those of
// Read, and of opening the file.
func Open(path string) (*Tape, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	t, err := Read(f, info.Size())
	if t == nil {
		_ = f.Close()
		return nil, err
	}
	t.file = f
	return t, err
}

// readFile reads a file that the command names.
func readFile(path string) ([]byte, error) { return os.ReadFile(path) }
