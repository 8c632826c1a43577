package netcode_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/netcode"
)

// Two ends over a pipe that loses every third datagram. A lost snapshot stays
// lost, and its sender is informed; a reliable message arrives.
func Example() {
	server, client := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	_ = server.SendReliable(0, 1, []byte("door 7 opened"))
	const tick = time.Second / 30
	for i := range 12 {
		now := time.Duration(i) * tick

		p := server.Begin(now)
		p.Message(netcode.MessageSnapshot, netcode.SnapshotHeader{Tick: netcode.Tick(i)}.Append(nil))
		_, datagram := p.Finish()
		if i%3 != 0 {
			_ = client.Receive(now, datagram)
			for r, ok := client.NextReliable(); ok; r, ok = client.NextReliable() {
				fmt.Printf("client: %q of tick %d\n", r.Payload, r.Tick)
			}
		}

		_, datagram = client.Begin(now).Finish() // nothing to say: acks
		_ = server.Receive(now, datagram)
	}
	delivered := 0
	for f, ok := server.NextFate(); ok; f, ok = server.NextFate() {
		if f.Delivered {
			delivered++
		}
	}
	fmt.Println("server:", delivered, "of 12 snapshots delivered,", server.Pending(), "events pending")
	// Output:
	// client: "door 7 opened" of tick 0
	// server: 8 of 12 snapshots delivered, 0 events pending
}

// A lost packet delays only the channel whose message it carried. Unreliable
// events travel in the same packets.
func ExampleConn_SendOn() {
	const chat, level, sparks = 0, 1, 2
	cfg := netcode.Config{Channels: []netcode.Channel{
		chat:   {Reliable: true, Priority: 8},
		level:  {Reliable: true},
		sparks: {Priority: 4, Repeat: 2, MaxAge: 100 * time.Millisecond},
	}}
	server, client := netcode.NewConn(cfg), netcode.NewConn(cfg)
	_ = server.SendOn(level, 0, 1, make([]byte, 40_000))
	const tick = time.Second / 30
	for i := range 60 {
		now := time.Duration(i) * tick
		if i == 3 {
			_ = server.SendOn(chat, 3, 1, []byte("hello"))
			_ = server.SendOn(sparks, 3, 1, []byte("bang"))
		}
		_, datagram := server.Begin(now).Finish()
		if i != 1 { // is lost
			_ = client.Receive(now, datagram)
			for r, ok := client.NextReliable(); ok; r, ok = client.NextReliable() {
				fmt.Printf("channel %d: %d bytes, tick %d\n", r.Channel, len(r.Payload), r.Tick)
			}
			for e, ok := client.NextEvent(); ok; e, ok = client.NextEvent() {
				fmt.Printf("channel %d: %s at tick %d\n", e.Channel, e.Payload, e.Tick)
			}
		}
		_, datagram = client.Begin(now).Finish()
		_ = server.Receive(now, datagram)
	}
	// Output:
	// channel 0: 5 bytes, tick 3
	// channel 2: bang at tick 3
	// channel 1: 40000 bytes, tick 0
}

// A player's commands reach the server although a packet was lost: the next
// packet repeats them.
func ExampleCommandSender() {
	sender := netcode.NewCommandSender(1, netcode.CommandConfig{})
	buffer := netcode.NewCommandBuffer(1, 32)
	for tick := netcode.Tick(10); tick < 13; tick++ {
		sender.Push(netcode.Command{Tick: tick, Render: tick - 6, Data: []byte{byte(tick)}})
		body := sender.Append(nil, 256)
		if tick == 11 {
			continue // lost
		}
		if err := buffer.Read(body, float64(tick)-2.5); err != nil {
			fmt.Println(err)
		}
	}
	for tick := netcode.Tick(10); tick < 13; tick++ {
		c, ok := buffer.Take(tick)
		fmt.Println(tick, ok, c.Data[0])
	}
	early, _ := buffer.Early()
	fmt.Printf("early by %.2f ticks at least\n", float64(early)/256)
	// Output:
	// 10 true 10
	// 11 true 11
	// 12 true 12
	// early by 1.50 ticks at least
}

// A client passes each snapshot to its clock, and advances the clock every frame.
func ExampleClock() {
	clock := netcode.NewClock(netcode.ClockConfig{TickRate: 30})
	const tick = time.Second / 30
	for i := range netcode.Tick(60) {
		now := time.Duration(i) * tick
		// Snapshots come 50 ms after the server wrote them; commands come 2 ticks early.
		clock.Snapshot(now+50*time.Millisecond, 100+i, 512, i > 10, 100*time.Millisecond, 0)
		t := clock.Advance(now + 50*time.Millisecond)
		if i == 1 || i == 2 {
			fmt.Println("started:", t.Started)
		}
		if i == 59 {
			fmt.Println("predicted is ahead:", t.Predicted > 100+i, "- render is behind:", t.Render < 100+i)
		}
	}
	// Output:
	// started: false
	// started: true
	// predicted is ahead: true - render is behind: true
}
