package foretick

import (
	"fmt"
	"strings"
	"sync"

	"github.com/foretick/foretick/netcode"
)

// cutMark ends a description that was too long for a message.
const cutMark = "...\n"

// hashMark begins a line that stands for another one, in a description that was too long.
const hashMark = "#"

// hashLine returns what stands for a line: 9 bytes.
func hashLine(line string) string { return fmt.Sprintf(hashMark+"%08x", uint32(hashText(line))) }

// shorten fits a description into a number of bytes. As many lines at its end as needed are
// sent by their hashes. If that is still too long, the end is cut.
func shorten(text string, most int) string {
	lines, size := strings.Split(text, "\n"), len(text)
	for i := len(lines) - 1; i >= 0 && size > most; i-- {
		if line := hashLine(lines[i]); len(line) < len(lines[i]) {
			size += len(line) - len(lines[i])
			lines[i] = line
		}
	}
	return cutLines(strings.Join(lines, "\n"), most)
}

// description is what peers of other protocols are sent. It is made for the first of them, and
// never changes: to make it takes much longer than to read a hello. All servers of a protocol
// share it.
type description struct {
	once sync.Once
	text []byte
	made int
}

// textOf returns the description of p, which is always the same protocol.
func (d *description) textOf(p *compiled) []byte {
	d.once.Do(func() {
		d.text = []byte(shorten(p.parts().Describe(), netcode.MaxReliable))
		d.made++
	})
	return d.text
}

// cutLines cuts a description to at most a number of bytes, at a whole line.
func cutLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most-len(cutMark)]
	return text[:strings.LastIndexByte(text, '\n')+1] + cutMark
}
