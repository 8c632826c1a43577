package transport

import "strconv"

// Code is the reason why a connection ended. Codes are sent as numbers, which never change. Codes from
// 256 belong to the game.
type Code uint16

const (
	None        Code = iota // no reason given
	Closed                  // the other end left or shut down normally
	Timeout                 // nothing was received for the timeout, or a dial got no answer
	Refused                 // the server's accept hook refused
	Kicked                  // an operator, or the game, removed the player
	Full                    // the server has no room
	Mismatch                // the two ends speak different protocols
	Protocol                // the peer broke a rule of the protocol
	Unreachable             // the network reports that nobody listens there
	Replaced                // the same identity connected again
	Malformed               // the peer sent bytes that cannot be decoded
	Gone                    // the other end does not know the connection: it restarted or had a timeout
	Overflow                // the peer did not take the data sent to it, and a limit was reached
	Restart                 // the server shuts down and will be back: dial again
	numCodes
)

// FirstUserCode is the first code that games may define.
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
