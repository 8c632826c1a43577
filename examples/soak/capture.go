package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/foretick/foretick/simtest"
)

// capture plays one match, with all that can happen, and writes some of its
// packets: those with kinds of messages that are rare first of all, and few that
// are alike.
func capture(o options, out io.Writer) error {
	k := &keeper{seen: map[string]int{}}
	o.kills = true
	p := o.match()
	p.Checkers = func() []simtest.Checker { return []simtest.Checker{k} }
	if _, err := p.Run(o.seed); err != nil {
		return err
	}
	f, err := os.Create(o.capture)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "# packets of a match: examples/soak -capture, seed %d, %v s, %d clients\n", o.seed, o.seconds, o.clients)
	for _, b := range k.packets {
		fmt.Fprintln(w, hex.EncodeToString(b))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d packets of %d written to %s\n", len(k.packets), k.all, o.capture)
	return f.Close()
}

// keeper is a checker that keeps packets.
type keeper struct {
	seen    map[string]int // packets by the kinds of their messages
	packets [][]byte
	all     int
}

// Packet implements simtest.PacketChecker.
func (k *keeper) Packet(_ *simtest.Match, _, _ int, b []byte) error {
	k.all++
	kinds := shape(b)
	k.seen[kinds]++
	// The 1st, 2nd, 4th … of a shape: early ones are unlike later ones.
	if n := k.seen[kinds]; n&(n-1) == 0 && n <= 1<<10 {
		k.packets = append(k.packets, append([]byte{}, b...))
	}
	return nil
}

// shape lists the kinds of a packet's messages.
func shape(b []byte) string {
	const sum, header = 4, 7
	if len(b) < header {
		return "short"
	}
	at := header
	if b[sum]&0x10 != 0 {
		at = header + 3
		for i := range 4 {
			at += int(b[sum] >> i & 1)
		}
	}
	kinds := []byte{b[sum] & 0x10}
	for b = b[min(at, len(b)):]; len(b) > 1; {
		n, k := binary.Uvarint(b[1:])
		kinds = append(kinds, b[0])
		b = b[min(1+k+int(n), len(b)):]
	}
	return string(kinds)
}

// Tick implements simtest.Checker.
func (k *keeper) Tick(*simtest.Match) error { return nil }

// Quiet implements simtest.Checker.
func (k *keeper) Quiet(*simtest.Match) error { return nil }

// Worked implements simtest.Checker.
func (k *keeper) Worked(*simtest.Match) (string, error) {
	return fmt.Sprintf("packets: %d of %d kept", len(k.packets), k.all), nil
}
