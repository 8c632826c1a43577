package game

import (
	"fmt"
	"strings"
	"sync"

	"github.com/foretick/foretick/netcode"
)

// CutMark ends a description that was too long for a message.
const CutMark = "...\n"

// HashMark begins a line that has only the hash of the original line, in a description that was too
// long.
const HashMark = "#"

// HashLine returns the 9 bytes that replace a line: HashMark and its hash.
func HashLine(line string) string { return fmt.Sprintf(HashMark+"%08x", uint32(HashText(line))) }

// Shorten fits a description into a number of bytes. It replaces lines by their hashes, from the end,
// as many as needed. If the text is still too long, it cuts off the end.
func Shorten(text string, most int) string {
	lines, size := strings.Split(text, "\n"), len(text)
	for i := len(lines) - 1; i >= 0 && size > most; i-- {
		if line := HashLine(lines[i]); len(line) < len(lines[i]) {
			size += len(line) - len(lines[i])
			lines[i] = line
		}
	}
	return cutLines(strings.Join(lines, "\n"), most)
}

// Description is the text that peers with another protocol receive. It is made for the first such peer
// and never changes, because making it takes much longer than reading a hello. All servers of a
// protocol share it.
type Description struct {
	once sync.Once
	Text []byte // Text is the description. It is nil until the first peer asks.
	Made int    // Made counts how often it was made.
}

// TextOf returns the description of p, which is always the same protocol.
func (d *Description) TextOf(p *Facts) []byte {
	d.once.Do(func() {
		d.Text = []byte(Shorten(p.Parts().Describe(), netcode.MaxReliable))
		d.Made++
	})
	return d.Text
}

// cutLines cuts a description to at most a number of bytes, at a whole line.
func cutLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most-len(CutMark)]
	return text[:strings.LastIndexByte(text, '\n')+1] + CutMark
}
