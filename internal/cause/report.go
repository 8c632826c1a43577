package cause

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/foretick/foretick/prediction"
)

// Kinds of messages about corrections. The kind is the first byte.
const (
	AskReports = iota // the server asks the client to report each correction of the next 30 seconds
	ReportSaid        // the client sends a [Report]
	CountsSaid        // the client sends its [Counts], without being asked
)

// Bounds of a report.
const (
	maxReported = 8  // differences
	maxWord     = 64 // bytes of a text
	// MaxReport is the most bytes of a report.
	MaxReport = 1000
)

// ErrReport is returned for a report that is malformed.
var ErrReport = errors.New("foretick: malformed report of a correction")

// Report tells a server of a correction of its client. Handles of entities are their names on
// the connection, and Input and Executed are packed commands. Names for people and units
// are not in it: the server has its own.
type Report struct {
	Number          uint32 // Number counts the client's reports, from 1.
	Wrong           prediction.Misprediction
	Input, Executed []byte
}

// Append appends the report as it travels to dst. It leaves out differences, and then commands,
// that would make it longer than [MaxReport].
func (r *Report) Append(dst []byte) []byte {
	m, start := &r.Wrong, len(dst)
	dst = binary.LittleEndian.AppendUint32(append(dst, ReportSaid), r.Number)
	dst = binary.LittleEndian.AppendUint32(dst, m.Tick)
	dst = binary.LittleEndian.AppendUint32(dst, m.CauseTick)
	dst = append(dst, byte(m.Cause), byte(m.StandIn), flag(m.OfOther)|flag(m.Rounded)<<1)
	dst = binary.AppendUvarint(dst, uint64(m.CauseTicks))
	dst = binary.AppendUvarint(dst, uint64(m.Player))
	for _, text := range [...]string{m.System, m.Read, m.Architecture, m.ServerArchitecture} {
		dst = appendWord(dst, text)
	}
	dst = appendDifference(dst, &prediction.Difference{Entity: m.Entity, Prefab: m.Prefab, Component: m.Component, Field: m.Field, Predicted: finite(m.Predicted), Actual: finite(m.Actual)})
	for _, command := range [...][]byte{r.Input, r.Executed} {
		if len(dst)-start+len(command) > MaxReport/2 {
			command = nil
		}
		dst = append(binary.AppendUvarint(dst, uint64(len(command))), command...)
	}
	at, n := len(dst), 0
	dst = append(dst, 0)
	for i := range m.Differences[:min(len(m.Differences), maxReported)] {
		before := len(dst)
		if dst = appendDifference(dst, &m.Differences[i]); len(dst)-start > MaxReport {
			dst = dst[:before]
			break
		}
		n++
	}
	dst[at] = byte(n)
	return dst
}

// finite returns v, or 0 if v is not a finite number, as Misprediction does.
func finite(v float64) float64 {
	if v-v != 0 {
		return 0
	}
	return v
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// appendWord appends a text, cut to what a report holds.
func appendWord(dst []byte, text string) []byte {
	text = text[:min(len(text), maxWord)]
	return append(append(dst, byte(len(text))), text...)
}

func appendDifference(dst []byte, d *prediction.Difference) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(d.Entity))
	for _, text := range [...]string{d.Prefab, d.Component, d.Field} {
		dst = appendWord(dst, text)
	}
	return appendValue(appendValue(dst, d.Predicted), d.Actual)
}

// Kinds of values.
const (
	valueNone = iota
	valueBool
	valueInt
	valueUint
	valueFloat
	valueText
	valueRotation
)

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return append(dst, valueBool, flag(v))
	case int64:
		return binary.AppendVarint(append(dst, valueInt), v)
	case uint64:
		return binary.AppendUvarint(append(dst, valueUint), v)
	case float64:
		if text := notFinite(v); text != "" {
			return appendWord(append(dst, valueText), text)
		}
		return binary.LittleEndian.AppendUint64(append(dst, valueFloat), math.Float64bits(v))
	case string:
		return appendWord(append(dst, valueText), v)
	case [4]float64:
		dst = append(dst, valueRotation)
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
		return dst
	}
	return append(dst, valueNone)
}

// notFinite returns the name of a number that JSON does not have, or "" for one that it has.
func notFinite(v float64) string {
	switch {
	case v-v == 0:
		return ""
	case v > 0:
		return "+Inf"
	case v < 0:
		return "-Inf"
	}
	return "NaN"
}

// ParseReport reads a report. Its commands are parts of b. The error is [ErrReport].
func ParseReport(b []byte) (r Report, err error) {
	s := reader{b: b}
	if len(b) > MaxReport || s.byte() != ReportSaid {
		return r, ErrReport
	}
	m := &r.Wrong
	r.Number, m.Tick, m.CauseTick = s.u32(), s.u32(), s.u32()
	m.Cause, m.StandIn = prediction.Cause(s.byte()), prediction.StandIn(s.byte())
	flags := s.byte()
	m.OfOther, m.Rounded, s.bad = flags&1 != 0, flags>>1 == 1, s.bad || flags > 3
	m.CauseTicks, m.Player = uint32(s.uvarint(math.MaxUint32)), uint16(s.uvarint(math.MaxUint16))
	m.System, m.Read, m.Architecture, m.ServerArchitecture = s.word(), s.word(), s.word(), s.word()
	first := s.difference()
	m.Entity, m.Prefab, m.Component, m.Field = first.Entity, first.Prefab, first.Component, first.Field
	var numbers [2]bool
	m.Predicted, numbers[0] = first.Predicted.(float64)
	m.Actual, numbers[1] = first.Actual.(float64)
	r.Input, r.Executed = s.bytes(), s.bytes()
	n := int(s.byte())
	if s.bad || n > maxReported || m.Cause >= prediction.Causes || m.StandIn > prediction.Replaced || !numbers[0] || !numbers[1] || r.Number == 0 {
		return Report{}, ErrReport
	}
	for range n {
		m.Differences = append(m.Differences, s.difference())
	}
	if s.bad || len(s.b) > 0 {
		return Report{}, ErrReport
	}
	return r, nil
}

// reader reads bytes that may be malformed.
type reader struct {
	b   []byte
	bad bool
}

func (s *reader) takeBytes(n int) []byte {
	if n > len(s.b) {
		s.b, s.bad = nil, true
		return nil
	}
	b := s.b[:n]
	s.b = s.b[n:]
	return b
}

func (s *reader) byte() byte {
	if b := s.takeBytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (s *reader) flag() bool {
	b := s.byte()
	s.bad = s.bad || b > 1
	return b == 1
}

func (s *reader) u32() uint32 {
	if b := s.takeBytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (s *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(s.b)
	if n <= 0 || v > most {
		s.b, s.bad = nil, true
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *reader) varint() int64 {
	v, n := binary.Varint(s.b)
	if n <= 0 {
		s.b, s.bad = nil, true
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *reader) bytes() []byte { return s.takeBytes(int(s.uvarint(MaxReport))) }

func (s *reader) word() string {
	n := int(s.byte())
	s.bad = s.bad || n > maxWord
	return string(s.takeBytes(n))
}

// float reads a number. It must be finite, because JSON has no other.
func (s *reader) float() float64 {
	b := s.takeBytes(8)
	if b == nil {
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(b))
	s.bad = s.bad || v-v != 0
	return v
}

func (s *reader) difference() (d prediction.Difference) {
	d.Entity = uint64(s.u32())
	d.Prefab, d.Component, d.Field = s.word(), s.word(), s.word()
	d.Predicted, d.Actual = s.value(), s.value()
	return d
}

func (s *reader) value() any {
	switch s.byte() {
	case valueNone:
		return nil
	case valueBool:
		return s.flag()
	case valueInt:
		return s.varint()
	case valueUint:
		return s.uvarint(math.MaxUint64)
	case valueFloat:
		return s.float()
	case valueText:
		return s.word()
	case valueRotation:
		var v [4]float64
		for i := range v {
			v[i] = s.float()
		}
		return v
	}
	s.bad = true
	return nil
}

// Outgoing holds reports until they were sent. Each is sent twice, because packets get lost.
type Outgoing struct {
	list   []said // list is in the order in which reports are due.
	number uint32 // number is the number of the newest report.
}

type said struct {
	b     []byte
	again bool
}

// mostOutgoing is the most reports that wait. Later ones are lost, as gaps in their numbers show.
const mostOutgoing = 16

// Add takes a report and gives it its number.
func (o *Outgoing) Add(r *Report) {
	o.number++
	if len(o.list) >= mostOutgoing {
		return
	}
	r.Number = o.number
	o.list = append(o.list, said{b: r.Append(nil)})
}

// Next returns the next report that fits in room, nil if none does.
func (o *Outgoing) Next(room int) []byte {
	if len(o.list) == 0 || len(o.list[0].b) > room {
		return nil
	}
	next := o.list[0]
	if o.list = slices.Delete(o.list, 0, 1); !next.again {
		o.list = append(o.list, said{next.b, true})
	}
	return next.b
}

// Clear forgets the reports that wait.
func (o *Outgoing) Clear() { o.list = o.list[:0] }

// Incoming drops reports that came before. The zero value is ready.
type Incoming struct {
	newest uint32
	seen   uint64 // seen has bit i set if report newest − i came.
}

// Fresh reports whether a number comes for the first time.
func (in *Incoming) Fresh(number uint32) bool {
	switch d := int64(number) - int64(in.newest); {
	case d > 0:
		in.seen = in.seen<<min(d, 64) | 1
		in.newest = number
		return true
	case d <= -64 || in.seen&(1<<-d) != 0:
		return false
	default:
		in.seen |= 1 << -d
		return true
	}
}
