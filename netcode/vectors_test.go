package netcode_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

var updateVectors = flag.Bool("vectors.update", false, "rewrite testdata/vectors.txt")

const vectorsFile = "testdata/vectors.txt"

// vector is a packet and its description.
type vector struct {
	name   string
	magic  uint64
	size   int // size is the size of commands.
	base   commandBase
	packet []byte
}

// one packet of a fresh Conn with one message.
func packetWith(t netcode.MessageType, body []byte) []byte {
	p := netcode.NewConn(netcode.Config{}).Begin(0)
	if !p.Message(t, body) {
		panic("does not fit")
	}
	_, b := finish(p)
	return b
}

func makeVectors() []vector {
	resume := [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	s := netcode.NewCommandSender(9, netcode.CommandConfig{})
	for _, c := range []netcode.Command{
		{Tick: 100, Render: 90, Fraction: 7, Data: []byte{1, 0, 0, 0, 0, 0, 0, 0, 2}},
		{Tick: 101, Render: 91, Fraction: 7, Data: []byte{1, 0, 0, 0, 0, 0, 0, 0, 2}},
		{Tick: 102, Render: 92, Fraction: 7, Data: []byte{1, 0, 0, 0, 0, 0, 0, 0, 2}},
		{Tick: 103, Render: 93, Fraction: 9, Offset: 40, Data: []byte{1, 3, 0, 0, 0, 0, 0, 0, 2}},
		{Tick: 110, Render: 100, Fraction: 9, Data: []byte{1, 3, 0, 0, 0, 0, 0, 0, 4}},
	} {
		s.Push(c)
	}
	onBase := commandBase{fields: []int{9, 1, 12, 3}, tick: 9998, lag: 1288, data: []byte{0x80, 0x06, 0x10, 0x00}}
	sender := netcode.NewCommandSender(4, netcode.CommandConfig{Fields: []uint8{9, 1, 12, 3}})
	for _, c := range []netcode.Command{
		{Tick: 9998, Render: 9992, Fraction: 248, Data: onBase.data},
		{Tick: 9999, Render: 9994, Fraction: 1, Data: []byte{0x81, 0x04, 0x10, 0x00}},
		{Tick: 10000, Render: 9995, Fraction: 1, Data: []byte{0x81, 0xe4, 0xff, 0x42}},
		{Tick: 10001, Render: 9996, Fraction: 1, Data: []byte{0x81, 0xe4, 0xff, 0x42}},
		{Tick: 10004, Render: 9996, Fraction: 9, Offset: 40, Data: []byte{0x81, 0xe4, 0xff, 0x02}},
	} {
		sender.Push(c)
	}
	sender.Acked(9998, true)
	based := sender.Append(nil, 100)
	v := []vector{
		{name: "empty first packet", packet: func() []byte {
			_, b := finish(netcode.NewConn(netcode.Config{}).Begin(0))
			return b
		}()},
		{name: "hello", packet: packetWith(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: 0x1122334455667788, Resume: resume, SnapshotRate: 20, Architecture: "arm64", Data: []byte("me"), Taken: []uint32{513, 0, 7}}.Append(nil))},
		{name: "hello of an observer", packet: packetWith(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: 0x1122334455667788, Role: netcode.RoleObserve}.Append(nil))},
		{name: "hello of another version", packet: packetWith(netcode.MessageHello, []byte{2, 1, 2, 3})},
		{name: "welcome", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 513, TickRate: 30, SnapshotInterval: 2, Tick: 70000, Epoch: 3, Resume: resume, CommandSize: 9, Taken: 70001, Server: 0x0807060504030201, Architecture: "amd64"}.Append(nil))},
		{name: "welcome of a player whose place is gone", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 1, TickRate: 60, SnapshotInterval: 1, Resume: resume, Server: 1, Code: 263, Text: "a café"}.Append(nil))},
		{name: "welcome of a player who is back", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 1, TickRate: 60, SnapshotInterval: 1, Resume: resume, Server: 1, Resumed: true}.Append(nil))},
		{name: "welcome to a server that takes late commands", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 1, TickRate: 30, SnapshotInterval: 1, Resume: resume, Server: 1, Resumed: true, Code: 2, Late: 6, Architecture: "amd64", Text: "b"}.Append(nil))},
		{name: "welcome to a server that lets a share of commands be late", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 1, TickRate: 30, SnapshotInterval: 1, Resume: resume, Server: 1, Late: 6, LateShare: 13, Architecture: "amd64"}.Append(nil))},
		{name: "welcome to a match with tags", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 1, TickRate: 30, SnapshotInterval: 1, Resume: resume, Server: 1, Resumed: true, Tags: 1<<63 | 5, Architecture: "amd64"}.Append(nil))},
		{name: "welcome to a match that holds places for ten minutes", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 1, TickRate: 30, SnapshotInterval: 1, Resume: resume, Server: 1, Tags: 1, Hold: 600, Architecture: "amd64"}.Append(nil))},
		{name: "welcome to a match with tags that takes a share of commands late", packet: packetWith(netcode.MessageWelcome, netcode.Welcome{Owner: 1, TickRate: 30, SnapshotInterval: 1, Resume: resume, Server: 1, Late: 6, LateShare: 13, Tags: 1, Text: "b"}.Append(nil))},
		{name: "reject", packet: packetWith(netcode.MessageReject, netcode.Reject{Code: 2, Protocol: 5, Text: "other build"}.Append(nil))},
		{name: "snapshot", packet: packetWith(netcode.MessageSnapshot, append(netcode.SnapshotHeader{Epoch: 1, Tick: 1000, Early: -300, HasEarly: true, CommandAck: 1006}.Append(nil), 0xab))},
		{name: "snapshot without earliness", packet: packetWith(netcode.MessageSnapshot, netcode.SnapshotHeader{Tick: 5, CommandAck: 0xffffffff}.Append(nil))},
		{name: "bare snapshot", packet: packetWith(netcode.MessageSnapshot, append(netcode.SnapshotHeader{Bare: true, CommandAck: 4, HasEarly: true, Early: 300}.Append(nil), 0xab))},
		{name: "bare snapshot of a later epoch", packet: packetWith(netcode.MessageSnapshot, netcode.SnapshotHeader{Bare: true, Epoch: 2, CommandAck: 0xffffffff}.Append(nil))},
		{name: "bare snapshot of a server that lost two and a quarter ticks", packet: packetWith(netcode.MessageSnapshot, append(netcode.SnapshotHeader{Bare: true, CommandAck: 4, HasEarly: true, Early: 300, Lost: 9}.Append(nil), 0xab))},
		{name: "snapshot of a server that has lost the most", packet: packetWith(netcode.MessageSnapshot, netcode.SnapshotHeader{Epoch: 1, Tick: 1000, CommandAck: 1006, Lost: 0xffffffff}.Append(nil))},
		{name: "commands", size: 9, packet: packetWith(netcode.MessageCommands, s.Append(nil, 500))},
		{name: "commands on a base", size: 4, base: onBase, packet: packetWith(netcode.MessageCommands, based)},
		{name: "ready", packet: packetWith(netcode.MessageReady, netcode.ClientConfig{SnapshotRate: 20, Bytes: 16000}.Append(nil))},
		{name: "level", packet: packetWith(netcode.MessageLevel, netcode.LevelInfo{Epoch: 255, Tick: 70000, Data: []byte("de_dust")}.Append(nil))},
		{name: "eye at a position", packet: packetWith(netcode.MessageEye, netcode.Eye{Has: true, X: 1, Y: -2.5, Z: 1024}.Append(nil))},
		{name: "eye of a player", packet: packetWith(netcode.MessageEye, netcode.Eye{Player: 513}.Append(nil))},
		{name: "unread snapshot", packet: packetWith(netcode.MessageUnread, netcode.Unread{Epoch: 3, Wire: 513}.Append(nil))},
		{name: "no eye", packet: packetWith(netcode.MessageEye, netcode.Eye{}.Append(nil))},
		{name: "the game's own, with a magic", magic: 0xfeedface12345678, packet: func() []byte {
			p := netcode.NewConn(netcode.Config{Magic: 0xfeedface12345678}).Begin(0)
			p.Message(200, bytes.Repeat([]byte{9}, 130))
			_, b := finish(p)
			return b
		}()},
	}
	return append(append(v, streamVectors()...), channelVectors()...)
}

// streamVectors are what two Conns say to one another, with losses.
func streamVectors() (v []vector) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	now := time.Duration(0)
	say := func(name string, from, to *netcode.Conn) {
		_, packet := finish(from.Begin(now))
		v = append(v, vector{name: name, packet: packet})
		if to != nil {
			if err := to.Receive(now+30*time.Millisecond, packet); err != nil {
				panic(err)
			}
		}
		now += 40 * time.Millisecond
	}
	_ = a.SendReliable(1000, 4, []byte("one"))
	_ = a.SendReliable(1002, 5, nil)
	say("stream: two messages", a, b)
	say("ack", b, a)
	_ = a.SendReliable(1003, 6, bytes.Repeat([]byte{7}, 300))
	say("stream: fragments, lost", a, nil)
	say("empty", a, b)
	say("ack with a gap", b, a)
	now += time.Second
	say("stream: fragments again, ack delay above a second", a, b)
	b.Close(9, "bye")
	say("close", b, a)
	return v
}

// channelVectors are what a Conn with every channel says.
func channelVectors() (v []vector) {
	now := time.Duration(0)
	a := netcode.NewConn(netcode.Config{Channels: eightChannels})
	say := func(name string) {
		_, packet := finish(a.Begin(now))
		v = append(v, vector{name: name, packet: packet})
		now += 40 * time.Millisecond
	}
	_ = a.SendOn(3, 1000, 4, []byte("three"))
	_ = a.SendOn(0, 1001, 5, []byte("zero"))
	say("two channels")
	_ = a.SendOn(4, 1000, 4, []byte("boom"))
	_ = a.SendOn(4, 998, 4, nil)
	_ = a.SendOn(5, 1002, 9, []byte{1})
	say("events of two channels")
	_ = a.SendOn(5, 1003, 9, []byte{2})
	say("events, one of them again")
	var library netcode.SchemaLibrary
	hash, _ := library.Add("arena", []byte("game arena\n"))
	_ = a.SendOn(1, 7, netcode.KindSchemaRequest, netcode.SchemaRequest{Hash: hash, Name: "arena"}.Append(nil))
	say("schema request")
	_ = a.SendOn(1, 7, netcode.KindSchemaReply, library.Find(netcode.SchemaRequest{Hash: hash}).Append(nil))
	_ = a.SendOn(1, 7, netcode.KindSchemaReply, library.Find(netcode.SchemaRequest{Name: "other"}).Append(nil))
	say("schema replies")
	return v
}

func formatVectors(t *testing.T, vs []vector) string {
	var out strings.Builder
	for _, v := range vs {
		said, err := describePacket(v.packet, v.magic, v.size, v.base)
		require.NoError(t, err, v.name)
		fmt.Fprintf(&out, "# %s\n", v.name)
		if v.magic != 0 {
			fmt.Fprintf(&out, "magic %016x\n", v.magic)
		}
		if v.size != 0 {
			fmt.Fprintf(&out, "command size %d\n", v.size)
		}
		if b := v.base; b.fields != nil {
			fmt.Fprintf(&out, "command fields %s\n", strings.Trim(fmt.Sprint(b.fields), "[]"))
			fmt.Fprintf(&out, "base %d lag %d offset %d data %x\n", b.tick, b.lag, b.offset, b.data)
		}
		for i := 0; i < len(v.packet); i += 32 {
			fmt.Fprintf(&out, "> %s\n", hex.EncodeToString(v.packet[i:min(i+32, len(v.packet))]))
		}
		fmt.Fprintf(&out, "%s\n", said)
	}
	return out.String()
}

// TestVectors holds the bytes written today, and what a decoder of the standard
// reads in them, to those recorded.
func TestVectors(t *testing.T) {
	got := formatVectors(t, makeVectors())
	if *updateVectors {
		require.NoError(t, os.WriteFile(vectorsFile, []byte(got), 0o644))
	}
	want, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// TestStandardShowsTheVectors: the vectors in the document are the tested ones.
func TestStandardShowsTheVectors(t *testing.T) {
	document, err := os.ReadFile("../docs/STANDARD-netcode.md")
	require.NoError(t, err)
	recorded, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	parts := strings.Split(string(document), "```")
	require.Len(t, parts, 3)
	shown := strings.Split(strings.Trim(parts[1], "\n"), "\n\n")
	require.Greater(t, len(shown), 15)
	for _, v := range shown {
		require.True(t, strings.Contains("\n"+string(recorded), "\n"+v+"\n"), "not recorded: %s", v)
	}
}

// TestTrafficFollowsTheStandard lets two Conns talk over a rough path and has
// every packet read by the standard's decoder.
func TestTrafficFollowsTheStandard(t *testing.T) {
	m := newMatch(30, 60*ms, 30*ms, 0.1, 3)
	n := 0
	m.tap = func(b []byte) {
		_, err := describePacket(b, 0, 4)
		require.NoError(t, err, "%x", b)
		n++
	}
	m.change = func(m *match, now time.Duration) {
		_ = m.client.SendReliable(7, 3, make([]byte, int(now/ms)%700))
		_ = m.server.SendReliable(7, 3, make([]byte, int(now/ms)%7))
	}
	m.run(20 * time.Second)
	require.Greater(t, n, 1000)
	require.Zero(t, m.noRoom, "a large stream must leave room for commands")
}
