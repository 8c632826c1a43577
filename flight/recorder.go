package flight

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/foretick/foretick/internal/tape"
)

// Recorder records one match: set [server.Config].Recorder to it. Any goroutine
// may call its methods, also while the match runs.
type Recorder struct {
	mu      sync.Mutex
	started bool // the first Step has begun
	inStep  bool
	touched bool   // the program took the world or the frame since the last Step
	hashed  bool   // hash is that of the world now, unless the program changed the world
	ended   bool   // nothing more is recorded
	closing bool   // the server was closed
	tick    uint32 // newest tick that was recorded
	hash    uint64
	last    time.Duration // time of the newest Step, from start
	raw     []byte        // records of the block that is being filled
	scratch []byte        // content of the next record
	sends   sends         // used only by the server's goroutine, without mu
	start   time.Time     // time of the first Step

	cfg     Config
	begun   bool // a server uses this recorder
	keep    bool // the file is kept at the end of the match
	closed  bool // the tape is complete
	dropped bool // the match has ended, and its file is removed
	reports int
	full    fullBlock
	stored  appender          // memory for the blocks that a Folder writes
	memory  slabs             // packed blocks that are not in the file yet
	file    *file             // the tape's file; nil: no file yet
	aside   func(wait func()) // runs a wait for the disk elsewhere; nil: the server's caller waits
}

var (
	_ tape.Sink   = (*sink)(nil)
	_ io.WriterTo = (*Recorder)(nil)
)

// mostReports is how many reports of a match write its file. Later reports are recorded, but do
// not cause the file to be written.
const mostReports = 16

// New makes a recorder for one match. The error lists every fault of the configuration.
func New(cfg Config) (*Recorder, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	r := &Recorder{cfg: cfg, keep: cfg.Keep}
	r.memory.addBytes(append([]byte(magic), version))
	return r, nil
}

// putRecord appends a record of a kind, whose content is in scratch.
func (r *Recorder) putRecord(kind byte) {
	if r.ended || len(r.scratch) > maxRecord {
		return
	}
	r.raw = append(r.raw, kind)
	r.raw = binary.AppendUvarint(r.raw, uint64(len(r.scratch)))
	r.raw = append(r.raw, r.scratch...)
	r.wrote()
}

// putData appends a record of a kind, whose content is scratch followed by b.
func (r *Recorder) putData(kind byte, b []byte) {
	n := len(r.scratch) + len(b)
	if r.ended || n > maxRecord {
		return
	}
	r.raw = append(r.raw, kind)
	r.raw = binary.AppendUvarint(r.raw, uint64(n))
	r.raw = append(append(r.raw, r.scratch...), b...)
	r.wrote()
}

// wrote starts to pack the block if it is full. A goroutine packs it, so that no tick waits.
func (r *Recorder) wrote() {
	if len(r.raw) < blockSize {
		return
	}
	r.storeBlock()
	r.spill()
	if r.ended {
		return
	}
	r.raw = r.full.startPacking(r.raw)
}

// storeBlock adds the block that was being packed to memory.
func (r *Recorder) storeBlock() { r.memory.addBytes(r.full.takeBlock()) }

func (r *Recorder) putText(kind byte, text string) {
	r.scratch = append(r.scratch[:0], text[:min(len(text), maxRecord/2)]...)
	r.putRecord(kind)
}

// pause marks a point between Steps if no Step runs, and packs all records so far.
func (r *Recorder) pause() {
	if !r.inStep && len(r.raw) > 0 {
		r.scratch = r.scratch[:0]
		r.putRecord(recPause)
	}
	r.seal()
}

// seal packs the records since the last block, and waits until that is done.
func (r *Recorder) seal() {
	r.storeBlock()
	if len(r.raw) > 0 {
		r.raw = r.full.startPacking(r.raw)
		r.storeBlock()
	}
}

// spill moves full pieces of memory to the file. It ends the tape if memory is full and there is
// no directory, or if the file takes no more.
func (r *Recorder) spill() {
	switch {
	case r.file != nil && r.file.broken():
		r.endTape()
	case r.file != nil:
		r.file.pushBytes(r.memory.takePieces(false))
	case r.memory.size < r.cfg.Memory:
	case r.cfg.Dir == "":
		r.endTape()
	default:
		r.toFile()
		r.file.pushBytes(r.memory.takePieces(false))
	}
}

func (r *Recorder) toFile() {
	if r.file == nil {
		r.file = newFile(r.cfg.Dir, r.cfg.Name, r.start, r.cfg.MaxFile)
	}
}

// endTape ends the tape. The match continues.
func (r *Recorder) endTape() {
	r.raw = append(r.raw, recTruncated, 0)
	r.ended = true
	r.seal()
	if r.file != nil {
		r.file.pushBytes(r.memory.takePieces(true))
	}
}

var errNoDir = errors.New("flight: the recorder has no Config.Dir to write to: set it, or call WriteTo")

// errDropped is the error for a tape whose file was removed at the end of the match.
var errDropped = errors.New("flight: the match ended without a report, and its file is removed: call Save before the server closes, or set Config.Keep")

// Save writes the tape so far into its file in Config.Dir, and returns the file's path. The
// file grows as the match goes on. reason is noted on the tape; empty notes nothing.
func (r *Recorder) Save(reason string) (path string, err error) {
	r.mu.Lock()
	if reason != "" {
		r.putText(recReport, reason)
	}
	err = r.saveTape()
	f := r.file
	r.mu.Unlock()
	if err != nil {
		return "", err
	}
	return f.waitWritten() // without mu, so that the match can continue meanwhile
}

// saveTape passes the tape so far to its file, without waiting for the disk.
func (r *Recorder) saveTape() error {
	switch {
	case r.cfg.Dir == "":
		return errNoDir
	case r.dropped:
		return errDropped
	}
	r.keep = true
	r.pause()
	r.toFile()
	r.file.pushBytes(r.memory.takePieces(true))
	return nil
}

// File returns the path of the tape's file if the file will be kept: after a panic, a report or
// Save, or with Config.Keep. Otherwise it returns "". It waits for the disk. The error is that of
// writing.
func (r *Recorder) File() (path string, err error) {
	r.mu.Lock()
	f := r.file
	if !r.keep || r.dropped {
		f = nil
	}
	r.mu.Unlock()
	if f == nil {
		return "", nil
	}
	return f.waitWritten()
}

// WriteTo writes the tape so far to w, and returns the number of bytes. The match goes on
// while w takes them.
func (r *Recorder) WriteTo(w io.Writer) (n int64, err error) {
	r.mu.Lock()
	if r.dropped {
		r.mu.Unlock()
		return 0, errDropped
	}
	r.pause()
	f, size := r.file, int64(0)
	if f != nil {
		size = f.pushed()
	}
	rest := slices.Clone(r.memory.list) // the match appends to the last piece, after the bytes that it has now
	if n := len(rest); n > 0 && r.cfg.Durable != nil {
		rest[n-1] = slices.Clone(rest[n-1]) // a Folder reuses the memory of the last piece
	}
	r.mu.Unlock()
	if f != nil {
		if n, err = f.copyTo(w, size); err != nil {
			return n, err
		}
	}
	for _, b := range rest {
		k, err := w.Write(b)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
