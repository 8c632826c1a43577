package netcode

import (
	"errors"
	"fmt"
)

// Errors of receiving. Each is counted by cause in [Stats].
var (
	// ErrMalformed: the bytes are not a packet, or not a message, of this protocol.
	ErrMalformed = errors.New("netcode: malformed")
	// ErrChecksum is the ErrMalformed of a packet whose checksum does not
	// match: it was damaged in transit, or is not from the peer. Never blame
	// the peer for it.
	ErrChecksum = fmt.Errorf("%w: checksum does not match", ErrMalformed)
	// ErrDuplicate: the packet was received before.
	ErrDuplicate = errors.New("netcode: duplicate packet")
	// ErrStale: the packet's sequence number is outside the window, ahead or
	// behind, so it is unknown whether the packet was received before.
	ErrStale = errors.New("netcode: packet outside the sequence window")
	// ErrGap: the packet's sequence number is far ahead, like that of the packet before it.
	// A third one shows that the peer was not heard for long, and is received. It is
	// counted as stale. Never blame the peer for it. See also [Conn.Lapsed].
	ErrGap = errors.New("netcode: packet far ahead, like the one before it")
	// ErrBacklog: the packet carries reliable messages that have no room until
	// [Conn.NextReliable] is drained, or more than a newcomer may send (see
	// [Config.Newcomer]). It was not acknowledged, so the peer sends the
	// messages again.
	ErrBacklog = errors.New("netcode: reliable messages not drained, call NextReliable until it returns false")
)

// Errors of sending.
var (
	// ErrStreamFull: the queue of undelivered reliable messages has no room.
	ErrStreamFull = errors.New("netcode: reliable stream full, the peer does not keep up")
	// ErrTooBig: a reliable message is longer than MaxReliable.
	ErrTooBig = errors.New("netcode: reliable message longer than 64 KiB")
	// ErrEventTooBig: an unreliable event is longer than MaxEvent.
	ErrEventTooBig = errors.New("netcode: event longer than 256 bytes, send it on a reliable channel")
	// ErrNoChannel: the channel is not in Config.Channels.
	ErrNoChannel = errors.New("netcode: no such channel, name it in Config.Channels on both ends")
)

// malformed names what is wrong. The values are constants, so that an
// attacker's packet costs no allocation.
type malformed string

func (m malformed) Error() string        { return "netcode: malformed: " + string(m) }
func (m malformed) Is(target error) bool { return target == ErrMalformed }

var (
	errHeader  error = malformed("packet header")
	errAck     error = malformed("acknowledges a packet that was never sent")
	errMessage error = malformed("message does not fit its packet")
	errType    error = malformed("unknown internal message type")
	errStream  error = malformed("reliable stream entry")
	errBroken  error = malformed("reliable stream fragments out of sequence")
	errChannel error = malformed("channel that is not configured")
	errEvents  error = malformed("events")
	errClose   error = malformed("close")
	errHello   error = malformed("hello")
	errEye     error = malformed("eye")
	errUnread  error = malformed("report of a snapshot")
	errWelcome error = malformed("welcome")
	errReject  error = malformed("reject")
	errSnap    error = malformed("snapshot header")
	errConfig  error = malformed("client configuration")
	errLevel   error = malformed("level information")
	errAsk     error = malformed("schema request")
	errSchema  error = malformed("schema reply")
	errCommand error = malformed("commands")
)
