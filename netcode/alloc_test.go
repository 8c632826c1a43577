package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
)

// exchange is one tick of a conversation in steady state: commands up, a
// snapshot and an event down, acks both ways, every tenth packet lost.
type exchange struct {
	client, server *netcode.Conn
	sender         *netcode.CommandSender
	buffer         *netcode.CommandBuffer
	body, data     []byte
	i              netcode.Tick
}

func newExchange() *exchange {
	return &exchange{
		client: netcode.NewConn(netcode.Config{}), server: netcode.NewConn(netcode.Config{}),
		sender: netcode.NewCommandSender(8, netcode.CommandConfig{}), buffer: netcode.NewCommandBuffer(8, 32),
		body: make([]byte, 0, 1200), data: make([]byte, 600),
	}
}

func (e *exchange) tick() {
	e.i++
	now := time.Duration(e.i) * tick
	e.data[0] = byte(e.i / 5)
	e.sender.Push(netcode.Command{Tick: e.i + 3, Render: e.i - 3, Data: e.data[:8]})
	p := e.client.Begin(now)
	e.body = e.sender.Append(e.body[:0], p.Room())
	p.Message(netcode.MessageCommands, e.body)
	_, b := p.Finish()
	if e.i%10 != 0 && e.server.Receive(now, b) == nil {
		for m, ok := e.server.NextMessage(); ok; m, ok = e.server.NextMessage() {
			_ = e.buffer.Read(m.Body, float64(e.i))
		}
		for _, ok := e.server.NextReliable(); ok; _, ok = e.server.NextReliable() {
		}
	}
	e.buffer.Take(e.i)
	_ = e.server.SendReliable(e.i, 1, e.data[:40])
	early, has := e.buffer.Early()
	p = e.server.Begin(now)
	e.body = netcode.SnapshotHeader{Tick: e.i, Early: early, HasEarly: has, CommandAck: e.buffer.Ack()}.Append(e.body[:0])
	e.body = append(e.body, e.data[:300]...)
	p.Message(netcode.MessageSnapshot, e.body)
	_, b = p.Finish()
	if e.i%10 != 5 && e.client.Receive(now, b) == nil {
		for m, ok := e.client.NextMessage(); ok; m, ok = e.client.NextMessage() {
			h, _, _ := netcode.ParseSnapshotHeader(m.Body)
			e.sender.Acked(h.CommandAck, netcode.Newer(h.CommandAck, h.Tick))
		}
		for _, ok := e.client.NextReliable(); ok; _, ok = e.client.NextReliable() {
		}
	}
	for _, ok := e.client.NextFate(); ok; _, ok = e.client.NextFate() {
	}
	for _, ok := e.server.NextFate(); ok; _, ok = e.server.NextFate() {
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	e := newExchange()
	for range 3000 { // every slot of every ring has been used
		e.tick()
	}
	require.Zero(t, testing.AllocsPerRun(1000, e.tick))
	require.NotZero(t, e.server.Stats().EntriesResent)
	require.Zero(t, e.client.Stats().Malformed+e.server.Stats().Malformed)
}

// Every channel at once, with losses both ways.
func TestChannelsAllocateNothing(t *testing.T) {
	costtest.Allocations(t)
	a, b := netcode.NewConn(netcode.Config{Channels: eightChannels}), netcode.NewConn(netcode.Config{Channels: eightChannels})
	data, i, events, reliable := make([]byte, 600), netcode.Tick(0), 0, 0
	step := func() {
		i++
		now := time.Duration(i) * tick
		for ch := range uint8(4) {
			_ = a.SendOn(4+ch, i, 1, data[:20])
			if i%8 == 0 && a.PendingOn(ch) < 10 {
				_ = a.SendOn(ch, i, 1, data)
			}
		}
		_, p := a.Begin(now).Finish()
		if i%10 != 0 && b.Receive(now, p) == nil {
			for _, ok := b.NextEvent(); ok; _, ok = b.NextEvent() {
				events++
			}
			for _, ok := b.NextReliable(); ok; _, ok = b.NextReliable() {
				reliable++
			}
		}
		_, p = b.Begin(now).Finish()
		if i%10 != 5 {
			_ = a.Receive(now, p)
		}
		for _, ok := a.NextFate(); ok; _, ok = a.NextFate() {
		}
		for _, ok := b.NextFate(); ok; _, ok = b.NextFate() {
		}
	}
	for range 6000 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(1000, step))
	require.Greater(t, events, 20000)
	require.Greater(t, reliable, 1500)
	require.NotZero(t, a.Stats().EntriesResent)
	require.NotZero(t, b.Stats().EventsDuplicate)
}

func TestRefusedPacketsAllocateNothing(t *testing.T) {
	costtest.Allocations(t)
	c := netcode.NewConn(netcode.Config{})
	bad := [][]byte{{1, 2}, bare(1, 200), bare(1, 3, 0), bare(1, streamMessage(0, 0, 0)...), bare(9000), raw(1, 99),
		bare(1, 3, 6, 1, 0, 0, 3, 9, 0), bare(1, 4, 6, 4, 0, 0, 0, 9, 0)}
	n := 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, b := range bad {
			if c.Receive(0, b) != nil {
				n++
			}
		}
	}))
	require.Equal(t, 101*len(bad), n)
}

func BenchmarkTickOfOnePeer(b *testing.B) {
	e := newExchange()
	for range 3000 {
		e.tick()
	}
	b.ReportAllocs()
	for b.Loop() {
		e.tick()
	}
}

func BenchmarkPacketOfEightChannels(b *testing.B) {
	c, d := netcode.NewConn(netcode.Config{Channels: eightChannels, FixedRate: true, Rate: 1 << 30}), netcode.NewConn(netcode.Config{Channels: eightChannels})
	payload := make([]byte, 40)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		now := time.Duration(i) * tick
		for ch := range uint8(8) {
			_ = c.SendOn(ch, 1, 1, payload)
		}
		_, p := c.Begin(now).Finish()
		if err := d.Receive(now, p); err != nil {
			b.Fatal(err)
		}
		for _, ok := d.NextEvent(); ok; _, ok = d.NextEvent() {
		}
		for _, ok := d.NextReliable(); ok; _, ok = d.NextReliable() {
		}
		_, p = d.Begin(now).Finish()
		if err := c.Receive(now, p); err != nil {
			b.Fatal(err)
		}
		for _, ok := c.NextFate(); ok; _, ok = c.NextFate() {
		}
	}
}

func BenchmarkReceive(b *testing.B) {
	a := netcode.NewConn(netcode.Config{FixedRate: true, Rate: 1 << 30})
	body := make([]byte, 200)
	c := netcode.NewConn(netcode.Config{})
	b.ReportAllocs()
	for b.Loop() {
		p := a.Begin(0)
		p.Message(30, body)
		_, d := p.Finish()
		if err := c.Receive(0, d); err != nil {
			b.Fatal(err)
		}
		for _, ok := c.NextMessage(); ok; _, ok = c.NextMessage() {
		}
		for _, ok := a.NextFate(); ok; _, ok = a.NextFate() {
		}
	}
}

func BenchmarkCommandsEightUnacked(b *testing.B) {
	s := netcode.NewCommandSender(8, netcode.CommandConfig{})
	data := make([]byte, 8)
	for k := range netcode.Tick(8) {
		data[k%3] = byte(k)
		s.Push(netcode.Command{Tick: k, Render: k - 5, Fraction: byte(k), Data: data})
	}
	out := make([]byte, 0, 300)
	b.ReportAllocs()
	for b.Loop() {
		out = s.Append(out[:0], 300)
	}
	b.ReportMetric(float64(len(out)), "bytes")
}

func BenchmarkClock(b *testing.B) {
	c := netcode.NewClock(netcode.ClockConfig{})
	i := netcode.Tick(0)
	b.ReportAllocs()
	for b.Loop() {
		i++
		now := time.Duration(i) * tick
		c.Snapshot(now, i, int16(i*37%300), true, 50*ms, 0)
		c.Advance(now)
	}
}
