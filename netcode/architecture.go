package netcode

// MaxArchitecture is the longest name of an architecture in a Hello or Welcome, in
// bytes. The name consists of a to z and 0 to 9. It is cut before any other
// character.
const MaxArchitecture = 16

// appendArchitecture appends the length and the valid start of a name.
func appendArchitecture(dst []byte, name string) []byte {
	n := 0
	for n < min(len(name), MaxArchitecture) && plainCharacter(name[n]) {
		n++
	}
	return append(append(dst, byte(n)), name[:n]...)
}

// readArchitecture splits a name off b.
func readArchitecture(b []byte) (name string, rest []byte, ok bool) {
	if len(b) == 0 || b[0] > MaxArchitecture || len(b) < 1+int(b[0]) {
		return "", nil, false
	}
	text := b[1:][:b[0]]
	for _, c := range text {
		if !plainCharacter(c) {
			return "", nil, false
		}
	}
	return string(text), b[1+len(text):], true
}

func plainCharacter(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
