package foretick

import "github.com/foretick/foretick/netcode"

// Numbers and limits of the packets that both ends exchange, in addition to those of
// netcode.
const (
	helloVersion          = netcode.Version
	kindDescribe          = 255 // reliable: the server's protocol, for a peer of another
	rejectMismatch        = 1
	rejectFull            = 2
	rejectVersion         = 3
	rejectBuildDifference = 4 // another build: ask for the schema
	rejectRole            = 5 // neither a player nor an observer, or no observers here

	maxSnapshotTicks = 120  // between two snapshots to one client, at most
	sentWindow       = 1024 // most packets whose content is kept until their fate is known
)

// messageNote carries the explanation of a correction: see internal/reason.
const messageNote netcode.MessageType = 64

// kindRefused is the reliable kind that tells a client which of its commands the game
// refused, and why.
const kindRefused = 254

const (
	// maxRefusal bounds the text of a refusal, in bytes.
	maxRefusal = 200
	// maxRefusals is the number of reliable messages waiting for a client from which on
	// refusals are counted only, and not sent.
	maxRefusals = 16
)
