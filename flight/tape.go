package flight

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretick/foretick"
)

// Tape is a recorded match. Its methods may be called by any goroutine. A Replay reads it.
type Tape struct {
	r    io.ReaderAt
	size int64
	file io.Closer // closes the tape's file; nil: the caller of Read closes it
	info Info
}

// Info says what a tape holds.
type Info struct {
	Name     string            // name of the match: Config.Name of the recorder
	Game     string            // Config.Game of the recorder
	Protocol uint64            // hash of the protocol
	Describe string            // the protocol in words, as Protocol.Describe returns it
	Build    string            // the program, its version and revision
	Go       string            // the Go version that built it
	OS, Arch string            // operating system and architecture of the machine that recorded
	Debug    bool              // the program was built with the tag foretick_debug
	Settings map[string]string // fields of server.Config by name

	Start     time.Time     // time of the first Step
	Length    time.Duration // time from the first Step to the last one
	Steps     int           // number of calls of Server.Step
	Ticks     int           // number of ticks
	Last      foretick.Tick // the newest tick
	Panic     *Panic        // the panic that ended the match; nil: none did
	Reports   []Note        // faults that did not end the match, and the reasons of Save; 1000 at most
	Opaque    []Note        // events that the tape does not hold; 1000 at most
	Closed    bool          // the server was closed
	Truncated bool          // the recorder ran out of room, and the match continued
	Bytes     int64         // bytes of all records, before compression
}

// Note is something that happened at a tick.
type Note struct {
	Tick foretick.Tick // the newest tick at that time
	Text string
}

// Panic is a panic in a system.
type Panic struct {
	Tick  foretick.Tick // the tick in which the system panicked
	Text  string        // the value of the panic, printed
	Stack string
}

// DamagedError says from where a tape cannot be read. The part before that is readable.
type DamagedError struct {
	At  int64 // position of the damage, in bytes from the beginning of the tape
	Why string
}

// Error names the place.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("flight: the tape is damaged at byte %d: %s", e.At, e.Why)
}

// ErrNoTape is the error of Read for something that is no tape.
var ErrNoTape = errors.New("flight: this is no tape: it does not begin with " + magic)

const mostNotes = 1000

// Read reads a tape of size bytes from r, and checks all of it. The tape continues to use r. A
// tape that is damaged, or cut off because a machine failed, is returned with a [DamagedError].
// A replay of it ends there. If the beginning is not readable, the tape is nil.
func Read(r io.ReaderAt, size int64) (*Tape, error) {
	t := &Tape{r: r, size: size}
	head := make([]byte, headSize)
	if _, err := r.ReadAt(head, 0); err != nil || string(head[:len(magic)]) != magic {
		return nil, ErrNoTape
	}
	if head[len(magic)] != version {
		return nil, fmt.Errorf("flight: the tape has version %d of the format, and this build reads version %d: replay it with the build that recorded it", head[len(magic)], version)
	}
	c := t.cursor()
	kind, content, err := c.nextRecord()
	if err == nil && kind != recHead {
		err = c.damaged("the first record is not the head")
	}
	if err == nil {
		err = t.readHead(content)
	}
	if err == io.EOF {
		err = c.damaged("it ends before its head")
	}
	if err != nil {
		return nil, err
	}
	for err == nil {
		if kind, content, err = c.nextRecord(); err == nil && t.survey(kind, content) != nil {
			err = c.damaged("%v", errRecord)
		}
	}
	if err == io.EOF {
		err = nil
	}
	t.info.Bytes = c.bytes
	return t, err
}

// Close closes the file of a tape that Open opened.
func (t *Tape) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// Info returns what the tape holds. Do not change its maps, slices and pointers' targets.
func (t *Tape) Info() Info { return t.info }

// String describes the tape in a few readable lines.
func (i Info) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "match %q from %s, %v, %d ticks in %d Steps, protocol %016x\n", i.Name, i.Start.UTC().Format(time.RFC3339), i.Length.Round(time.Millisecond), i.Ticks, i.Steps, i.Protocol)
	fmt.Fprintf(&b, "recorded by %s, %s, %s/%s\n", i.Build, i.Go, i.OS, i.Arch)
	for _, n := range i.Reports {
		fmt.Fprintf(&b, "after tick %d: %s\n", n.Tick, n.Text)
	}
	for _, n := range i.Opaque {
		fmt.Fprintf(&b, "after tick %d, not on the tape: %s\n", n.Tick, n.Text)
	}
	switch {
	case i.Panic != nil:
		fmt.Fprintf(&b, "panic in tick %d: %s\n", i.Panic.Tick, i.Panic.Text)
	case i.Truncated:
		fmt.Fprintf(&b, "truncated after tick %d: the recorder had no more room\n", i.Last)
	case i.Closed:
		b.WriteString("the server was closed\n")
	}
	return b.String()
}

func (t *Tape) readHead(b []byte) error {
	s := scan{b: b}
	in := &t.info
	in.Settings = map[string]string{}
	for len(s.b) > 0 {
		name, value := s.readText(), s.readText()
		switch name {
		case "name":
			in.Name = value
		case "game":
			in.Game = value
		case "protocol":
			in.Protocol, _ = strconv.ParseUint(value, 16, 64)
		case "describe":
			in.Describe = value
		case "build":
			in.Build = value
		case "go":
			in.Go = value
		case "os":
			in.OS = value
		case "arch":
			in.Arch = value
		case "debug":
			in.Debug = value == "true"
		default:
			if field, ok := strings.CutPrefix(name, settingPrefix); ok {
				in.Settings[field] = value
			}
		}
	}
	return s.err()
}

// survey adds a record to the Info of the tape, and checks the record's form.
func (t *Tape) survey(kind byte, b []byte) error {
	in, s := &t.info, scan{b: b}
	switch kind {
	case recStart:
		in.Start = s.time()
	case recStep:
		in.Length += time.Duration(s.varint())
		in.Steps++
	case recTick:
		in.Last += foretick.Tick(s.uvarint())
		s.uint64()
		s.uint32()
		in.Ticks++
	case recConnected, recData:
		s.peer()
	case recDisconnected:
		s.peer()
		s.uvarint()
	case recSendError:
		s.uvarint()
		s.byte()
	case recValue, recRandom:
		s.byte()
	case recInfo:
		_, err := readInfo(b)
		return err
	case recCall:
		_, err := readCall(b)
		return err
	case recEdit:
		_, _, err := readEdit(b)
		return err
	case recGrant:
		_, err := readGrant(b)
		return err
	case recLook:
		_, err := readLook(b)
		return err
	case recPanic:
		p, err := readPanic(b)
		in.Panic = p
		return err
	case recReport:
		in.Reports = t.appendNote(in.Reports, string(b))
	case recDo:
		in.Opaque = t.appendNote(in.Opaque, "the function "+strconv.Quote(string(b))+" of Server.Do")
	case recOpaque:
		in.Opaque = t.appendNote(in.Opaque, string(b))
	case recClosed:
		in.Closed = true
	case recTruncated:
		in.Truncated = true
	}
	return s.err()
}

func (t *Tape) appendNote(list []Note, text string) []Note {
	if len(list) == mostNotes {
		return list
	}
	return append(list, Note{t.info.Last, text})
}

func readPanic(b []byte) (*Panic, error) {
	s := scan{b: b}
	p := &Panic{Tick: foretick.Tick(s.uvarint()), Text: s.readText(), Stack: string(s.b)}
	return p, s.err()
}

// cursor reads the records of a tape one after another.
type cursor struct {
	t      *Tape
	at     int64  // position of the next block
	block  int64  // position of the current block
	rest   []byte // records of the current block that are not read yet
	raw    []byte // the current block, unpacked
	packed []byte
	zip    io.ReadCloser
	bytes  int64 // bytes of all blocks so far, unpacked
}

func (t *Tape) cursor() *cursor { return &cursor{t: t, at: int64(headSize), block: int64(headSize)} }

func (c *cursor) damaged(format string, args ...any) error {
	return &DamagedError{c.block, fmt.Sprintf(format, args...)}
}

// nextRecord returns the next record. Its content is valid until the next call. The error is
// io.EOF at the end, or a DamagedError.
func (c *cursor) nextRecord() (kind byte, content []byte, err error) {
	for len(c.rest) == 0 {
		if err := c.unpack(); err != nil {
			return 0, nil, err
		}
	}
	kind = c.rest[0]
	n, k := binary.Uvarint(c.rest[1:])
	if k <= 0 || n > maxRecord || n > uint64(len(c.rest)-1-k) {
		return 0, nil, c.damaged("a record is longer than its block")
	}
	content = c.rest[1+k:][:n:n]
	c.rest = c.rest[1+k+int(n):]
	return kind, content, nil
}

// unpack reads the next block.
func (c *cursor) unpack() error {
	c.block = c.at
	left := c.t.size - c.at
	if left <= 0 {
		return io.EOF
	}
	var h [blockHead]byte
	if left < blockHead {
		return c.damaged("it is cut off")
	}
	if _, err := c.t.r.ReadAt(h[:], c.at); err != nil {
		return c.damaged("%v", err)
	}
	packed, raw, sum := binary.LittleEndian.Uint32(h[:]), binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint32(h[8:])
	switch {
	case packed == 0 || packed > maxPacked || raw == 0 || raw > maxBlock:
		return c.damaged("a block has %d bytes, and %d unpacked: the most is %d and %d", packed, raw, maxPacked, maxBlock)
	case int64(packed) > left-blockHead:
		return c.damaged("it is cut off")
	}
	c.packed = slices.Grow(c.packed[:0], int(packed))[:packed]
	if _, err := c.t.r.ReadAt(c.packed, c.at+blockHead); err != nil {
		return c.damaged("%v", err)
	}
	if crc32.ChecksumIEEE(c.packed) != sum {
		return c.damaged("the checksum of a block is wrong")
	}
	c.raw = slices.Grow(c.raw[:0], int(raw))[:raw]
	if c.zip == nil {
		c.zip = flate.NewReader(bytes.NewReader(c.packed))
	} else if err := c.zip.(flate.Resetter).Reset(bytes.NewReader(c.packed), nil); err != nil {
		return c.damaged("%v", err)
	}
	if _, err := io.ReadFull(c.zip, c.raw); err != nil {
		return c.damaged("a block does not unpack: %v", err)
	}
	var more [1]byte
	if n, err := c.zip.Read(more[:]); n != 0 || err != io.EOF {
		return c.damaged("a block unpacks to more than it says")
	}
	c.rest, c.at, c.bytes = c.raw, c.at+blockHead+int64(packed), c.bytes+int64(raw)
	return nil
}
