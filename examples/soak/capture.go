package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/simtest"
)

// capture plays one match with every kind of event, and writes some of its packets: mainly packets with
// rare kinds of messages, and few of each common shape.
func capture(o options, out io.Writer) error {
	k := &keeper{seen: map[string]int{}}
	o.kills = true
	p := o.match()
	p.Checkers = func() []simtest.Checker { return []simtest.Checker{k} }
	if _, err := p.Run(o.seed); err != nil {
		return err
	}
	head := fmt.Sprintf("packets of a match: examples/soak -capture, seed %d, %v s, %d clients", o.seed, o.seconds, o.clients)
	fmt.Fprintf(out, "%d packets of %d written to %s\n", len(k.packets), k.all, o.capture)
	return write(o.capture, head, k.packets)
}

// write writes lines in hexadecimal.
func write(name, head string, lines [][]byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "#", head)
	for _, b := range lines {
		fmt.Fprintln(w, hex.EncodeToString(b))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// snapshotsKept is the number of snapshots that captureSnapshots writes.
const snapshotsKept = 150

// captureSnapshots plays one match and writes what a snapshot decoder needs to follow one player: the
// schema, and the first snapshots in order.
func captureSnapshots(o options, out io.Writer) error {
	k := &snapshotKeeper{}
	p := o.match()
	p.Checkers = func() []simtest.Checker { return []simtest.Checker{k} }
	if _, err := p.Run(o.seed); err != nil {
		return err
	}
	game := NewPlayer().Protocol
	if err := game.Err(); err != nil {
		return err
	}
	protocol, err := schema.ReadProtocol(game.Schema(nil))
	if err != nil {
		return err
	}
	head := fmt.Sprintf("schema and snapshots of a match: examples/soak -snapshots, seed %d, %v s, %d clients", o.seed, o.seconds, o.clients)
	fmt.Fprintf(out, "%d snapshots written to %s\n", len(k.snapshots), o.snapshots)
	return write(o.snapshots, head, append([][]byte{protocol.Registry.AppendSchema(nil)}, k.snapshots...))
}

// snapshotKeeper is a checker that keeps the snapshots sent to the first player
// that gets one.
type snapshotKeeper struct {
	keeper
	to        int
	snapshots [][]byte
}

// Packet implements simtest.PacketChecker.
func (k *snapshotKeeper) Packet(_ *simtest.Match, _, to int, b []byte) error {
	k.all++
	if len(k.snapshots) == snapshotsKept || k.to != 0 && to != k.to {
		return nil
	}
	each(b, func(kind byte, body []byte) {
		if _, rest, err := netcode.ParseSnapshotHeader(body); netcode.MessageType(kind) == netcode.MessageSnapshot && err == nil {
			k.to, k.snapshots = to, append(k.snapshots, append([]byte{}, rest...))
		}
	})
	return nil
}

// keeper is a checker that keeps packets.
type keeper struct {
	seen    map[string]int // number of packets by their message kinds
	packets [][]byte
	all     int
}

// Packet implements simtest.PacketChecker.
func (k *keeper) Packet(_ *simtest.Match, _, _ int, b []byte) error {
	k.all++
	kinds := shape(b)
	k.seen[kinds]++
	// Keep the 1st, 2nd, 4th … of a shape: early ones differ from later ones.
	if n := k.seen[kinds]; n&(n-1) == 0 && n <= 1<<10 {
		k.packets = append(k.packets, append([]byte{}, b...))
	}
	return nil
}

// shape returns the kinds of a packet's messages as text.
func shape(b []byte) string {
	if len(b) < header {
		return "short"
	}
	kinds := []byte{b[sum] & 0x10}
	each(b, func(kind byte, _ []byte) { kinds = append(kinds, kind) })
	return string(kinds)
}

// Bytes of a packet: the position of its flags, after the checksum, and its
// minimum length.
const sum, header = 4, 7

// each calls message for each message of a packet.
func each(b []byte, message func(kind byte, body []byte)) {
	if len(b) < header {
		return
	}
	at := header
	if b[sum]&0x10 != 0 {
		at = header + 3
		for i := range 4 {
			at += int(b[sum] >> i & 1)
		}
	}
	for b = b[min(at, len(b)):]; len(b) > 1; {
		n, k := binary.Uvarint(b[1:])
		end := min(1+k+int(n), len(b))
		message(b[0], b[1+k:end])
		b = b[end:]
	}
}

// Tick implements simtest.Checker.
func (k *keeper) Tick(*simtest.Match) error { return nil }

// Worked implements simtest.Checker.
func (k *keeper) Worked(*simtest.Match) (string, error) {
	return fmt.Sprintf("packets: %d of %d kept", len(k.packets), k.all), nil
}
