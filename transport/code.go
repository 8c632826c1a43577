package transport

import "strconv"

// Code is the reason for which a connection ended. Codes travel as they are: their numbers do not change.
// Codes from 256 are the game's own.
type Code uint16

const (
	None        Code = iota // no reason given
	Closed                  // the other end left, or shut down, in good order
	Timeout                 // nothing was heard for the timeout, or a dial was never answered
	Refused                 // the server's accept hook said no
	Kicked                  // an operator, or the game, removed the player
	Full                    // the server has no room
	Mismatch                // the two ends speak different protocols
	Protocol                // the peer broke the protocol's rules
	Unreachable             // the network says that nobody is there
	Replaced                // the same identity connected anew
	Malformed               // the peer sent what cannot be decoded
	Gone                    // the other end knows no such connection: it restarted, or had timed us out
	Overflow                // the peer did not take what it was sent, and a bound was reached
	Restart                 // the server shuts down and is expected back: dial again
	numCodes
)

// FirstUserCode is the first code that is a game's to define.
const FirstUserCode Code = 256

var codeNames = [numCodes]string{
	None: "none", Closed: "closed", Timeout: "timeout", Refused: "refused", Kicked: "kicked", Full: "full",
	Mismatch: "mismatch", Protocol: "protocol", Unreachable: "unreachable", Replaced: "replaced",
	Malformed: "malformed", Gone: "gone", Overflow: "overflow", Restart: "restart",
}

// String returns the code's name in lower case, or "code N".
func (c Code) String() string {
	if c < numCodes {
		return codeNames[c]
	}
	return "code " + strconv.Itoa(int(c))
}
