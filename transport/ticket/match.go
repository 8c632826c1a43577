package ticket

import "slices"

// matchMark begins an identity that JoinIdentity made.
const matchMark = "\x00M"

// Shown returns the identity that transports show: Identity, or JoinIdentity of Match and Identity.
func (c *Claims) Shown() []byte {
	if c.Match == "" {
		return c.Identity
	}
	return JoinIdentity(c.Match, c.Identity)
}

// JoinIdentity returns the identity of a player in one of many matches, as an accept hook returns it for package host.
// Match is cut to MaxMatch bytes.
func JoinIdentity(match string, identity []byte) []byte {
	match = match[:min(len(match), MaxMatch)]
	b := append([]byte(matchMark), byte(len(match)))
	b = append(b, match...)
	return append(b, identity...)
}

// SplitIdentity splits an identity that JoinIdentity made. It returns false for any other identity.
func SplitIdentity(joined []byte) (match string, identity []byte, ok bool) {
	if len(joined) < len(matchMark)+1 || string(joined[:len(matchMark)]) != matchMark {
		return "", nil, false
	}
	n, rest := int(joined[len(matchMark)]), joined[len(matchMark)+1:]
	if n == 0 || n > MaxMatch || n > len(rest) {
		return "", nil, false
	}
	return string(rest[:n]), slices.Clone(rest[n:]), true
}
