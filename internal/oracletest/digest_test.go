package oracletest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// The streams of a match. A replay of the tape has the first two.
const (
	down    = iota // datagrams that the server sends, and the connections that it ends
	worlds         // worlds after the server's ticks, and what its handlers were called with
	up             // datagrams that the clients send
	screens        // views and worlds after the clients' Steps, and what their handlers were called with
	words          // datagrams that the server sends when it closes for a restart, and once it is closed
	streams
)

var streamNames = [streams]string{"down", "server", "up", "screens", "words"}

// streamMeans has, for each stream, what differs if the stream does.
var streamMeans = [streams]string{
	"the packets that the server sends",
	"the server's worlds or the calls of its handlers",
	"the packets that the clients send",
	"what the clients show or the calls of their handlers",
	"the packets that the closed server sends",
}

const replayed = worlds + 1 // how many streams a replay has

// stream is the digest of a stream.
type stream struct {
	sum     hash.Hash
	n       int      // number of entries
	bytes   int      // bytes of all entries
	seconds []string // the digest at the end of each second
}

// sums are the digests of a match while it plays.
type sums struct {
	rate   int
	ticks  uint32 // the server's newest tick
	stream [streams]stream
	buf    []byte
}

func newSums(rate int) *sums {
	s := &sums{rate: rate}
	for i := range s.stream {
		s.stream[i].sum = sha256.New()
	}
	return s
}

// add adds an entry to a stream: some numbers and some bytes.
func (s *sums) add(kind int, b []byte, numbers ...uint64) {
	k := &s.stream[kind]
	s.buf = s.buf[:0]
	for _, n := range append(numbers, uint64(len(b))) {
		s.buf = binary.LittleEndian.AppendUint64(s.buf, n)
	}
	k.sum.Write(s.buf)
	k.sum.Write(b)
	k.n++
	k.bytes += len(b)
}

// tick ends a tick of the server, and a second of the digests if the tick is its last.
func (s *sums) tick(tick uint32) {
	s.ticks = tick
	if tick%uint32(s.rate) == 0 {
		s.endSecond()
	}
}

func (s *sums) endSecond() {
	for i := range s.stream {
		k := &s.stream[i]
		k.seconds = append(k.seconds, hex.EncodeToString(k.sum.Sum(nil)[:4]))
	}
}

// digest is the content of a match's lines in testdata/digests.txt.
type digest struct {
	name    string
	ticks   uint32
	n       [streams]int
	bytes   [streams]int
	seconds [streams][]string // the digest at the end of each second, and at last that of the whole match
}

// digest ends the match and returns its digest.
func (s *sums) digest(name string) digest {
	s.endSecond()
	d := digest{name: name, ticks: s.ticks}
	for i := range s.stream {
		d.n[i], d.bytes[i], d.seconds[i] = s.stream[i].n, s.stream[i].bytes, s.stream[i].seconds
	}
	return d
}

// String returns the lines: one of the match, and one of each stream with its entries, its
// bytes and a digest for each second.
func (d digest) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d ticks\n", d.name, d.ticks)
	for i, name := range streamNames {
		fmt.Fprintf(&b, "  %s %d %d %s\n", name, d.n[i], d.bytes[i], strings.Join(d.seconds[i], " "))
	}
	return b.String()
}

// readDigests reads the text that String makes.
func readDigests(text string) (all map[string]digest, err error) {
	all = map[string]digest{}
	var d digest
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
			continue
		case line[0] != ' ':
			d = digest{name: words[0]}
			if _, err := fmt.Sscan(words[1], &d.ticks); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		default:
			for i, name := range streamNames {
				if words[0] != name {
					continue
				}
				if _, err := fmt.Sscan(words[1]+" "+words[2], &d.n[i], &d.bytes[i]); err != nil {
					return nil, fmt.Errorf("%q: %w", line, err)
				}
				d.seconds[i] = words[3:]
			}
		}
		all[d.name] = d
	}
	return all, nil
}

// differences says in which second each of the first streams of a match begins to differ from the
// recording. It returns "" if they are equal.
func (d digest) differences(was digest, of, rate int) string {
	var list []string
	for i := range of {
		if at := firstDifference(d.seconds[i], was.seconds[i]); at >= 0 {
			list = append(list, fmt.Sprintf("from second %d on (ticks %d to %d): %s", at, at*rate+1, (at+1)*rate, streamMeans[i]))
		}
	}
	if len(list) == 0 && d.ticks != was.ticks {
		list = append(list, fmt.Sprintf("it has %d ticks, and had %d", d.ticks, was.ticks))
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("match %q differs from its recording\n  %s", d.name, strings.Join(list, "\n  "))
}

// firstDifference returns the first index at which two lists differ, and −1 for equal ones.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}
