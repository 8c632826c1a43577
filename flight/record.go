package flight

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/foretick/foretick/inspect/trace"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// The kinds of records. Readers skip those that they do not know.
const (
	recHead         = 1  // what was recorded, as names and texts
	recStart        = 2  // wall clock of the first Step
	recStep         = 3  // a Step begins
	recConnected    = 4  // from Recv
	recData         = 5  // from Recv
	recDisconnected = 6  // from Recv
	recInfo         = 7  // from Info
	recSendError    = 8  // from Send
	recRandom       = 9  // from Random
	recTick         = 10 // a tick ends
	recValue        = 11 // Server.Record
	recCall         = 12 // a call from outside
	recDo           = 13 // a function of Server.Do
	recEdit         = 14 // an edit by path
	recGrant        = 15 // server.Config.Observe
	recPanic        = 16 // a system panicked
	recReport       = 17 // something went wrong, and the match went on
	recOpaque       = 18 // something happened that the tape does not hold
	recTouched      = 19 // the program took the world or the frame
	recClosed       = 20 // the server was closed
	recTruncated    = 21 // the recorder had no more room
	recPause        = 22 // the tape was written here, and no Step was running
	recLook         = 23 // a request of the server's own program for a player's trace
	recWaited       = 24 // from Recv: recData that came some time before its Step
)

// maxRecord is the most bytes of a record's content.
const maxRecord = 96 << 10

var errRecord = errors.New("a record does not have the form of its kind")

// scan reads the content of a record. After a fault all its methods return zero values.
type scan struct {
	b   []byte
	bad bool
}

func (s *scan) markBad() { s.b, s.bad = nil, true }

func (s *scan) uvarint() uint64 {
	v, n := binary.Uvarint(s.b)
	if n <= 0 {
		s.markBad()
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *scan) varint() int64 {
	v, n := binary.Varint(s.b)
	if n <= 0 {
		s.markBad()
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *scan) byte() byte {
	if len(s.b) == 0 {
		s.markBad()
		return 0
	}
	v := s.b[0]
	s.b = s.b[1:]
	return v
}

func (s *scan) uint64() uint64 {
	if len(s.b) < 8 {
		s.markBad()
		return 0
	}
	v := binary.LittleEndian.Uint64(s.b)
	s.b = s.b[8:]
	return v
}

func (s *scan) uint32() uint32 {
	if len(s.b) < 4 {
		s.markBad()
		return 0
	}
	v := binary.LittleEndian.Uint32(s.b)
	s.b = s.b[4:]
	return v
}

// readBytes reads a length and that many bytes.
func (s *scan) readBytes() []byte {
	n := s.uvarint()
	if n > uint64(len(s.b)) {
		s.markBad()
		return nil
	}
	v := s.b[:n:n]
	s.b = s.b[n:]
	return v
}

func (s *scan) readText() string { return string(s.readBytes()) }

// peer reads a peer's slot and generation.
func (s *scan) peer() transport.PeerID {
	slot, gen := s.uvarint(), s.uvarint()
	if slot > math.MaxUint32 || gen > math.MaxUint32 {
		s.markBad()
	}
	return transport.MakePeerID(int(slot), uint32(gen))
}

func (s *scan) err() error {
	if s.bad {
		return errRecord
	}
	return nil
}

func appendBytes[T string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func appendPeer(b []byte, p transport.PeerID) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(uint32(p.Slot()))), uint64(p.Generation()))
}

// Flags of recInfo.
const (
	infoKnown = 1 << iota
	infoSecure
	infoOrdered
	infoIdentity
)

func appendInfo(b []byte, p transport.PeerID, in *transport.Info, known bool) []byte {
	if !known {
		return appendPeer(append(b, 0), p)
	}
	flags := byte(infoKnown)
	if in.Secure {
		flags |= infoSecure
	}
	if in.Ordered {
		flags |= infoOrdered
	}
	if in.Identity != nil {
		flags |= infoIdentity
	}
	b = appendPeer(append(b, flags), p)
	b = binary.AppendVarint(b, int64(in.MTU))
	return append(appendBytes(b, in.Addr), in.Identity...)
}

// peerInfo is the content of a recInfo.
type peerInfo struct {
	peer  transport.PeerID
	known bool
	info  transport.Info
}

func readInfo(b []byte) (in peerInfo, err error) {
	s := scan{b: b}
	flags := s.byte()
	in.peer, in.known = s.peer(), flags&infoKnown != 0
	if in.known {
		in.info.MTU = int(s.varint())
		in.info.Addr = s.readText()
		in.info.Secure, in.info.Ordered = flags&infoSecure != 0, flags&infoOrdered != 0
		if flags&infoIdentity != 0 {
			in.info.Identity = append([]byte{}, s.b...)
		}
	}
	return in, s.err()
}

// Codes of recSendError.
const (
	sendOther = iota
	sendBacklog
	sendNoPeer
	sendClosed
	sendTooBig
)

func appendSendError(b []byte, at uint64, err error) []byte {
	code := byte(sendOther)
	switch {
	case errors.Is(err, transport.ErrBacklog):
		code = sendBacklog
	case errors.Is(err, transport.ErrNoPeer):
		code = sendNoPeer
	case errors.Is(err, transport.ErrClosed):
		code = sendClosed
	case errors.Is(err, transport.ErrTooBig):
		code = sendTooBig
	}
	return append(binary.AppendUvarint(b, at), code)
}

func sendError(code byte) error {
	switch code {
	case sendBacklog:
		return transport.ErrBacklog
	case sendNoPeer:
		return transport.ErrNoPeer
	case sendClosed:
		return transport.ErrClosed
	case sendTooBig:
		return transport.ErrTooBig
	}
	return errors.New("flight: the datagram was not sent")
}

// Flags of recCall.
const (
	callUntil = 1 << iota
	callBuilt
	callQueued
)

func appendTime(b []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
}

func (s *scan) time() time.Time {
	sec, nsec := s.varint(), s.uvarint()
	if nsec >= uint64(time.Second) {
		s.markBad()
	}
	return time.Unix(sec, int64(nsec)).UTC()
}

func appendCall(b []byte, c *tape.Call) []byte {
	flags := byte(0)
	if !c.Until.IsZero() {
		flags |= callUntil
	}
	if c.Built {
		flags |= callBuilt
	}
	if c.Queued {
		flags |= callQueued
	}
	b = append(b, byte(c.Op), flags)
	b = binary.AppendUvarint(b, uint64(c.Player))
	b = binary.AppendUvarint(b, c.Number)
	b = binary.AppendVarint(b, int64(c.Time))
	b = binary.AppendUvarint(b, uint64(c.Of))
	if !c.Until.IsZero() {
		b = appendTime(b, c.Until)
	}
	return append(appendBytes(b, c.Text), c.Data...)
}

func readCall(b []byte) (c tape.Call, err error) {
	s := scan{b: b}
	c.Op = tape.Op(s.byte())
	flags := s.byte()
	c.Built, c.Queued = flags&callBuilt != 0, flags&callQueued != 0
	c.Player, c.Number, c.Time, c.Of = uint16(s.uvarint()), s.uvarint(), time.Duration(s.varint()), int(s.uvarint())
	if flags&callUntil != 0 {
		c.Until = s.time()
	}
	c.Text, c.Data = s.readText(), append([]byte{}, s.b...)
	return c, s.err()
}

// Kinds of an edit's value.
const (
	valueBool = iota
	valueInt
	valueUint
	valueFloat
	valueString
)

func appendEdit(b []byte, name string, e *tape.Edit) []byte {
	b = binary.AppendUvarint(appendBytes(b, name), e.Entity)
	b = appendBytes(b, e.Path)
	switch v := e.Value.(type) {
	case bool:
		n := byte(0)
		if v {
			n = 1
		}
		return append(b, valueBool, n)
	case int64:
		return binary.AppendVarint(append(b, valueInt), v)
	case uint64:
		return binary.AppendUvarint(append(b, valueUint), v)
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, valueFloat), math.Float64bits(v))
	}
	return append(append(b, valueString), fmt.Sprint(e.Value)...)
}

func readEdit(b []byte) (name string, e *tape.Edit, err error) {
	s := scan{b: b}
	e = &tape.Edit{}
	name, e.Entity, e.Path = s.readText(), s.uvarint(), s.readText()
	switch s.byte() {
	case valueBool:
		e.Value = s.byte() != 0
	case valueInt:
		e.Value = s.varint()
	case valueUint:
		e.Value = s.uvarint()
	case valueFloat:
		e.Value = math.Float64frombits(s.uint64())
	case valueString:
		e.Value = string(s.b)
	default:
		s.markBad()
	}
	return name, e, s.err()
}

func appendGrant(b []byte, g tape.Grant) []byte {
	flags := byte(0)
	for i, on := range [...]bool{g.Everything, g.FollowOnly, g.Refused} {
		if on {
			flags |= 1 << i
		}
	}
	b = binary.AppendUvarint(append(b, flags, g.Team), uint64(g.Player))
	return append(b, g.Text...)
}

func readGrant(b []byte) (g tape.Grant, err error) {
	s := scan{b: b}
	flags := s.byte()
	g.Everything, g.FollowOnly, g.Refused = flags&1 != 0, flags&2 != 0, flags&4 != 0
	g.Team, g.Player, g.Text = s.byte(), uint16(s.uvarint()), string(s.b)
	return g, s.err()
}

// Flags of recLook.
const (
	lookLooked = 1 << iota
	lookRenamed
	lookStop
	lookReports
)

func appendLook(b []byte, l *tape.Look) []byte {
	flags := byte(0)
	for i, on := range [...]bool{l.Looked, l.Renamed, l.Stop, l.Reports} {
		if on {
			flags |= 1 << i
		}
	}
	b = append(binary.AppendUvarint(b, uint64(l.Player)), flags)
	for _, e := range l.Entities {
		b = binary.AppendUvarint(b, e)
	}
	return b
}

func readLook(b []byte) (l tape.Look, err error) {
	s := scan{b: b}
	l.Player = uint16(s.uvarint())
	flags := s.byte()
	l.Looked, l.Renamed, l.Stop, l.Reports = flags&lookLooked != 0, flags&lookRenamed != 0, flags&lookStop != 0, flags&lookReports != 0
	for len(s.b) > 0 {
		if len(l.Entities) == trace.MaxEntities {
			s.markBad()
			break
		}
		l.Entities = append(l.Entities, s.uvarint())
	}
	return l, s.err()
}
