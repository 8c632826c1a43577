package netcode

// MaxRejectText is the longest text of a Reject, in bytes.
const MaxRejectText = 200

// Reject is the server's reply to a Hello that it does not accept.
type Reject struct {
	Code     uint8  // the caller's reason code
	Protocol uint64 // the server's protocol hash, so that the client can report both
	Text     string // reason for the user; at most MaxRejectText bytes
}

// Append appends the encoded r to dst. It cuts Text to MaxRejectText.
func (r Reject) Append(dst []byte) []byte {
	dst = append(dst, r.Code)
	dst = le.AppendUint64(dst, r.Protocol)
	return append(dst, r.Text[:min(len(r.Text), MaxRejectText)]...)
}

// ParseReject decodes what Append wrote. Error: ErrMalformed.
func ParseReject(b []byte) (Reject, error) {
	if len(b) < 9 || len(b) > 9+MaxRejectText {
		return Reject{}, errReject
	}
	return Reject{Code: b[0], Protocol: le.Uint64(b[1:]), Text: string(b[9:])}, nil
}
